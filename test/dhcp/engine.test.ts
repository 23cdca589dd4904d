import { describe, expect, it } from 'vitest'
import { createClientMemory } from '../../src/dhcp/client-memory.ts'
import { createLearnedAddresses } from '../../src/dhcp/learned-addresses.ts'
import { createRig, serverSettings, shown, silenceOf } from './engine-support.ts'
import { address4, fixture, ip, mac, option, request } from './support.ts'

const client = mac('52:54:00:ab:cd:ef')

describe('machines that let offers pass (case 5)', () => {
  const discover = (secs: number, xid = 0x01) =>
    request({ xid, secs, options: `35 01 01 ${option(60, 'PXEClient')} 5d 02 00 07 ff` })

  it('are told once after four, and go on being offered', () => {
    const rig = createRig()
    for (const secs of [0, 4, 12]) rig.send(discover(secs))
    expect(rig.engine.follower.unansweredClients()).toEqual([])
    rig.send(discover(28))
    expect(rig.engine.follower.unansweredClients()).toEqual([client])
    expect(shown(rig.send(discover(60))).type).toBe(2)
    rig.send(discover(0, 0x02))
    expect(rig.engine.follower.unansweredClients()).toEqual([client])
    expect(rig.events.types().filter((type) => type === 'offers-unanswered')).toHaveLength(1)
  })

  it.each([
    [
      'a REQUEST to the site’s server',
      (rig: ReturnType<typeof createRig>) => rig.send(fixture('edk2-pxe-x64-request')),
    ],
    [
      'a request on port 4011',
      (rig: ReturnType<typeof createRig>) =>
        rig.send(fixture('edk2-pxe-x64-4011'), { port: 'proxy', from: '192.0.2.55' }),
    ],
    [
      'a file that it fetched',
      (rig: ReturnType<typeof createRig>) => rig.engine.follower.noteContact(client),
    ],
    [
      'a script that it fetched',
      (rig: ReturnType<typeof createRig>) => rig.engine.follower.noteDecision(client),
    ],
  ])('are not those that went on: %s', (_, goOn) => {
    const rig = createRig()
    for (const secs of [0, 4, 12, 28]) rig.send(discover(secs))
    goOn(rig)
    expect(rig.engine.follower.unansweredClients()).toEqual([])
  })

  it('are not those of a Raspberry Pi 3, whose transaction is the same in every boot of its life', () => {
    const rig = createRig()
    const pi = (type: string, more = '') =>
      request({
        xid: 0x26f30339,
        chaddr: 'b827eb000001',
        options: `35 01 ${type} ${option(60, 'PXEClient:Arch:00000:UNDI:002001')} 5d 02 00 00 ${more} ff`,
      })
    for (let boot = 0; boot < 8; boot++) {
      expect(shown(rig.send(pi('01'))).type).toBe(2)
      rig.send(pi('03', address4(50, '192.0.2.77')))
      rig.clock.advance(90_000)
    }
    expect(rig.engine.follower.unansweredClients()).toEqual([])
    expect(rig.events.types()).not.toContain('loop-suspected')
  })

  it('are watched in server mode too, boot clients alone', () => {
    const rig = createRig({ settings: serverSettings() })
    for (const secs of [0, 4, 12, 28]) {
      rig.send(discover(secs))
      rig.send(request({ xid: 0x09, secs, chaddr: '525400000009' }))
    }
    expect(rig.engine.follower.unansweredClients()).toEqual([client])
  })
})

