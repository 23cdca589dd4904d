import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isServiceError } from '../../src/core/errors.ts'
import { makeGrub, makeShim, testSigner, vendorSection } from '../fakes/loader-images.ts'
import { configFolder } from './config-folder.ts'

const good = { 'shimx64.efi': makeShim(), 'grubx64.efi': makeGrub() }

interface Sketch {
  readonly files?: Readonly<Record<string, Buffer>>
  readonly boot?: string
  readonly set?: string
  readonly stream?: string
  readonly hosts?: string
  readonly more?: string
}

function folderWith({
  files = good,
  boot = '',
  set = 'fedora',
  stream = 'loaderSet: fedora',
  hosts,
  more = '',
}: Sketch) {
  return configFolder({
    'pilotlight.yaml': `version: 1
boot:
  http: { listen: ':80' }
  loaders: { sets: { ${set}: { directory: loaders } } }
  ${boot}
streams:
  s: { source: { url: https://x.example/s.json }, ${stream} }
unknown: ignore
hosts: { directory: hosts.d }
${more}
`,
    'hosts.d/a.yaml': hosts ?? 'version: 1\nhosts: []\n',
    ...Object.fromEntries(Object.entries(files).map(([name, bytes]) => [`loaders/${name}`, bytes])),
  })
}

function mistakesOf(sketch: Sketch): string {
  try {
    folderWith(sketch).load()
  } catch (error) {
    if (isServiceError(error, 'CONFIG_INVALID')) return error.message
    throw error
  }
  return ''
}

const warningsOf = (sketch: Sketch) =>
  folderWith(sketch)
    .load()
    .warnings.map(({ message }) => message)

describe('a set of loaders for Secure Boot', () => {
  it('is known by its name and its folder; a stream names it', () => {
    const folder = folderWith({})
    const { config, warnings } = folder.load()
    expect(config.boot.loaders.sets).toEqual(new Map([['fedora', join(folder.path, 'loaders')]]))
    expect(config.streams.get('s')?.loaderSet).toBe('fedora')
    expect(warnings).toEqual([])
  })

  it.each([
    [
      'is not there',
      { stream: 'loaderSet: fedoar' },
      'streams.s.loaderSet: there is no loader set "fedoar" (did you mean "fedora"?)',
    ],
    ['holds no GRUB', { files: { 'shimx64.efi': makeShim() } }, 'shimx64.efi has no grubx64.efi beside it'],
    [
      'is of two signers',
      {
        files: {
          ...good,
          'shimx64.efi': makeShim({ sections: { '.vendor_cert': vendorSection(testSigner) } }),
          'grubx64.efi': makeGrub({ certificates: Buffer.alloc(0) }),
        },
      },
      'grubx64.efi is not signed',
    ],
    [
      'is for another architecture (field case 14)',
      { files: { ...good, 'shimx64.efi': makeShim({ machine: 0xaa64 }) } },
      'its PE machine is AA64 (efi-arm64), efi-x64 needs 8664',
    ],
    [
      'lacks an architecture that the stream is followed for',
      { stream: 'loaderSet: fedora, architectures: [x86_64, aarch64]' },
      'loader set fedora has no shimaa64.efi, and this stream is followed for aarch64',
    ],
    [
      'has a name that TFTP reads otherwise',
      { set: 'grub', stream: 'loaderSet: grub' },
      'loaders ask for other things',
    ],
    [
      'has the name of a serial number',
      { set: '9ffefdef', stream: 'keep: 1' },
      'loaders ask for other things',
    ],
  ])('that a stream names and that %s is a mistake with its reason', (_name, sketch, message) => {
    expect(mistakesOf(sketch)).toContain(message)
  })

  it('that nobody names is only warned about', () => {
    expect(warningsOf({ files: {}, stream: 'keep: 1' }).join()).toContain('it holds no shim and no GRUB')
  })

  it('warns of a port that some builds of GRUB ignore (field case 98)', () => {
    expect(warningsOf({ boot: 'address: 192.0.2.10:8080' })).toEqual([
      'some builds of GRUB ask port 80, whatever they are told, and nodes fetch from port 8080',
    ])
  })

  it.each([
    ['2.06-13+deb12u1', true],
    ['2.12-9', false],
    ['2.14', false],
    ['3.0', false],
    ['unknown', false],
  ])(
    'with GRUB %s beside the DHCP server of a site: warned about %s (field case 31)',
    (version, isWarned) => {
      const files = { ...good, 'grubx64.efi': makeGrub({ version }) }
      const boot = 'dhcp: { mode: proxy, interface: eth1 }\n  tftp: {}'
      expect(warningsOf({ files, boot }).some((text) => text.includes('asks that server'))).toBe(isWarned)
      expect(warningsOf({ files })).toEqual([])
    },
  )

  it('that changes on disk is another configuration', () => {
    const folder = folderWith({})
    const before = folder.load()
    const loaders = join(folder.path, 'loaders')
    expect(before.files).toEqual(expect.arrayContaining([loaders, join(loaders, 'grubx64.efi')]))
    expect(folder.load().digest).toBe(before.digest)
    folder.write('loaders/grubx64.efi', makeGrub({ version: '2.14' }))
    expect(folder.load().digest).not.toBe(before.digest)
  })
})

describe('secureBoot (field case 125)', () => {
  const host = (settings: string) =>
    `version: 1\nhosts: [{ id: a, macs: ['52:54:00:00:00:01'], ${settings} }]\n`

  it('is a setting of hosts, groups and profiles', () => {
    const { inventory } = folderWith({
      hosts: host('stream: s, secureBoot: true'),
      more: 'profiles: { p: { stream: s, mode: live, secureBoot: true } }\ngroups: { g: { match: { labels: { a: b } }, secureBoot: false } }',
    }).load()
    expect(inventory.hostsById.get('a')?.secureBoot).toBe(true)
    expect(inventory.profiles.get('p')?.secureBoot).toBe(true)
    expect(inventory.groups[0]?.secureBoot).toBe(false)
  })

  it('needs a shim: of its own stream, or of the stream of its profile', () => {
    const message = 'stream "s" names no loaderSet, so there is no shim that starts its kernels'
    expect(mistakesOf({ stream: 'keep: 1', hosts: host('stream: s, secureBoot: true') })).toContain(
      `hosts[0].secureBoot: ${message}`,
    )
    const more = 'profiles: { p: { stream: s, mode: live } }'
    expect(mistakesOf({ stream: 'keep: 1', hosts: host('profile: p, secureBoot: true'), more })).toContain(
      message,
    )
    expect(mistakesOf({ hosts: host('profile: p, secureBoot: true'), more })).toBe('')
  })

  it('is true or false', () => {
    expect(mistakesOf({ hosts: host('secureBoot: maybe') })).toContain(
      'found "maybe", allowed: true or false',
    )
  })
})
