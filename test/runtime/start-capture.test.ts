import { describe, expect, it } from 'vitest'
import { parseIpv4 } from '../../src/core/ipv4.ts'
import { startCapture } from '../../src/runtime/start-capture.ts'
import { makeMac, t0 } from '../fakes/stored-fleet.ts'
import { bootOf, openTimelineLab } from '../fakes/timeline-lab.ts'

describe('packets of TFTP where the DHCP server of the site gives the addresses', () => {
  const address = '192.0.2.77'
  function captured() {
    const capture = startCapture({
      memoryBytes: 256 * 1024,
      isKnown: () => true,
      macOf: () => undefined,
      addressOf: () => undefined,
      clock: { now: () => t0 },
    })
    const client = { address, port: 2070, localAddress: '192.0.2.10' }
    capture.tftpTap?.packet(Buffer.from('\0\x01undionly.kpxe\0octet\0'), false, client, 69)
    return capture
  }

  it('are those of the machine that booted from their address', async () => {
    const { captureOf } = captured()
    const lab = await openTimelineLab({ captureOf })
    lab.note(bootOf(77).decided(t0))
    await lab.wait(300)
    expect(await lab.boots.capture({ mac: makeMac(77) })).toMatchObject({ mac: makeMac(77), packets: 1 })
  })

  it('are of no other machine', async () => {
    const { captureOf } = captured()
    const lab = await openTimelineLab({ captureOf })
    lab.note(bootOf(78).decided(t0))
    await lab.wait(300)
    expect(await lab.boots.capture({ mac: makeMac(78) })).toMatchObject({ packets: 0 })
    expect(captureOf(makeMac(78), parseIpv4(address))?.packets).toBe(1)
  })
})
