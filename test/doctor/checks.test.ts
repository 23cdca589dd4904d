import { describe, expect, it } from 'vitest'
import { checkClock } from '../../src/doctor/check-clock.ts'
import { checkDataDirectory, type DataDirectoryFacts } from '../../src/doctor/check-data-directory.ts'
import { checkDhcp, type OfferFacts } from '../../src/doctor/check-dhcp.ts'
import { checkDisk } from '../../src/doctor/check-disk.ts'
import { checkFetches, type FetchFacts } from '../../src/doctor/check-fetches.ts'
import { checkInterfaces, type InterfaceFacts } from '../../src/doctor/check-interfaces.ts'
import { checkLoaders } from '../../src/doctor/check-loaders.ts'
import { checkPorts, type PortFacts } from '../../src/doctor/check-ports.ts'
import { checkRights, type RightsFacts } from '../../src/doctor/check-rights.ts'
import { checkService, type ServiceFacts } from '../../src/doctor/check-service.ts'
import { checkUpstream, type UpstreamFacts } from '../../src/doctor/check-upstream.ts'
import { type Finding, isHealthy } from '../../src/doctor/finding.ts'
import { dnsmasqOffer, loaderCatalogue, runningService, servedLoader } from '../fakes/doctor-facts.ts'

const stopped: ServiceFacts = { state: 'stopped' }
const running = runningService()

/** `severity: what`, without what to do. */
function said(findings: readonly Finding[]): string[] {
  return findings.map(({ severity, what }) => `${severity}: ${what}`)
}

describe('ports', () => {
  const port: PortFacts = {
    purpose: 'DHCP',
    protocol: 'udp',
    port: 67,
    interface: 'eth1',
    bind: 'free',
    holders: [],
  }
  const dnsmasq = { pid: 812, program: 'dnsmasq' }

  it.each<[string, Partial<PortFacts>, string]>([
    ['free', {}, 'ok: UDP 67 on eth1 (DHCP): free'],
    ['free there, taken on another interface', { holders: [dnsmasq] }, 'ok: UDP 67 on eth1 (DHCP): free'],
    [
      'taken by a program that we may see',
      { bind: 'taken', holders: [dnsmasq] },
      'problem: UDP 67 on eth1 (DHCP): dnsmasq (process 812) has it',
    ],
    [
      'taken by one that we may not see',
      { bind: 'taken', holders: [{}] },
      'problem: UDP 67 on eth1 (DHCP): another program has it',
    ],
    [
      'held by the service manager',
      { bind: 'taken', holders: [{ pid: 1, program: 'systemd' }] },
      'ok: UDP 67 on eth1 (DHCP): held by the service manager, for the service to inherit',
    ],
    ['closed to this user', { bind: 'denied' }, 'warning: UDP 67 on eth1 (DHCP): this user may not open it'],
    [
      'at an address that is not here',
      { bind: 'no-address' },
      'problem: UDP 67 on eth1 (DHCP): this machine does not have that address',
    ],
    [
      'on an interface that is not here',
      { bind: 'no-interface' },
      'note: UDP 67 on eth1 (DHCP): cannot be tried yet',
    ],
  ])('without a service: %s', (_, changes, expected) => {
    expect(said(checkPorts([{ ...port, ...changes }], stopped))).toEqual([expected])
  })

  it.each<[string, Partial<PortFacts>, string]>([
    ['ours', { bind: 'taken', holders: [{ pid: 4242, program: 'node' }] }, 'ok: UDP 67 on eth1 (DHCP): ours'],
    [
      'ours and the service manager’s',
      { bind: 'taken', holders: [{ pid: 1, program: 'systemd' }, { pid: 4242 }] },
      'ok: UDP 67 on eth1 (DHCP): ours',
    ],
    [
      'not to be seen, but the service is ready',
      { bind: 'taken', holders: [{}] },
      'ok: UDP 67 on eth1 (DHCP): taken, by the service as it says',
    ],
    [
      'somebody else’s',
      { bind: 'taken', holders: [dnsmasq] },
      'problem: UDP 67 on eth1 (DHCP): dnsmasq (process 812) has it',
    ],
    ['nobody’s', {}, 'problem: UDP 67 on eth1 (DHCP): the service runs and does not listen there'],
  ])('with a service: %s', (_, changes, expected) => {
    expect(said(checkPorts([{ ...port, ...changes }], running))).toEqual([expected])
  })

  it('a taken port of a part that is not ready is not ours', () => {
    const waiting = runningService({ parts: [{ part: 'dhcp', ready: false, reason: 'eth1: port taken' }] })
    const taken: PortFacts = { ...port, bind: 'taken', holders: [{}] }
    expect(said(checkPorts([taken], waiting))[0]).toMatch(/^problem: .*not by the service/)
  })

  it('the advice fits the program and the listener', () => {
    const todo = (changes: Partial<PortFacts>) =>
      checkPorts([{ ...port, bind: 'taken', ...changes }], stopped)[0]?.todo
    expect(todo({ holders: [dnsmasq] })).toContain('systemctl stop dnsmasq')
    expect(todo({ purpose: 'TFTP', port: 69, holders: [{ pid: 9, program: 'in.tftpd' }] })).toBe(
      'systemctl stop tftpd-hpa',
    )
    expect(todo({ purpose: 'boot', protocol: 'tcp', port: 80, holders: [{}] })).toBe(
      'see whose it is with: ss -tlpn sport = :80; stop that, or choose another with boot.http.listen',
    )
    expect(todo({ holders: [{}] })).toBe('see whose it is with: ss -ulpn sport = :67; stop that')
  })

  it('a port that the system chooses is only told', () => {
    expect(said(checkPorts([{ ...port, port: 0, bind: 'not-tried' }], stopped))[0]).toMatch(
      /^note: .*any free port/,
    )
  })

  it('IPv6 addresses are written as in URLs', () => {
    const facts: PortFacts = {
      purpose: 'boot',
      protocol: 'tcp',
      host: '::1',
      port: 80,
      bind: 'free',
      holders: [],
    }
    expect(said(checkPorts([facts], stopped))).toEqual(['ok: TCP [::1]:80 (boot): free'])
  })
})

