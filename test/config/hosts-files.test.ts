import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { configFolder, problemLines, warningLines } from './config-folder.ts'

const main = `version: 1
streams: { stable: { source: { file: s.json } } }
profiles: { live: { stream: stable, mode: live } }
hosts: { directory: hosts.d }
`
const folderWith = (hosts: Readonly<Record<string, string>>) =>
  configFolder({
    'pilotlight.yaml': main,
    ...Object.fromEntries(Object.entries(hosts).map(([name, text]) => [`hosts.d/${name}`, text])),
  })
const lines = (hosts: Readonly<Record<string, string>>) => problemLines(() => folderWith(hosts).load())
const file = (...hosts: string[]) => `version: 1\nhosts:\n${hosts.map((host) => `  - ${host}\n`).join('')}`

describe('the hosts directory', () => {
  it('every *.yaml is read by name; each host knows its file and line', () => {
    const { inventory, files } = folderWith({
      'rack2.yaml': file('{ id: b, macs: [52:54:00:00:00:02] }', '{ id: c, serial: C1 }'),
      'rack1.yaml': file('{ id: a, uuid: 4c4c4544-0042-3510-8056-b4c04f4d3132, arch: arm64 }'),
      'notes.txt': 'not YAML: [',
      '.#rack1.yaml': 'not YAML: [',
    }).load()
    expect([...inventory.hostsById.values()].map(({ id, origin }) => [id, origin.file, origin.line])).toEqual(
      [
        ['a', 'hosts.d/rack1.yaml', 3],
        ['b', 'hosts.d/rack2.yaml', 3],
        ['c', 'hosts.d/rack2.yaml', 4],
      ],
    )
    expect(inventory.hostsById.get('a')).toMatchObject({ arch: 'aarch64', macs: [], labels: {} })
    expect(files.slice(1).map((path) => path.split('/').slice(-2).join('/'))).toEqual([
      expect.stringMatching(/\/hosts\.d$/),
      'hosts.d/rack1.yaml',
      'hosts.d/rack2.yaml',
    ])
  })

  it('a mounted ConfigMap, which is made of links, is read', () => {
    const folder = configFolder({
      'pilotlight.yaml': main,
      'hosts.d/..2026/rack.yaml': file('{ id: a, serial: S }'),
    })
    symlinkSync('..2026', join(folder.path, 'hosts.d/..data'))
    symlinkSync('..data/rack.yaml', join(folder.path, 'hosts.d/rack.yaml'))
    expect(folder.load().inventory.hostsById.size).toBe(1)
  })

  it('files that look like hosts and are not read are warned about', () => {
    const loaded = folderWith({ 'rack1.yml': file('{ id: a, serial: S }') }).load()
    expect(loaded.inventory.hostsById.size).toBe(0)
    expect(warningLines(loaded)).toEqual(['hosts.d/rack1.yml:1:1: is not read: only *.yaml files are'])
  })

  it('relative paths begin at the hosts file', () => {
    const folder = folderWith({
      'a.yaml': file(`{ id: a, serial: S, extraInitrds: [{ path: wrap.cpio, sha256: ${'A'.repeat(64)} }] }`),
    })
    expect(folder.load().inventory.hostsById.get('a')?.extraInitrds).toEqual([
      { path: join(folder.path, 'hosts.d/wrap.cpio'), sha256: 'a'.repeat(64) },
    ])
  })
})

