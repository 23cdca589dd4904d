import { describe, expect, it } from 'vitest'
import type { Log } from '../../src/core/log.ts'
import type { DhcpEvent } from '../../src/dhcp/dhcp-event.ts'
import { createDhcpEventLog } from '../../src/dhcp/event-log.ts'
import { createRig, serverSettings } from './engine-support.ts'
import { fixture, mac, manualClock, request } from './support.ts'

function setup() {
  const lines: { level: string; message: string; fields: Record<string, unknown> }[] = []
  const record = (level: string) => (fields: object, message: string) => {
    lines.push({ level, message, fields: { ...fields } })
  }
  const log: Log = {
    debug: record('debug'),
    info: record('info'),
    warn: record('warn'),
    error: record('error'),
  }
  const clock = manualClock()
  return { lines, clock, write: createDhcpEventLog({ log, clock }) }
}

function linesOf(rig: ReturnType<typeof createRig>) {
  const { lines, write } = setup()
  for (const event of rig.events.events) write(event)
  return lines
}

const ignored = (index: number): DhcpEvent => ({
  type: 'ignored',
  at: 0,
  interface: 'eth1',
  mac: mac(
    `52:54:00:00:${(index >> 8).toString(16).padStart(2, '0')}:${(index & 255).toString(16).padStart(2, '0')}`,
  ),
  reason: 'not-a-boot-client',
  port: 'server',
})

describe('a boot in the log', () => {
  it('an offer says who it went to, what was handed out, and the reason of the answer', () => {
    const rig = createRig({ advice: { kind: 'live', reason: 'mode-local', host: 'rack1-n01' } })
    rig.send(fixture('edk2-pxe-x64-discover'))
    expect(linesOf(rig)).toEqual([
      {
        level: 'info',
        message: 'DHCP offer sent',
        fields: expect.objectContaining({
          interface: 'eth1',
          mac: '52:54:00:ab:cd:ef',
          role: 'proxy',
          target: 'snponly.efi',
          host: 'rack1-n01',
          decision: 'live',
          reason: 'mode-local',
        }),
      },
    ])
  })

  it('a lease that is given has its line with the address; the offer to a machine that does not boot is for debugging', () => {
    const rig = createRig({ settings: serverSettings() })
    const address = '32 04 c0 00 02 32'
    rig.send(request({ options: '35 01 01' }))
    rig.send(request({ options: `35 01 03 ${address} 36 04 c0 00 02 0a` }))
    expect(linesOf(rig).map(({ level, message }) => [level, message])).toEqual([
      ['debug', 'DHCP offer sent'],
      ['info', 'DHCP lease given'],
    ])
    expect(linesOf(rig)[1]?.fields).toMatchObject({ address: '192.0.2.50' })
  })

  it('four offers to firmware that asks again are one line, and the next says so (case 5)', () => {
    const { lines, clock, write } = setup()
    const rig = createRig()
    for (let times = 0; times < 4; times++) rig.send(fixture('edk2-pxe-x64-discover'))
    const [offer] = rig.events.events
    for (const event of rig.events.events) write(event)
    expect(lines.map(({ message }) => message)).toEqual([
      'DHCP offer sent',
      'DHCP offers were not followed up: put the boot options into the DHCP server of the site',
    ])
    clock.advance(60_000)
    if (offer) write(offer)
    expect(lines.at(-1)?.fields.suppressed).toBe(3)
  })
})

describe('a flood in the log (case 165)', () => {
  it('ignored packets are for debugging, and twenty thousand machines do not fill it', () => {
    const { lines, write } = setup()
    for (let index = 0; index < 20_000; index++) write(ignored(index))
    expect(new Set(lines.map(({ level }) => level))).toEqual(new Set(['debug']))
    expect(lines.length).toBeLessThanOrEqual(600)
  })

  it('does not push out the lines of those who boot', () => {
    const { lines, write } = setup()
    for (let index = 0; index < 20_000; index++) write(ignored(index))
    const rig = createRig()
    rig.send(fixture('edk2-pxe-x64-discover'))
    for (const event of rig.events.events) write(event)
    expect(lines.at(-1)).toMatchObject({ level: 'info', message: 'DHCP offer sent' })
  })
})