describe('rights', () => {
  const rights: RightsFacts = { uid: 990, mayOpenLowPorts: false, firstOpenPort: 1024, canBindToDevice: true }
  const wanted = { ports: [80, 8081, 67, 67], dhcpInterfaces: ['eth1'] }

  it('low ports need a right that this user may lack', () => {
    expect(said(checkRights(rights, wanted, stopped))).toEqual([
      'warning: this user may not open ports below 1024 (wanted: 80, 67)',
    ])
    expect(said(checkRights({ ...rights, mayOpenLowPorts: true }, wanted, stopped))[0]).toMatch(/^ok/)
    expect(said(checkRights({ ...rights, firstOpenPort: 0 }, wanted, stopped))[0]).toMatch(/^ok/)
    expect(said(checkRights(rights, { ...wanted, ports: [0, 8080] }, stopped))[0]).toMatch(/^ok/)
  })

  it.each<[string, RightsFacts['service'], RegExp]>([
    ['none', { uid: 990, capabilities: [] }, /^ok: .*user 990 with no capability$/],
    [
      'the one it may need',
      { uid: 990, capabilities: ['NET_BIND_SERVICE'] },
      /^ok: .*NET_BIND_SERVICE alone/,
    ],
    ['too many', { uid: 990, capabilities: ['NET_BIND_SERVICE', 'SYS_ADMIN'] }, /^warning: .*: SYS_ADMIN$/],
    ['all', { uid: 0, capabilities: [] }, /^warning: the service runs as root/],
    ['unknown', undefined, /^note: .*cannot be looked at/],
  ])('a running service with rights: %s', (_, service, expected) => {
    const facts = service === undefined ? rights : { ...rights, service }
    expect(said(checkRights(facts, wanted, running))[0]).toMatch(expected)
  })

  it('root learns that it does not see what the service sees', () => {
    expect(said(checkRights({ ...rights, uid: 0 }, wanted, stopped))[0]).toMatch(/^note: this runs as root/)
  })

  it('several interfaces need sockets that are bound to them', () => {
    const plain = { ...rights, mayOpenLowPorts: true, canBindToDevice: false }
    expect(said(checkRights(plain, wanted, stopped))[1]).toMatch(/^note: without koffi/)
    const two = { ...wanted, dhcpInterfaces: ['eth1', 'eth2'] }
    expect(said(checkRights(plain, two, stopped))[1]).toMatch(/^problem: DHCP on several interfaces/)
    expect(checkRights(plain, { ...wanted, dhcpInterfaces: [] }, stopped)).toHaveLength(1)
  })
})

