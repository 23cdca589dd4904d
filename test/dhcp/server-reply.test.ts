import { describe, expect, it } from 'vitest'
import { textOption as textOptionOf } from '../../src/dhcp/options.ts'
import {
  createRig,
  type Rig,
  serverSettings,
  shown,
  silenceOf,
  subnetSettings,
  textOption,
} from './engine-support.ts'
import { address4, fixture, hex, ip, option, request, toHex } from './support.ts'

const settings = serverSettings()

/** A machine that only wants an address. */
function plain(type: number, more = '', fields: Parameters<typeof request>[0] = {}): Uint8Array {
  return request({ ...fields, options: `${option(53, type)} ${more} ff` })
}

function discover(rig: Rig, more = '', fields: Parameters<typeof request>[0] = {}): string {
  return shown(rig.send(plain(1, more, fields))).yiaddr
}

/** DISCOVER and REQUEST of one machine; its address. */
function acquire(rig: Rig, fields: Parameters<typeof request>[0] = {}): string {
  const address = discover(rig, '', fields)
  const reply = shown(rig.send(plain(3, `${address4(50, address)} ${address4(54, '192.0.2.10')}`, fields)))
  expect(reply).toMatchObject({ type: 5, yiaddr: address })
  return address
}

describe('an offer of the address server', () => {
  it('is complete, byte by byte, for EDK2 PXE: no class, no option 43 (cases 1 and 2)', () => {
    const rig = createRig({ settings })
    const answer = rig.send(fixture('edk2-pxe-x64-discover'))
    const reply = shown(answer)
    const fourth = Number(reply.yiaddr.split('.')[3])
    const expected = Buffer.alloc(236)
    expected.set(
      hex(`02 01 06 00 5b 1a 2c 3d 00 00 80 00 00 00 00 00 c0 00 02 ${fourth.toString(16)} c0 00 02 0a`),
    )
    expected.set(hex('52 54 00 ab cd ef'), 28)
    expected.write('192.0.2.10', 44)
    expected.write('snponly.efi', 108)
    const tail = [
      '63 82 53 63 35 01 02 36 04 c0 00 02 0a 33 04 00 00 0e 10 3a 04 00 00 07 08 3b 04 00 00 0c 4e',
      '01 04 ff ff ff 00 03 04 c0 00 02 01 06 04 c0 00 02 01 1c 04 c0 00 02 ff',
      '42 0a 31 39 32 2e 30 2e 32 2e 31 30 61 11 00 47 09 cd 85 54 3f 99 41 b0 f1 52 54 00 ab cd ef',
      '43 0b 73 6e 70 6f 6e 6c 79 2e 65 66 69 00 ff',
    ].join(' ')
    expect(toHex(reply.packet.bytes)).toBe(`${toHex(expected)} ${tail}`)
  })

  it('has nothing of booting in it for a machine that only wants an address', () => {
    const reply = shown(createRig({ settings }).send(fixture('udhcpc-discover')))
    expect(reply).toMatchObject({ type: 2, siaddr: '0.0.0.0', file: '', sname: '' })
    expect(reply.order).toEqual([53, 54, 51, 58, 59, 1, 3, 6, 28])
  })

  it('answers GRUB’s own DHCP, which says nothing but its message type', () => {
    expect(shown(createRig({ settings }).send(fixture('grub-net-bootp-discover'))).yiaddr).toMatch(
      /^192\.0\.2\.5\d$/,
    )
  })

  it('has what the subnet says: domain, time servers for clocks that stand still (case 102), extra options instead of our own', () => {
    const subnet = subnetSettings({
      domain: 'lab.example',
      ntpServers: [ip('192.0.2.7'), ip('192.0.2.8')],
      routers: [],
      extraOptions: [textOptionOf(100, 'CET-1'), { code: 28, data: hex('c0 00 02 00') }],
    })
    const reply = shown(
      createRig({ settings: serverSettings({ subnets: [subnet] }) }).send(fixture('udhcpc-discover')),
    )
    expect(textOption(reply, 15)).toBe('lab.example')
    expect(reply.options[42]).toBe('c0 00 02 07 c0 00 02 08')
    expect(reply.options[3]).toBeUndefined()
    expect(textOption(reply, 100)).toBe('CET-1')
    expect(reply.options[28]).toBe('c0 00 02 00')
  })

  it('names the host where its record has a name', () => {
    const rig = createRig({ settings, advice: { kind: 'live', host: 'n01', hostName: 'rack1-n01' } })
    expect(textOption(shown(rig.send(fixture('udhcpc-discover'))), 12)).toBe('rack1-n01')
  })

  it('tells an iPXE that no proxy will come', () => {
    const rig = createRig({ settings })
    expect(shown(rig.send(fixture('ipxe-efi-discover'))).options[175]).toBe('b0 01 01')
    expect(shown(rig.send(fixture('edk2-pxe-x64-discover'))).options[175]).toBeUndefined()
  })

  it('needs no class for HTTP Boot’s sibling, and names it for HTTP Boot', () => {
    expect(textOption(shown(createRig({ settings }).send(fixture('edk2-http-x64-discover'))), 60)).toBe(
      'HTTPClient',
    )
    expect(
      textOption(shown(createRig({ settings }).send(fixture('edk2-pxe-x64-discover'))), 60),
    ).toBeUndefined()
  })

  it('grants a shorter time when asked for one, never a longer', () => {
    const time = (asked: string) =>
      shown(createRig({ settings }).send(plain(1, `33 04 ${asked}`))).options[51]
    expect(time('00 00 02 58')).toBe('00 00 02 58')
    expect(time('ff ff ff ff')).toBe('00 00 0e 10')
    expect(time('00 00 00 01')).toBe('00 00 00 78')
  })
})