describe('a host record', () => {
  it('may say everything that decides its boot, and all of it arrives', () => {
    const { inventory } = folderWith({
      'a.yaml': `version: 1
hosts:
  - id: a
    macs: [52-54-00-00-00-01]
    uuid: 4C4C4544-0042-3510-8056-B4C04F4D3132
    serial: S1
    arch: amd64
    labels: { example.org/site: edge }
    profile: live
    stream: stable
    mode: hold
    pin: { release: '44.1', until: 2027-01-01T00:00:00Z }
    kernelArguments: [quiet, 'a;b']
    ignition: { url: http://192.0.2.1/x.ign }
    install: { device: /dev/vda, generation: 3 }
    localBoot: exit 1
    holdReason: "broken fan: don't boot"
    platformId: openstack
    rootfs: initrd
    extraInitrds: []
    loader: ipxe.efi
`,
    }).load()
    expect(inventory.hostsById.get('a')).toEqual({
      id: 'a',
      macs: ['52:54:00:00:00:01'],
      uuid: '4c4c4544-0042-3510-8056-b4c04f4d3132',
      serial: 'S1',
      arch: 'x86_64',
      labels: { 'example.org/site': 'edge' },
      profile: 'live',
      stream: 'stable',
      mode: 'hold',
      pins: [{ release: '44.1', until: Date.UTC(2027, 0, 1) }],
      kernelArguments: ['quiet', 'a;b'],
      ignition: { url: 'http://192.0.2.1/x.ign' },
      install: { device: '/dev/vda', generation: 3 },
      localBoot: 'exit 1',
      holdReason: "broken fan: don't boot",
      platformId: 'openstack',
      rootfs: 'initrd',
      extraInitrds: [],
      loader: 'ipxe.efi',
      origin: { kind: 'host', name: 'a', file: 'hosts.d/a.yaml', line: 3 },
    })
  })

  it('pins one release for each architecture, in any spelling of it, of a stream of its own', () => {
    const pin =
      "{ releases: { amd64: '44.1', aarch64: '44.2' }, stream: stable, reason: NIC, until: 2026-12-31 }"
    const folder = folderWith({ 'a.yaml': file(`{ id: a, serial: S, pin: ${pin} }`) })
    const shared = { stream: 'stable', reason: 'NIC', until: Date.UTC(2027, 0, 1) }
    expect(folder.load().inventory.hostsById.get('a')?.pins).toEqual([
      { release: '44.1', arch: 'x86_64', ...shared },
      { release: '44.2', arch: 'aarch64', ...shared },
    ])
  })

  it.each([
    [
      "{ release: '44.1', releases: { x86_64: '44.2' } }",
      'found release and releases, allowed: exactly one of release, releases',
    ],
    ['{ reason: none }', 'found none of them, allowed: exactly one of release, releases'],
    ['{ releases: {} }', 'found no entry, allowed: at least one'],
    ["{ releases: { sparc: '44.1' } }", 'found the name "sparc", allowed: x86_64, aarch64, ppc64le, s390x'],
    ["{ releases: { x86_64: '44.1', amd64: '44.2' } }", 'is the architecture of "x86_64" as well'],
    ["{ release: '44.1', stream: stabel }", 'there is no stream "stabel" (did you mean "stable"?)'],
  ])('that pins %s is refused', (pin, problem) => {
    const found = lines({ 'a.yaml': file(`{ id: a, serial: S, pin: ${pin} }`) })
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(problem)
  })

  it('with a pin that has ended is loaded with a warning', () => {
    const folder = folderWith({
      'a.yaml': file("{ id: a, serial: S, mode: local, pin: { release: '44.1', until: 2026-11-28 } }"),
    })
    expect(warningLines(folder.load({ now: Date.UTC(2026, 10, 29) }))).toEqual([
      'hosts.d/a.yaml:3:69: hosts[0].pin.until: the pin to 44.1 has ended',
    ])
    expect(warningLines(folder.load({ now: Date.UTC(2026, 10, 28, 12) }))).toEqual([])
  })
})