describe('interfaces', () => {
  const eth1: InterfaceFacts = {
    name: 'eth1',
    exists: true,
    isUp: true,
    hasLink: true,
    addresses: ['192.0.2.10'],
  }
  const dhcp = {
    mode: 'proxy' as const,
    interfaces: ['eth1'],
    isOurs: (address: string) => address.startsWith('192.0.2.'),
  }
  const check = (
    changes: Partial<InterfaceFacts>,
    wanted: Parameters<typeof checkInterfaces>[1] = { dhcp },
  ) =>
    said(
      checkInterfaces({ interfaces: [{ ...eth1, ...changes }], ownAddresses: ['192.0.2.10', '::1'] }, wanted),
    )

  it.each<[Partial<InterfaceFacts>, string]>([
    [{}, 'ok: eth1 is up and has 192.0.2.10'],
    [{ exists: false, isUp: false, addresses: [] }, 'problem: there is no interface eth1'],
    [{ isUp: false, addresses: [] }, 'problem: eth1 is down'],
    [{ addresses: [] }, 'problem: eth1 has no IPv4 address'],
    [{ hasLink: false }, 'warning: eth1 has no link'],
  ])('%j', (changes, expected) => {
    expect(check(changes)).toEqual([expected])
  })

  it('a server of other subnets than its own wire is told', () => {
    const wanted = { dhcp: { ...dhcp, mode: 'server' as const } }
    expect(check({}, wanted)).toHaveLength(1)
    expect(check({ addresses: ['198.51.100.1'] }, wanted)[1]).toMatch(/^warning: .*in no subnet/)
  })

  it('a boot address elsewhere is told, a name is not looked up', () => {
    expect(check({}, { dhcp, bootAddress: '203.0.113.9' })[1]).toMatch(/^note: boot\.address 203\.0\.113\.9/)
    expect(check({}, { dhcp, bootAddress: '192.0.2.10' })).toHaveLength(1)
    expect(check({}, { dhcp, bootAddress: 'boot.example' })).toHaveLength(1)
  })

  it('DHCP without an interface waits for inherited sockets', () => {
    const none = { interfaces: [], ownAddresses: [] }
    expect(said(checkInterfaces(none, { dhcp: { ...dhcp, interfaces: [] } }))[0]).toMatch(
      /^note: .*inherited sockets/,
    )
    expect(checkInterfaces(none, {})).toEqual([])
  })
})

