import { describe, expect, it } from 'vitest'
import { bootStepOfDhcp, strangerOfDhcp } from '../../src/runtime/boot-steps.ts'
import { createRig, serverSettings } from '../dhcp/engine-support.ts'
import { fixture, mac, request } from '../dhcp/support.ts'

const machine = mac('52:54:00:ab:cd:ef')
/** Class PXEClient, x64 UEFI. */
const pxe = `3c 09 ${Buffer.from('PXEClient').toString('hex')} 5d 02 00 07`
const hexOf = (address: string) => Buffer.from(address.split('.').map(Number)).toString('hex')
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
        asked: {
          message: 'discover',
          stage: 'firmware',
          arch: 'x86_64',
          firmware: 'uefi',
          via: 'tftp',
          xid: 1528441917,
          seconds: 0,
        },
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

  it('tells that a machine is ignored, which is seen all the same', () => {
    const rig = createRig({ advice: { kind: 'ignore', reason: 'unknown-ignored' } })
    rig.send(fixture('edk2-pxe-x64-discover'))
    expect(rig.events.events.map(bootStepOfDhcp)).toMatchObject([
      { type: 'dhcp-unanswered', mac: machine, port: 67, reason: 'decision-ignore' },
    ])
    expect(rig.events.events.map(strangerOfDhcp)).toEqual([
      { mac: machine, at: rig.clock.now(), decision: 'ignore' },
    ])
  })

  it.each([
    ['beside a server, which it chose', undefined, '192.0.2.1'],
    ['as one of two servers, of which it chose the other', serverSettings(), '192.0.2.2'],
  ])('is a REQUEST %s', (_, settings, chosen) => {
    const rig = createRig({ ...(settings && { settings }) })
    rig.send(request({ options: `35 01 03 ${pxe} 36 04 ${hexOf(chosen)} 32 04 c0 00 02 37` }))
    expect(rig.events.events.map(bootStepOfDhcp)).toEqual([
      {
        type: 'dhcp-unanswered',
        at: rig.clock.now(),
        mac: machine,
        port: 67,
        reason: settings === undefined ? 'not-for-proxy' : 'other-server-chosen',
        asked: expect.objectContaining({ message: 'request', stage: 'firmware', via: 'tftp' }),
        chosen,
        address: '192.0.2.55',
      },
    ])
  })

  it('is no packet of a machine that only wants an address, whatever becomes of it', () => {
    const rig = createRig()
    rig.send(request({ options: '35 01 03 36 04 c0 00 02 01 32 04 c0 00 02 37' }))
    rig.send(request({ options: '35 01 01' }))
    expect(rig.events.types()).toEqual(['ignored', 'ignored'])
    expect(rig.events.events.map(bootStepOfDhcp)).toEqual([undefined, undefined])
  })

  it('is firmware whose architecture nobody knows', () => {
    const rig = createRig()
    rig.send(request({ options: `35 01 01 3c 0a ${Buffer.from('HTTPClient').toString('hex')} 5d 02 0f ff` }))
    expect(rig.events.events.map(bootStepOfDhcp)).toMatchObject([
      {
        type: 'dhcp-unanswered',
        reason: 'architecture-unknown',
        asked: { message: 'discover', via: 'http' },
      },
    ])
  })

  it.each([
    ['00 00 00 00', 0],
    ['00 11 00 00', 17],
  ])('tells the type of boot server that is asked for on port 4011 (case 1): %s', (item, bootServerType) => {
    const rig = createRig()
    rig.send(request({ options: `35 01 03 ${pxe} 2b 07 47 04 ${item} ff` }), {
      port: 'proxy',
      from: '192.0.2.55',
    })
    expect(rig.events.events.map(bootStepOfDhcp)).toMatchObject([
      { type: 'dhcp-answered', role: 'boot-server', message: 'acknowledge', asked: { bootServerType } },
    ])
  })

  it('says who asks: firmware, an iPXE, or another loader', () => {
    const stages = ['edk2-http-x64-discover', 'ipxe-bios-discover', 'u-boot-arm64-discover'].map((name) => {
      const rig = createRig({ settings: serverSettings() })
      rig.send(fixture(name))
      const [step] = rig.events.events.map(bootStepOfDhcp)
      return step?.type === 'dhcp-answered' ? [step.asked?.stage, step.asked?.via] : step
    })
    expect(stages).toEqual([
      ['firmware', 'http'],
      ['ipxe', 'tftp'],
      ['other', 'tftp'],
    ])
  })

  it('is what was noticed over several packets', () => {
    const rig = createRig()
    for (let sent = 0; sent < 4; sent++) rig.send(fixture('edk2-pxe-x64-discover'))
    const steps = rig.events.events.map(bootStepOfDhcp).filter((step) => step?.type === 'dhcp-troubled')
    expect(steps).toEqual([
      { type: 'dhcp-troubled', at: rig.clock.now(), mac: machine, trouble: 'offers-unanswered' },
    ])
  })
})