describe('a boot client of the address server', () => {
  it('is left alone when it has nothing to boot: never half an offer (case 166)', () => {
    for (const advice of [{ kind: 'ignore' }, { kind: 'local', method: 'dhcp-silent' }] as const) {
      const rig = createRig({ settings, advice })
      expect(rig.send(fixture('edk2-pxe-x64-discover')).kind).toBe('silent')
      expect(rig.send(fixture('ipxe-efi-discover')).kind).toBe('silent')
      expect(shown(rig.send(fixture('udhcpc-discover'))).type).toBe(2)
    }
  })

  it('that comes as BIOS and then as UEFI gets the answer for each (case 166)', () => {
    const rig = createRig({ settings })
    expect(shown(rig.send(fixture('bios-rom-discover'))).file).toBe('undionly.kpxe')
    expect(shown(rig.send(fixture('edk2-pxe-x64-discover'))).file).toBe('snponly.efi')
  })

  it('keeps its address from firmware to iPXE to OS, whatever its client id (case 47)', () => {
    const rig = createRig({ settings })
    const boot = `${option(60, 'PXEClient')} 5d 02 00 07`
    const first = discover(rig, boot)
    expect(discover(rig, `${boot} 3d 07 01 52 54 00 ab cd ef`)).toBe(first)
    expect(discover(rig, '3d 13 ff 00 00 00 01 00 01 00 01 2a bb cc dd 52 54 00 ab cd ef')).toBe(first)
    expect(discover(rig, boot, { chaddr: '525400abcd00' })).not.toBe(first)
  })

  it('whose REQUEST does not say what it is, is known from its DISCOVER (case 42)', () => {
    const rig = createRig({ settings })
    expect(shown(rig.send(fixture('raspberry-pi-4-discover'))).file).toBe('bootcode.bin')
    const address = shown(rig.send(fixture('raspberry-pi-4-discover'))).yiaddr
    const later = (xid: number) =>
      rig.send(
        request({
          xid,
          chaddr: 'dca632010203',
          options: `${option(53, 3)} ${address4(50, address)} ${address4(54, '192.0.2.10')} ff`,
        }),
      )
    const reply = shown(later(0x26f30339))
    expect([reply.type, reply.file, textOption(reply, 60)]).toEqual([5, 'bootcode.bin', 'PXEClient'])
    // An OS that comes up within the minute has a transaction of its own.
    expect(shown(later(0x01010101)).file).toBe('')
    rig.clock.advance(61_000)
    expect(shown(later(0x26f30339)).file).toBe('')
  })

  it('by InfiniBand is told apart by its client id', () => {
    const rig = createRig({ settings })
    const reply = shown(rig.send(fixture('infiniband-discover')))
    expect(reply).toMatchObject({
      type: 2,
      file: 'http://192.0.2.10:8080/boot.ipxe',
      to: '255.255.255.255:68',
    })
    expect(reply.packet).toMatchObject({ htype: 32, flags: 0x8000 })
    expect(reply.packet.chaddr).toHaveLength(0)
  })

  it('is answered on port 4011 as by a proxy', () => {
    const rig = createRig({ settings })
    const reply = shown(
      rig.send(fixture('edk2-pxe-x64-4011'), { port: 'proxy', from: '192.0.2.55', fromPort: 4011 }),
    )
    expect(reply).toMatchObject({ type: 5, yiaddr: '0.0.0.0', to: '192.0.2.55:4011', file: 'snponly.efi' })
    expect(textOption(reply, 60)).toBe('PXEClient')
  })
})