describe('other DHCP servers', () => {
  const site: OfferFacts = dnsmasqOffer
  const ours: OfferFacts = {
    server: '192.0.2.10',
    bootFile: 'snponly.efi',
    nextServer: '192.0.2.10',
    isOurs: true,
  }
  const check = (offers: readonly OfferFacts[], mode: 'off' | 'proxy' | 'server', isRunning = true) =>
    said(checkDhcp([{ interface: 'eth1', outcome: { kind: 'asked', offers } }], { mode, isRunning }))

  it('a proxy beside a server that gives addresses alone is as it should be', () => {
    expect(check([site, ours], 'proxy')).toEqual([
      'ok: eth1: 192.0.2.1 offers address 192.0.2.101 and no boot file',
      'ok: eth1: the service offers snponly.efi to UEFI x64',
    ])
  })

  it('a proxy beside nobody boots nothing', () => {
    expect(check([ours], 'proxy')[0]).toBe('problem: eth1: nobody offered an address, and a proxy gives none')
  })

  it('another boot file beside ours is a warning, also from another proxy', () => {
    const boots = { ...site, bootFile: 'pxelinux.0', nextServer: '192.0.2.5' }
    expect(check([boots, ours], 'proxy')[0]).toMatch(/^warning: .*boot file pxelinux\.0 from 192\.0\.2\.5$/)
    const { address: _, ...proxy } = { ...boots, server: '192.0.2.5' }
    expect(check([site, proxy, ours], 'proxy')[1]).toMatch(/^warning: .*offers no address and boot file/)
  })

  it('two servers that give addresses on one wire are a problem', () => {
    expect(check([site, ours], 'server')[0]).toMatch(/^problem: eth1: 192\.0\.2\.1 offers address/)
    expect(check([ours], 'server')[0]).toBe('ok: eth1: no other DHCP server answers')
  })

  it('with DHCP off, what answers is only told', () => {
    expect(check([{ ...site, bootFile: 'snponly.efi' }], 'off')).toEqual([
      'note: eth1: 192.0.2.1 offers address 192.0.2.101 and boot file snponly.efi',
    ])
    expect(said(checkDhcp([], { mode: 'off', isRunning: true }))[0]).toMatch(/^note: DHCP is off here/)
    expect(said(checkDhcp([], { mode: 'proxy', isRunning: true }))[0]).toMatch(/^note: .*names no interface/)
  })

  it('a service that does not answer itself is told, unless none runs', () => {
    expect(check([site], 'proxy')[1]).toMatch(/^note: .*did not answer/)
    expect(check([site], 'proxy', false)).toHaveLength(1)
  })

  it('a wire that could not be asked says why and what to do', () => {
    const outcome = {
      kind: 'not-asked',
      why: 'UDP port 68 is taken',
      todo: 'ask from another machine',
    } as const
    const [finding] = checkDhcp([{ interface: 'eth1', outcome }], { mode: 'proxy', isRunning: true })
    expect(finding).toMatchObject({ severity: 'note', todo: 'ask from another machine' })
    expect(finding?.what).toContain('UDP port 68 is taken')
  })
})

describe('loaders', () => {
  const firstLoaders = {
    bios: 'undionly.kpxe',
    'efi-x64': 'snponly.efi',
    'efi-arm64': 'snponly-arm64.efi',
  } as const
  const catalogue = loaderCatalogue([servedLoader('snponly.efi')])
  const check = (changes: Partial<Parameters<typeof checkLoaders>[0]> = {}, handsOut = true) =>
    checkLoaders({ catalogue, firstLoaders, chosen: [], ...changes }, { architectures: ['x86_64'], handsOut })

  it('each kind of firmware that can start a followed architecture is told, no other', () => {
    expect(said(check())).toEqual([
      'problem: BIOS: there is no undionly.kpxe',
      'ok: UEFI x64: snponly.efi, ipxe 1.21.1 (/usr/lib/ipxe/snponly.efi)',
    ])
    expect(check()[0]?.todo).toBe('apt install ipxe')
    expect(said(check({}, false))[0]).toMatch(/^note: BIOS/)
  })

  it('an iPXE without HTTP cannot fetch a script', () => {
    const deaf = loaderCatalogue([
      servedLoader('snponly.efi', { features: { http: false, https: false, vlan: false } }),
    ])
    expect(said(check({ catalogue: deaf }))[1]).toMatch(/^warning: .*has no HTTP/)
  })

  it('a choice that is not there is a problem, one of a set may be there', () => {
    const chosen = [
      { name: 'ipxe.efi', by: 'profile worker' },
      { name: 'snponly.efi', by: 'host n1' },
      { name: 'debian/shimx64.efi', by: 'group edge' },
    ]
    expect(said(check({ chosen })).slice(2)).toEqual([
      'problem: profile worker asks for the loader ipxe.efi, which is not there',
      'problem: group edge asks for the loader debian/shimx64.efi, which is not there',
    ])
  })

  it('refused files and sets that cannot boot are told with the reason (field case 14)', () => {
    const set = {
      name: 'debian',
      directory: '/srv/debian',
      files: new Map(),
      refused: [],
      architectures: [],
      problems: ['there is no shimx64.efi'],
    }
    const troubled = {
      ...catalogue,
      refused: [{ name: 'ipxe.efi', path: '/srv/ipxe.efi', reason: 'its PE machine is AA64' }],
      sets: new Map([['debian', set]]),
    }
    expect(said(check({ catalogue: troubled })).slice(2)).toEqual([
      'warning: ipxe.efi is not served: /srv/ipxe.efi: its PE machine is AA64',
      'problem: set debian: there is no shimx64.efi',
    ])
  })
})