describe('addresses that a proxy learns', () => {
  it('from option 50 of a REQUEST on 67 and from ciaddr on 4011; the newest counts', () => {
    const rig = createRig()
    rig.send(fixture('edk2-pxe-x64-request'))
    expect(rig.engine.follower.learned.addressOf(client)).toBe(ip('192.0.2.55'))
    rig.send(request({ options: `35 01 03 ${address4(50, '192.0.2.56')} ff` }))
    expect(rig.engine.follower.learned.addressOf(client)).toBe(ip('192.0.2.56'))
    expect(rig.engine.follower.learned.macOf(ip('192.0.2.55'))).toBeUndefined()
    rig.send(fixture('edk2-pxe-x64-4011'), { port: 'proxy', from: '192.0.2.55' })
    expect(rig.engine.follower.learned.macOf(ip('192.0.2.55'))).toBe(client)
  })

  it('from a renewal, whoever the machine is', () => {
    const rig = createRig()
    rig.send(request({ options: '35 01 03 ff', ciaddr: '192.0.2.77', chaddr: '525400000001' }))
    expect(rig.engine.follower.learned.macOf(ip('192.0.2.77'))).toBe('52:54:00:00:00:01')
  })

  it('not from a DISCOVER, whose wish nobody has granted', () => {
    const rig = createRig()
    rig.send(request({ options: `35 01 01 ${address4(50, '192.0.2.56')} ff` }))
    expect(rig.engine.follower.learned.addressOf(client)).toBeUndefined()
  })

  it('go to the last machine that got one, and the first has none then', () => {
    const learned = createLearnedAddresses()
    const other = mac('52:54:00:00:00:01')
    learned.note(client, ip('192.0.2.55'))
    learned.note(other, ip('192.0.2.55'))
    expect(learned.macOf(ip('192.0.2.55'))).toBe(other)
    learned.forget(client)
    expect(learned.macOf(ip('192.0.2.55'))).toBe(other)
    learned.forget(other)
    expect(learned.macOf(ip('192.0.2.55'))).toBeUndefined()
  })

  it('are bounded in number', () => {
    const learned = createLearnedAddresses(2)
    learned.note(mac('52:54:00:00:00:01'), ip('192.0.2.1'))
    learned.note(mac('52:54:00:00:00:02'), ip('192.0.2.2'))
    learned.note(mac('52:54:00:00:00:03'), ip('192.0.2.3'))
    expect(learned.addressOf(mac('52:54:00:00:00:01'))).toBeUndefined()
    expect(learned.macOf(ip('192.0.2.1'))).toBeUndefined()
    expect(learned.addressOf(mac('52:54:00:00:00:03'))).toBe(ip('192.0.2.3'))
  })

  it('are those of the leases after a restart in server mode', () => {
    const rig = createRig({ settings: serverSettings() })
    rig.engine.follower.learnFromLeases([
      { kind: 'leased', address: ip('192.0.2.55'), key: client as never, until: 1 },
      { kind: 'released', address: ip('192.0.2.56'), key: '52:54:00:00:00:01' as never, until: 1 },
      { kind: 'leased', address: ip('192.0.2.57'), key: 'id/00ff' as never, until: 1 },
    ])
    expect(rig.engine.follower.learned.macOf(ip('192.0.2.55'))).toBe(client)
    expect(rig.engine.follower.learned.macOf(ip('192.0.2.56'))).toBeUndefined()
  })
})

describe('the decision', () => {
  it('is asked with what the client said, and for machines that only want an address with the MAC alone', () => {
    const rig = createRig({ settings: serverSettings() })
    rig.send(fixture('edk2-pxe-x64-discover'))
    rig.send(fixture('udhcpc-discover'))
    expect(rig.asked[0]).toMatchObject({
      macs: [client],
      uuid: '4709cd85-543f-9941-b0f1-525400abcdef',
      arch: 'x86_64',
      firmware: 'uefi',
      loader: 'none',
    })
    expect(rig.asked[1]).toEqual({ macs: [client], firmware: 'unknown', loader: 'none' })
  })

  it('is not asked by a proxy for machines that do not boot', () => {
    const rig = createRig()
    rig.send(fixture('udhcpc-discover'))
    rig.send(fixture('edk2-pxe-x64-request'))
    expect(rig.asked).toEqual([])
  })
})

describe('a loop of loaders', () => {
  it('is told as soon as a machine has come back six times without getting further', () => {
    const rig = createRig()
    for (let run = 1; run <= 6; run++) {
      rig.send(request({ xid: run, options: `35 01 01 ${option(60, 'PXEClient')} 5d 02 00 07 ff` }))
      rig.clock.advance(90_000)
    }
    expect(rig.events.events.filter(({ type }) => type === 'loop-suspected')).toEqual([
      expect.objectContaining({ mac: client, handOut: 'file', interface: 'eth1' }),
    ])
  })

  it('is not one that fetches its decision at every boot, as shim and GRUB do without asking again', () => {
    const rig = createRig()
    for (let run = 1; run <= 12; run++) {
      rig.send(request({ xid: run, options: `35 01 01 ${option(60, 'PXEClient')} 5d 02 00 07 ff` }))
      rig.engine.follower.noteDecision(client)
      rig.clock.advance(90_000)
    }
    expect(rig.events.types()).not.toContain('loop-suspected')
  })
})