describe('a REQUEST', () => {
  it('for our offer is acknowledged, and the lease stored', () => {
    const rig = createRig({ settings })
    const address = acquire(rig)
    expect(rig.changes).toEqual([
      {
        kind: 'leased',
        address: ip(address),
        key: '52:54:00:ab:cd:ef',
        until: Math.floor(rig.clock.now() / 1000) + 3600,
      },
    ])
    expect(rig.engine.follower.learned.addressOf('52:54:00:ab:cd:ef' as never)).toBe(ip(address))
  })

  it('for another server’s offer gets silence, and frees ours (case 22)', () => {
    const rig = createRig({
      settings: serverSettings({
        subnets: [subnetSettings({ ranges: [{ first: ip('192.0.2.50'), last: ip('192.0.2.50') }] })],
      }),
    })
    expect(discover(rig)).toBe('192.0.2.50')
    expect(silenceOf(rig.send(plain(3, `${address4(50, '192.0.2.50')} ${address4(54, '192.0.2.1')}`)))).toBe(
      'other-server-chosen',
    )
    expect(discover(rig, '', { chaddr: '525400000001' })).toBe('192.0.2.50')
  })

  it('for what was never offered is refused, because the client chose us', () => {
    const rig = createRig({ settings })
    const refused = shown(rig.send(plain(3, `${address4(50, '192.0.2.200')} ${address4(54, '192.0.2.10')}`)))
    expect(refused).toMatchObject({ type: 6, yiaddr: '0.0.0.0', siaddr: '0.0.0.0', to: '255.255.255.255:68' })
    expect(refused.order).toEqual([53, 54])
    expect(rig.events.events).toContainEqual(
      expect.objectContaining({ type: 'refused', reason: 'outside-ranges' }),
    )
  })

  it('for an address that another machine leases is refused', () => {
    const rig = createRig({ settings })
    const address = acquire(rig)
    const other = { chaddr: '525400000001' }
    expect(
      shown(rig.send(plain(3, `${address4(50, address)} ${address4(54, '192.0.2.10')}`, other))).type,
    ).toBe(6)
  })

  it('after a reboot (INIT-REBOOT) is acknowledged from the record', () => {
    const rig = createRig({ settings })
    const address = acquire(rig)
    expect(shown(rig.send(plain(3, address4(50, address))))).toMatchObject({
      type: 5,
      yiaddr: address,
      to: '255.255.255.255:68',
    })
  })

  it('to renew is acknowledged by unicast to the client’s address (case 34)', () => {
    const rig = createRig({ settings })
    const address = acquire(rig)
    const reply = shown(rig.send(plain(3, '', { ciaddr: address, flags: 0x8000 })))
    expect(reply).toMatchObject({ type: 5, yiaddr: address, to: `${address}:68` })
  })

  it('to renew in time extends the lease; at once again it is granted for what is left, and not stored', () => {
    const rig = createRig({ settings })
    const address = acquire(rig)
    rig.clock.advance(300_000)
    expect(shown(rig.send(plain(3, '', { ciaddr: address }))).options[51]).toBe('00 00 0c e4')
    expect(rig.changes).toHaveLength(1)
    rig.clock.advance(1_500_000)
    expect(shown(rig.send(plain(3, '', { ciaddr: address }))).options[51]).toBe('00 00 0e 10')
    expect(rig.changes).toHaveLength(2)
  })

  it('without an address is nothing that can be answered', () => {
    expect(silenceOf(createRig({ settings }).send(plain(3)))).toBe('request-without-address')
  })

  describe('of a machine that we know nothing of', () => {
    const from = (isAuthoritative: boolean, more: string, fields: Parameters<typeof request>[0] = {}) =>
      createRig({ settings: serverSettings({ isAuthoritative }) }).send(plain(3, more, fields))

    it.each([
      ['INIT-REBOOT in our ranges', address4(50, '192.0.2.55'), {}],
      ['INIT-REBOOT outside our ranges', address4(50, '192.0.2.200'), {}],
      ['INIT-REBOOT on another subnet', address4(50, '10.0.0.5'), {}],
      ['renewal', '', { ciaddr: '192.0.2.55' }],
    ])('%s: silence while we may not be the only server (case 22)', (_, more, fields) => {
      expect(silenceOf(from(false, more, fields))).toBe('lease-unknown')
    })

    it.each([
      ['INIT-REBOOT in our ranges', address4(50, '192.0.2.55'), {}, 5],
      ['INIT-REBOOT outside our ranges', address4(50, '192.0.2.200'), {}, 6],
      ['INIT-REBOOT on another subnet', address4(50, '10.0.0.5'), {}, 6],
      ['renewal in our ranges', '', { ciaddr: '192.0.2.55' }, 5],
    ])('%s: taken over or refused when we are authoritative', (_, more, fields, type) => {
      expect(shown(from(true, more, fields)).type).toBe(type)
    })
  })
})