describe('what hosts files may not say', () => {
  it.each([
    [
      // field case 148
      'one MAC at two hosts, in whatever spelling',
      {
        'a.yaml': file('{ id: a, macs: [52:54:00:ab:cd:ef] }'),
        'b.yaml': file('{ id: b, macs: [5254.00AB.CDEF] }'),
      },
      ['hosts.d/b.yaml:3:21: hosts[0].macs[0]: MAC 52:54:00:ab:cd:ef belongs to host a (hosts.d/a.yaml:3)'],
    ],
    [
      // field case 155
      'one UUID at two hosts, in either byte order',
      {
        'a.yaml': file(
          '{ id: a, uuid: 00112233-4455-6677-8899-aabbccddeeff }',
          '{ id: b, uuid: 33221100-5544-7766-8899-AABBCCDDEEFF }',
        ),
      },
      [
        'hosts.d/a.yaml:4:20: hosts[1].uuid: UUID 33221100-5544-7766-8899-aabbccddeeff (in either byte order) belongs to host a (hosts.d/a.yaml:3)',
      ],
    ],
    [
      'a MAC that YAML takes for a number',
      { 'b.yaml': file('{ id: c, macs: [525400000001] }') },
      [
        "hosts.d/b.yaml:3:21: hosts[0].macs[0]: found the number 525400000001, allowed: a MAC address such as 52:54:00:ab:cd:ef (write it in quotes: '525400000001')",
      ],
    ],
    [
      'a MAC twice at one host',
      { 'b.yaml': file("{ id: c, macs: [52:54:00:00:00:01, '525400000001'] }") },
      ['hosts.d/b.yaml:3:40: hosts[0].macs[1]: MAC 52:54:00:00:00:01 is there twice'],
    ],
    [
      'one serial and one id at two hosts',
      { 'a.yaml': file('{ id: a, serial: S1 }'), 'b.yaml': file('{ id: a, serial: S1 }') },
      [
        'hosts.d/b.yaml:3:11: hosts[0].id: the id a belongs to host a (hosts.d/a.yaml:3)',
        'hosts.d/b.yaml:3:22: hosts[0].serial: serial S1 belongs to host a (hosts.d/a.yaml:3)',
      ],
    ],
    [
      'MACs that are none',
      { 'a.yaml': file("{ id: a, macs: [2:4:0:b:d:f, 01:00:5e:00:00:01, '000000000000'] }") },
      [
        'hosts.d/a.yaml:3:21: hosts[0].macs[0]: found "2:4:0:b:d:f" (each part needs two digits), allowed: a MAC address such as 52:54:00:ab:cd:ef',
        'hosts.d/a.yaml:3:34: hosts[0].macs[1]: found "01:00:5e:00:00:01" (multicast and all-zero addresses name no machine), allowed: a MAC address such as 52:54:00:ab:cd:ef',
        'hosts.d/a.yaml:3:53: hosts[0].macs[2]: found "000000000000" (multicast and all-zero addresses name no machine), allowed: a MAC address such as 52:54:00:ab:cd:ef',
      ],
    ],
    [
      'a host that nothing can recognise, and one without an id',
      { 'a.yaml': file('{ id: a, profile: live }', '{ macs: [52:54:00:00:00:01] }') },
      [
        "hosts.d/a.yaml:3:5: hosts[0]: found none of them, allowed: at least one of macs, uuid, serial (for example macs: ['52:54:00:ab:cd:ef'])",
        'hosts.d/a.yaml:4:5: hosts[1]: the key "id" is missing, allowed: at most 63 letters, digits, ".", "_" and "-", beginning with a letter or digit (for example id: worker)',
      ],
    ],
    [
      'a profile and a stream that do not exist',
      { 'a.yaml': file('{ id: a, serial: S, profile: lvie, stream: x }') },
      [
        'hosts.d/a.yaml:3:34: hosts[0].profile: there is no profile "lvie" (did you mean "live"?)',
        'hosts.d/a.yaml:3:48: hosts[0].stream: there is no stream "x"',
      ],
    ],
    [
      'an unknown key',
      { 'a.yaml': file('{ id: a, mac: 52:54:00:00:00:01, serial: S }') },
      [
        'hosts.d/a.yaml:3:14: hosts[0].mac: unknown key, allowed: address, arch, dhcpStyle, extraInitrds, holdReason, hostName, id, ignition, install, kernelArguments, labels, loader, localBoot, macs, mode, pin, platformId, profile, report, rootfs, secureBoot, serial, stream, uuid (did you mean "macs"?)',
      ],
    ],
    [
      'no version',
      { 'a.yaml': 'hosts: []\n' },
      ['hosts.d/a.yaml:1:1: the key "version" is missing, allowed: 1 (for example version: 1)'],
    ],
    [
      'nothing',
      { 'a.yaml': '' },
      [
        "hosts.d/a.yaml:1:1: found nothing, allowed: a mapping (for example { version: 1, hosts: [{ id: worker, macs: ['52:54:00:ab:cd:ef'] }] })",
      ],
    ],
    [
      'no YAML',
      { 'a.yaml': 'version: 1\nhosts: [\n' },
      [
        'hosts.d/a.yaml:3:1: cannot be read as YAML: Flow sequence in block collection must be sufficiently indented and end with a ]',
      ],
    ],
  ])('%s', (_, hosts, expected) => {
    expect(lines(hosts)).toEqual(expected)
  })

  it('mistakes of all files come together, the main file first, then by name', () => {
    const folder = configFolder({
      'pilotlight.yaml': main.replace('mode: live', 'mode: liev'),
      'hosts.d/b.yaml': 'version: 2\nhosts: []\n',
      'hosts.d/a.yaml': 'version: 1\nhosts: {}\n',
    })
    expect(problemLines(() => folder.load()).map((line) => line.split(': ').slice(0, 2).join(': '))).toEqual([
      'pilotlight.yaml:3:43: profiles.live.mode',
      'hosts.d/a.yaml:2:8: hosts',
      'hosts.d/b.yaml:1:10: version',
    ])
  })

  it('a folder, a dangling link and a file that is too big are told by name', () => {
    const folder = folderWith({ 'big.yaml': `# ${'x'.repeat(4 * 1024 * 1024)}` })
    mkdirSync(join(folder.path, 'hosts.d/folder.yaml'))
    symlinkSync('nowhere', join(folder.path, 'hosts.d/gone.yaml'))
    expect(problemLines(() => folder.load())).toEqual([
      'hosts.d/big.yaml:1:1: has more than 4 MiB',
      'hosts.d/folder.yaml:1:1: is a folder',
      'hosts.d/gone.yaml:1:1: does not exist',
    ])
  })
})