describe('what machines fetch', () => {
  const fetch: FetchFacts = {
    via: 'tftp',
    target: 'snponly.efi',
    address: '192.0.2.10',
    outcome: { kind: 'fetched', sizeBytes: 1, milliseconds: 1 },
  }
  const all = { isRunning: true, isDhcpOn: true, isTftpOn: true }
  const check = (outcome: FetchFacts['outcome']) =>
    said(checkFetches([fetch, { ...fetch, target: 'x', outcome }], all))[1]

  it('what went well is one line', () => {
    expect(said(checkFetches([fetch, { ...fetch, target: 'undionly.kpxe' }], all))).toEqual([
      'ok: TFTP 192.0.2.10: snponly.efi, undionly.kpxe: fetched whole, answered from where it was asked',
    ])
  })

  it.each<[FetchFacts['outcome'], RegExp]>([
    [
      { kind: 'other-source', from: '198.51.100.1', asker: '198.51.100.1' },
      /^warning: .*came from 198\.51\.100\.1/,
    ],
    [{ kind: 'other-bytes', expected: 'a'.repeat(64), found: 'b'.repeat(64) }, /^problem: .*other bytes/],
    [{ kind: 'refused', reason: 'refused: File not found' }, /^problem: .*File not found/],
    [{ kind: 'silent' }, /^problem: .*no answer/],
    [{ kind: 'failed', reason: 'ECONNREFUSED' }, /^problem: .*ECONNREFUSED/],
  ])('field case 50: %j', (outcome, expected) => {
    expect(check(outcome)).toMatch(expected)
  })

  it('is not asked for without a service, and TFTP that is off is told all the same', () => {
    expect(checkFetches([], { ...all, isRunning: false })).toEqual([])
    expect(said(checkFetches([], { isRunning: false, isDhcpOn: true, isTftpOn: false }))[0]).toMatch(
      /^warning: DHCP hands out/,
    )
    expect(said(checkFetches([], all))[0]).toMatch(/^note/)
  })
})

describe('upstream', () => {
  const source = 'https://builds.example/stable.json'
  const failed: UpstreamFacts = {
    stream: 'stable',
    source,
    outcome: { kind: 'failed', reason: `${source}: getaddrinfo ENOTFOUND` },
  }

  it('G4 a stream that cannot be read is a warning when all it needs is served, else a problem', () => {
    expect(said(checkUpstream([failed], new Set(['stable'])))).toEqual([
      `warning: stable: ${source} cannot be read: getaddrinfo ENOTFOUND`,
    ])
    expect(said(checkUpstream([failed], new Set()))[0]).toMatch(/^problem/)
  })

  it('an architecture that the document does not have is a problem', () => {
    const missing = [{ arch: 'aarch64', reason: 'the document does not have it' }]
    const facts: UpstreamFacts = {
      ...failed,
      outcome: { kind: 'read', milliseconds: 12.3, releases: ['44.1'], missing },
    }
    expect(said(checkUpstream([facts], new Set()))).toEqual([
      `ok: stable: ${source} says 44.1 (12 ms)`,
      'problem: stable: nothing for aarch64: the document does not have it',
    ])
  })
})