describe('a refusal to a relayed client', () => {
  it('goes to the relay with the broadcast flag set, since the client does not hold the address', () => {
    const rig = createRig({ settings: serverSettings({ isAuthoritative: true }) })
    const reply = shown(
      rig.send(
        plain(3, `${address4(50, '10.0.0.5')} 52 03 01 01 07`, { giaddr: '192.0.2.1', ciaddr: '0.0.0.0' }),
      ),
    )
    expect(reply).toMatchObject({ type: 6, to: '192.0.2.1:67' })
    expect(reply.packet.flags).toBe(0x8000)
    expect(reply.options[82]).toBe('01 01 07')
  })
})

describe('RELEASE, DECLINE and INFORM', () => {
  it('a release gives the address back, to the same machine first', () => {
    const rig = createRig({ settings })
    const address = acquire(rig)
    expect(silenceOf(rig.send(plain(7, '', { ciaddr: address })))).toBe('released')
    expect(rig.changes.at(-1)).toMatchObject({ kind: 'released', address: ip(address) })
    expect(rig.engine.addresses?.usage(rig.clock.now() / 1000)[0]).toMatchObject({ leased: 0 })
    expect(discover(rig)).toBe(address)
  })

  it('a release of somebody else’s address changes nothing', () => {
    const rig = createRig({ settings })
    const address = acquire(rig)
    rig.send(plain(7, '', { ciaddr: address, chaddr: '525400000001' }))
    expect(rig.changes).toHaveLength(1)
  })

  it('a declined address rests for a quarter of an hour, then comes back', () => {
    const one = subnetSettings({ ranges: [{ first: ip('192.0.2.50'), last: ip('192.0.2.50') }] })
    const rig = createRig({ settings: serverSettings({ subnets: [one] }) })
    expect(acquire(rig)).toBe('192.0.2.50')
    expect(silenceOf(rig.send(plain(4, `${address4(50, '192.0.2.50')} ${address4(54, '192.0.2.10')}`)))).toBe(
      'declined',
    )
    expect(rig.events.events).toContainEqual(
      expect.objectContaining({ type: 'declined', address: '192.0.2.50' }),
    )
    expect(silenceOf(rig.send(plain(1)))).toBe('pool-exhausted')
    rig.clock.advance(15 * 60_000 + 1000)
    expect(discover(rig)).toBe('192.0.2.50')
  })

  it('words of a machine that leases nothing do not use up the pool', () => {
    const rig = createRig({ settings })
    for (let last = 50; last < 60; last++) rig.send(plain(4, address4(50, `192.0.2.${last}`)))
    expect(rig.changes).toEqual([])
    expect(discover(rig)).toMatch(/^192\.0\.2\.5\d$/)
  })

  it('an INFORM gets options by unicast, but neither address nor lease', () => {
    const reply = shown(createRig({ settings }).send(plain(8, '', { ciaddr: '192.0.2.77' })))
    expect(reply).toMatchObject({ type: 5, yiaddr: '0.0.0.0', to: '192.0.2.77:68' })
    expect([51, 58, 59].map((code) => reply.options[code])).toEqual([undefined, undefined, undefined])
    expect(reply.options[3]).toBe('c0 00 02 01')
  })

  it.each([
    ['plain BOOTP', '', 'message-type-missing'],
    ['a server’s message', '35 01 02', 'message-type-not-for-servers'],
    ['an unknown type', '35 01 63', 'message-type-not-for-servers'],
  ])('%s gets silence', (_, options, reason) => {
    expect(silenceOf(createRig({ settings }).send(request({ options: `${options} ff` })))).toBe(reason)
  })
})

