import { describe, expect, it } from 'vitest'
import { createCapture } from '../../src/capture/create-capture.ts'
import type { Ipv4 } from '../../src/core/ipv4.ts'
import type { MacAddress } from '../../src/core/mac.ts'
import { fixture, ip, mac, request } from '../dhcp/support.ts'

const machine = mac('52:54:00:ab:cd:ef')
const own = ip('192.0.2.10')
const address = ip('192.0.2.55')
const everybody = ip('255.255.255.255')

function setUp() {
  const seen = new Map<Ipv4, MacAddress>()
  let now = 1_000
  const capture = createCapture({
    memoryBytes: 64 * 1024,
    isKnown: (known) => known === machine,
    macOf: (asked) => seen.get(asked),
    clock: { now: () => now++ },
  })
  /** UDP payloads in the file, as hex. */
  const payloads = (known?: Ipv4) => {
    const { pcap } = capture.of(machine, known)
    const found: string[] = []
    for (let at = 24; at < pcap.length; ) {
      const kept = pcap.readUInt32BE(at + 8)
      found.push(pcap.subarray(at + 16 + 42, at + 16 + kept).toString('hex'))
      at += 16 + kept
    }
    return found
  }
  return { capture, seen, payloads }
}

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

describe('the capture of a machine', () => {
  it('has its DHCP packets whole, both ways, with when the first and the last came', () => {
    const { capture, payloads } = setUp()
    const discover = fixture('edk2-pxe-x64-discover')
    const asked = fixture('edk2-pxe-x64-request')
    capture.dhcp(discover, false, everybody, 67, ip('0.0.0.0'), 68)
    capture.dhcp(asked, true, own, 67, everybody, 68)
    expect(payloads()).toEqual([hexOf(discover), hexOf(asked)])
    expect(capture.of(machine, undefined)).toMatchObject({
      packets: 2,
      oldest: 1_000,
      newest: 1_001,
      dropped: 0,
    })
  })

  it('has none that are of somebody else, of no Ethernet card, or no packets at all', () => {
    const { capture, payloads } = setUp()
    const bytes = [
      fixture('infiniband-discover'),
      request({ chaddr: '52 54 00 00 00 09' }),
      request({ chaddr: '01 00 5e 00 00 01' }),
      request({ chaddr: '00 00 00 00 00 00' }),
      new Uint8Array(0),
      new Uint8Array(30).fill(1),
      new Uint8Array(64 * 1024).fill(255),
    ]
    for (const each of bytes) capture.dhcp(each, false, everybody, 67, address, 68)
    expect(payloads()).toEqual([])
  })

  it('has its TFTP packets by its address, also those from before its MAC was known', () => {
    const { capture, seen, payloads } = setUp()
    const asked = Buffer.from('00016100', 'hex')
    capture.tftp(asked, false, own, 69, address, 1025)
    seen.set(address, machine)
    const refused = Buffer.from('000500016e6f00', 'hex')
    capture.tftp(refused, true, own, 69, address, 1025)
    const transfer = capture.transfer(own, 40_000, address, 1026)
    transfer.received(Buffer.from('00040000', 'hex'), 0, 4)
    expect(payloads()).toEqual(['000500016e6f00', '00040000'])
    expect(payloads(address)).toEqual(['00016100', '000500016e6f00', '00040000'])
  })

  it('G12 has nothing of what DATA carries, whoever sends it: a script may have a token in it', () => {
    const { capture, seen, payloads } = setUp()
    seen.set(address, machine)
    const data = Buffer.concat([Buffer.from('00030001', 'hex'), Buffer.from('ignition/secret')])
    capture.transfer(own, 40_000, address, 1026).sent(data, 0, data.length, data.length)
    capture.tftp(data, false, own, 69, address, 1026)
    expect(payloads()).toEqual(['00030001', '00030001'])
  })

  it.each([
    [1, 'ignition'],
    [2, '/report'],
  ])('G12 has of a request (opcode %i) for %s/<token> that it came, and not the token', (opcode, folder) => {
    const { capture, seen, payloads } = setUp()
    seen.set(address, machine)
    const name = `${folder}/${'EAz_'.repeat(16)}`
    const asked = Buffer.concat([Buffer.from([0, opcode]), Buffer.from(`${name}\0octet\0`)])
    capture.tftp(asked, false, own, 69, address, 1025)
    const plain = Buffer.concat([Buffer.from([0, opcode]), Buffer.from('snponly.efi\0octet\0')])
    capture.tftp(plain, false, own, 69, address, 1026)
    expect(payloads()).toEqual([`000${opcode}`, hexOf(plain)])
  })
})