describe('loading again', () => {
  it('parses only what changed, and forgets what went', () => {
    const folder = folderWith({
      'a.yaml': file('{ id: a, serial: A }'),
      'b.yaml': file('{ id: b, serial: B }'),
    })
    const before = folder.load()
    folder.write('hosts.d/b.yaml', file('{ id: b2, serial: B }'))
    const after = folder.load({ before })
    expect(after.hosts.files[0]).toBe(before.hosts.files[0])
    expect(after.hosts.files[1]).not.toBe(before.hosts.files[1])
    expect([...after.inventory.hostsById.keys()]).toEqual(['a', 'b2'])

    rmSync(join(folder.path, 'hosts.d/a.yaml'))
    expect([...folder.load({ before: after }).inventory.hostsById.keys()]).toEqual(['b2'])
  })

  it('finds a conflict between a file that changed and one that did not', () => {
    const folder = folderWith({
      'a.yaml': file('{ id: a, serial: A }'),
      'b.yaml': file('{ id: b, serial: B }'),
    })
    const before = folder.load()
    folder.write('hosts.d/a.yaml', file('{ id: a, serial: B }'))
    expect(problemLines(() => folder.load({ before }))).toEqual([
      'hosts.d/b.yaml:3:22: hosts[0].serial: serial B belongs to host a (hosts.d/a.yaml:3)',
    ])
  })
})