describe('several subnets', () => {
  const behindRelay = subnetSettings({
    text: '198.51.100.0/24',
    ranges: [{ first: ip('198.51.100.100'), last: ip('198.51.100.109') }],
    routers: [ip('198.51.100.1')],
  })
  const two = serverSettings({ subnets: [subnetSettings(), behindRelay] })

  it('the relay’s address says where the client is', () => {
    const rig = createRig({ settings: two })
    const reply = shown(rig.send(plain(1, '', { giaddr: '198.51.100.1' })))
    expect(reply.yiaddr).toMatch(/^198\.51\.100\.10\d$/)
    expect(reply.options[3]).toBe('c6 33 64 01')
    expect(reply.to).toBe('198.51.100.1:67')
    expect(discover(rig)).toMatch(/^192\.0\.2\.5\d$/)
  })

  it('a machine has a lease in each that it was on, and neither is given away', () => {
    const rig = createRig({ settings: two })
    const here = acquire(rig)
    const there = acquire(rig, { giaddr: '198.51.100.1' })
    expect(discover(rig)).toBe(here)
    expect(discover(rig, '', { giaddr: '198.51.100.1' })).toBe(there)
  })

  it('a renewal by unicast through the router is for the subnet of the address', () => {
    const rig = createRig({ settings: two })
    const there = acquire(rig, { giaddr: '198.51.100.1' })
    expect(shown(rig.send(plain(3, '', { ciaddr: there })))).toMatchObject({
      type: 5,
      yiaddr: there,
      to: `${there}:68`,
    })
  })

  it('a relay in a subnet that is not ours gets silence', () => {
    expect(silenceOf(createRig({ settings: two }).send(plain(1, '', { giaddr: '203.0.113.1' })))).toBe(
      'subnet-unknown',
    )
  })
})

