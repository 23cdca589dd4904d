import { describe, expect, it } from 'vitest'
import { bootStepOfDhcp, bootStepOfTftp, strangerOfDhcp } from '../../src/runtime/boot-steps.ts'
import { bootLogLine } from '../../src/telemetry/boot-log.ts'
import { createMetrics } from '../../src/telemetry/create-metrics.ts'
import type { TftpEvent } from '../../src/tftp/event.ts'
import type { TftpPath } from '../../src/tftp/file-name.ts'
import { classifyName } from '../../src/tftp/tftp-name.ts'
import { createRig, serverSettings } from '../dhcp/engine-support.ts'
import { fixture, mac, request } from '../dhcp/support.ts'

const machine = mac('52:54:00:ab:cd:ef')
const ended = (deliveredBytes: number): TftpEvent => ({
  type: 'ended',
  at: 5,
  client: { address: '192.0.2.55', port: 1025, localAddress: '192.0.2.10' },
  name: classifyName('snponly.efi' as TftpPath),
  isSizeAsked: true,
  outcome: deliveredBytes === 0 ? 'aborted' : 'served',
  figures: {
    sizeBytes: 900,
    deliveredBytes,
    blockSize: 1468,
    windowSize: 4,
    repeatedBlocks: 0,
    durationMs: 12,
  },
})

describe('a step of a boot', () => {
  it('is an offer, with the machine, what it is to fetch and why', () => {
    const rig = createRig({ advice: { kind: 'live', host: 'rack1-n01', reason: 'follows-current' } })
    rig.send(fixture('edk2-pxe-x64-discover'))
    expect(rig.events.events.map(bootStepOfDhcp)).toEqual([
      {
        type: 'dhcp-answered',
        at: rig.clock.now(),
        mac: machine,
        host: 'rack1-n01',
        role: 'proxy',
        message: 'offer',
        target: 'snponly.efi',
        decision: 'live',
        reason: 'follows-current',
      },
    ])
  })

  it('is not an address for a machine that does not boot, nor a packet that was ignored', () => {
    const rig = createRig({ settings: serverSettings() })
    rig.send(request({ options: '35 01 01' }))
    rig.send(Buffer.alloc(10))
    expect(rig.events.types()).toEqual(['offered', 'ignored'])
    expect(rig.events.events.map(bootStepOfDhcp)).toEqual([undefined, undefined])
  })

  it('is none for a machine that is ignored, which is seen all the same', () => {
    const rig = createRig({ advice: { kind: 'ignore', reason: 'unknown-ignored' } })
    rig.send(fixture('edk2-pxe-x64-discover'))
    expect(rig.events.events.map(bootStepOfDhcp)).toEqual([undefined])
    expect(rig.events.events.map(strangerOfDhcp)).toEqual([
      { mac: machine, at: rig.clock.now(), decision: 'ignore' },
    ])
  })

  it('is a transfer that brought something, with the machine that DHCP saw at that address', () => {
    expect(bootStepOfTftp(ended(900), () => machine)).toEqual({
      type: 'tftp-ended',
      at: 5,
      mac: machine,
      address: '192.0.2.55',
      file: 'snponly.efi',
      isWhole: true,
      sentBytes: 900,
      durationMs: 12,
    })
  })

  it('is not a look at the size alone (case 60)', () => {
    expect(bootStepOfTftp(ended(0), () => machine)).toBeUndefined()
  })

  it('is counted with the steps of HTTP, and has its log line from its own protocol', async () => {
    const step = bootStepOfTftp(ended(900), () => undefined)
    if (step === undefined) throw new Error('no step')
    expect(bootLogLine(step)).toBeUndefined()
    const metrics = createMetrics({ version: '1', clock: { now: () => 0 }, withProcess: false })
    metrics.onBootEvent(step)
    const text = await metrics.text()
    expect(text).toContain('pilotlight_boot_steps_total{step="tftp"} 1')
    expect(text).toContain('pilotlight_boot_steps_total{step="dhcp"} 0')
  })
})