describe('disk, clock, data directory', () => {
  const gib = 2 ** 30

  it.each([
    [100 * gib, /^ok: .*100\.0 GiB free$/],
    [2 * gib, /^warning: .*2 followed bootimages takes about 3\.3 GiB/],
    [0.1 * gib, /^problem: .*nothing can be fetched/],
  ])('%i bytes free', (freeBytes, expected) => {
    const disk = { path: '/data', freeBytes, reserveBytes: 0.25 * gib }
    expect(said(checkDisk(disk, { followed: 2 }))[0]).toMatch(expected)
  })

  it('a disk that cannot be measured is not judged', () => {
    expect(checkDisk(undefined, { followed: 2 })).toEqual([])
  })

  it.each([
    ['1970-01-01T00:00:10Z', [], /^problem: .*cannot be/],
    ['2026-11-29T12:00:00Z', [], /^ok: .*plausible/],
    ['2026-11-29T12:00:00Z', ['2026-11-29T12:01:00Z'], /^ok: .*agrees/],
    [
      '2026-11-29T12:00:00Z',
      ['2026-11-29T13:00:00Z', '2026-11-29T13:00:01Z', '2001-01-01T00:00:00Z'],
      /^warning: .*60 min behind/,
    ],
    ['2026-11-29T12:00:00Z', ['2026-11-29T11:00:00Z'], /^warning: .*60 min ahead of/],
  ])('the clock at %s beside %j', (now, servers, expected) => {
    const facts = { now: Date.parse(now), serverTimes: servers.map((time) => Date.parse(time)) }
    expect(said(checkClock(facts))[0]).toMatch(expected)
  })

  const directory: DataDirectoryFacts = {
    path: '/data',
    kind: 'directory',
    uid: 990,
    mode: 0o700,
    isWritable: true,
    ownUid: 990,
  }
  it.each<[string, Partial<DataDirectoryFacts>, ServiceFacts, RegExp]>([
    ['as it should be', {}, stopped, /^ok/],
    ['open to others', { mode: 0o755 }, stopped, /^warning: .*mode 755/],
    ['of another user', { isWritable: false }, stopped, /^problem: .*may not write/],
    ['of another user, who runs the service', { isWritable: false }, { state: 'denied' }, /^note/],
    ['absent, to be made', { kind: 'absent' }, stopped, /^ok: .*can be made/],
    ['absent, not to be made', { kind: 'absent', isWritable: false }, stopped, /^problem: .*may not make it/],
    ['a file', { kind: 'other' }, stopped, /^problem: .*no directory/],
    ['seen by root', { ownUid: 0 }, stopped, /^note: .*belongs to user 990/],
  ])('a data directory that is %s', (_, changes, service, expected) => {
    expect(said(checkDataDirectory({ ...directory, ...changes }, service))[0]).toMatch(expected)
  })
})

describe('the service', () => {
  it('does not repeat what its self-test found: the doctor looks at all of it anew', () => {
    const parts = [{ part: 'self-test', ready: true, reason: 'BIOS: there is no undionly.kpxe' }]
    expect(said(checkService(runningService({ parts }), '/data')).join()).not.toContain('undionly')
  })

  it('tells its parts that are not ready, and those that limp', () => {
    const parts = [
      { part: 'dhcp', ready: false, reason: 'eth1: has no IPv4 address yet' },
      { part: 'config', ready: true, reason: 'the last good one is in force' },
    ]
    expect(said(checkService(runningService({ parts }), '/data'))).toEqual([
      'ok: the service runs as process 4242',
      'problem: dhcp is not ready: eth1: has no IPv4 address yet',
      'warning: config: the last good one is in force',
    ])
    expect(said(checkService(running, '/data'))).toEqual([
      'ok: the service runs as process 4242, and is ready',
    ])
  })

  it.each<[ServiceFacts, RegExp]>([
    [{ state: 'stopped' }, /^note/],
    [{ state: 'denied' }, /^warning/],
    [{ state: 'silent', reason: 'timed out' }, /^problem: .*timed out/],
  ])('%j', (service, expected) => {
    expect(said(checkService(service, '/data'))[0]).toMatch(expected)
  })
})

it('only problems keep the doctor from being content', () => {
  const finding = (severity: Finding['severity']): Finding => ({ check: 'clock', severity, what: '' })
  expect(isHealthy([finding('ok'), finding('note'), finding('warning')])).toBe(true)
  expect(isHealthy([finding('problem')])).toBe(false)
})