describe('reservations', () => {
  const reserved = ip('192.0.2.55')
  const isN01 = (macs: readonly string[]) => macs.includes('52:54:00:ab:cd:ef')
  const withReservation = (extra: Partial<Parameters<typeof serverSettings>[0]> = {}) =>
    createRig({
      settings: serverSettings(extra),
      reserved: [reserved],
      advice: ({ macs }) =>
        isN01(macs) ? { kind: 'live', host: 'n01', address: reserved } : { kind: 'live' },
    })

  it('go to their host alone, inside the ranges or outside', () => {
    const rig = withReservation()
    for (let last = 0; last < 9; last++)
      expect(acquire(rig, { chaddr: `52540000000${last}` })).not.toBe('192.0.2.55')
    expect(silenceOf(rig.send(plain(1, '', { chaddr: '525400000009' })))).toBe('pool-exhausted')
    expect(acquire(rig)).toBe('192.0.2.55')
    const outside = createRig({
      settings,
      reserved: [ip('192.0.2.200')],
      advice: { kind: 'live', address: ip('192.0.2.200') },
    })
    expect(acquire(outside)).toBe('192.0.2.200')
  })

  it('made for a machine with another lease take effect at its next renewal', () => {
    let advice: { kind: 'live'; address?: ReturnType<typeof ip> } = { kind: 'live' }
    const rig = createRig({ settings, reserved: [ip('192.0.2.200')], advice: () => advice })
    const before = acquire(rig)
    advice = { kind: 'live', address: ip('192.0.2.200') }
    expect(shown(rig.send(plain(3, '', { ciaddr: before }))).type).toBe(6)
    expect(acquire(rig)).toBe('192.0.2.200')
  })

  it('of an address that another machine still leases: an address from the ranges, and it is told', () => {
    let advice: { kind: 'live'; address?: ReturnType<typeof ip> } = { kind: 'live' }
    const rig = createRig({ settings, advice: ({ macs }) => (isN01(macs) ? advice : { kind: 'live' }) })
    const taken = acquire(rig, { chaddr: '525400000001' })
    advice = { kind: 'live', address: ip(taken) }
    expect(acquire(rig)).not.toBe(taken)
    expect(rig.events.events).toContainEqual(
      expect.objectContaining({ type: 'reservation-unavailable', address: taken }),
    )
  })

  it('alone are served where the ranges are for known machines only', () => {
    const rig = withReservation({ subnets: [subnetSettings({ allow: 'known' })] })
    const unknown = { chaddr: '525400000001' }
    expect(silenceOf(rig.send(plain(1, '', unknown)))).toBe('client-not-known')
    expect(acquire(rig)).toBe('192.0.2.55')
    const selecting = `${address4(50, '192.0.2.51')} ${address4(54, '192.0.2.10')}`
    expect(shown(rig.send(plain(3, selecting, unknown))).type).toBe(6)
    const authoritative = withReservation({
      subnets: [subnetSettings({ allow: 'known' })],
      isAuthoritative: true,
    })
    expect(shown(authoritative.send(plain(3, address4(50, '192.0.2.51'), unknown))).type).toBe(6)
  })
})

describe('exhaustion', () => {
  it('is told once when it begins and once when it ends, and no active lease is given away', () => {
    const rig = createRig({ settings })
    const held = new Set(
      Array.from({ length: 10 }, (_, index) => acquire(rig, { chaddr: `5254000000${index}0` })),
    )
    expect(held.size).toBe(10)
    for (let attempt = 0; attempt < 5; attempt++) expect(silenceOf(rig.send(plain(1)))).toBe('pool-exhausted')
    expect(rig.events.types().filter((type) => type === 'pool-exhausted')).toHaveLength(1)
    rig.clock.advance(3_601_000)
    expect(held).toContain(discover(rig))
    expect(rig.events.types().filter((type) => type === 'pool-available')).toHaveLength(1)
  })
})