describe('what cannot be answered', () => {
  it.each([
    ['our own reply coming back', request({ op: 2 }), 'not-a-request'],
    ['a multicast hardware address', request({ chaddr: '015e00000001' }), 'client-unidentified'],
    ['no hardware address and no client id', request({ chaddr: '' }), 'client-unidentified'],
    [
      'a hardware address of zeros and no client id',
      request({ htype: 32, chaddr: '0000000000000000' }),
      'client-unidentified',
    ],
    [
      'a client id of no length',
      request({ chaddr: '', options: '35 01 01 3d 00 ff' }),
      'client-unidentified',
    ],
  ])('%s', (_, bytes, reason) => {
    const rig = createRig()
    expect(silenceOf(rig.send(bytes))).toBe(reason)
    expect(rig.events.events).toEqual([expect.objectContaining({ type: 'ignored', reason })])
  })

  it('anything while the interface has no address', () => {
    expect(silenceOf(createRig({ hasAddress: false }).send(fixture('edk2-pxe-x64-discover')))).toBe(
      'interface-has-no-address',
    )
  })
})

describe('events', () => {
  it('say who was answered, as whom, and how the machine goes on', () => {
    const rig = createRig({
      settings: serverSettings(),
      advice: { kind: 'live', host: 'rack1-n01', reason: 'follows-current' },
    })
    rig.send(fixture('edk2-http-x64-discover'))
    expect(rig.events.events).toEqual([
      {
        type: 'offered',
        at: rig.clock.now(),
        interface: 'eth1',
        mac: client,
        role: 'server',
        address: expect.stringMatching(/^192\.0\.2\.5\d$/),
        question: expect.objectContaining({ message: 'discover', stage: 'firmware', via: 'http' }),
        platform: 'efi-x64',
        handOut: 'url',
        target: 'http://192.0.2.10:8080/loaders/snponly.efi',
        host: 'rack1-n01',
        decision: 'live',
        reason: 'follows-current',
      },
    ])
  })
})

describe('memory of clients', () => {
  it('is bounded: the first go when new ones come', () => {
    const memory = createClientMemory(3)
    for (let index = 0; index < 10; index++) memory.recall(`id/0${index}` as never)
    expect([...memory.entries()].map(([key]) => key)).toEqual(['id/07', 'id/08', 'id/09'])
    expect(memory.find('id/00' as never)).toBeUndefined()
  })
})

/** Field case 38: each of these stopped some other service; here the next machine is served as if nothing had been. */
describe('one bad packet', () => {
  const good = fixture('edk2-pxe-x64-discover')
  const corpus: readonly [string, Uint8Array][] = [
    ...Array.from({ length: 240 }, (_, length): [string, Uint8Array] => [
      `${length} bytes`,
      good.subarray(0, length),
    ]),
    ['no magic cookie', request().fill(0, 236, 240)],
    ['an option without its length byte', request({ options: '35 01 01 3c' })],
    ['a length past the end', request({ options: '35 01 01 3c ff 41' })],
    ['hlen 0', request({ hlen: 0 })],
    ['hlen 17', request({ hlen: 17 })],
    ['hlen 255', request({ hlen: 255 })],
    ['op 2', request({ op: 2 })],
    ['1500 bytes of FF', new Uint8Array(1500).fill(255)],
    [
      'options of no length',
      request({ options: '35 00 3c 00 5d 00 61 00 4d 00 af 00 2b 00 39 00 52 00 ff' }),
    ],
    [
      'every option, all ones',
      request({
        options: `35 01 01 3c 09 505845436c69656e74 ${Array.from({ length: 200 }, (_, code) => `${(code + 1).toString(16).padStart(2, '0')} 04 ff ff ff ff`).join(' ')} ff`,
      }),
    ],
    ['a missing END', request({ options: '35 01 01 3c 09 50 58 45 43 6c 69 65 6e 74 5d 02 00 07' })],
  ]

  it.each([
    ['as proxy', undefined],
    ['as server', serverSettings({ isAuthoritative: true })],
  ])('does not stop the service %s', (_, settings) => {
    const rig = createRig(settings ? { settings } : {})
    for (const [what, bytes] of corpus) {
      for (const port of ['server', 'proxy'] as const) {
        const answer = rig.send(bytes, { port, from: '192.0.2.55' })
        if (bytes.length < 240) expect([what, silenceOf(answer)]).toEqual([what, 'packet-too-short'])
      }
      expect(shown(rig.send(good)).file).toBe('snponly.efi')
    }
  })
})
