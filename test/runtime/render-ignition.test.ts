import { describe, expect, it } from 'vitest'
import type { TokenPurpose, TokenSubject } from '../../src/boot/boot-tokens.ts'
import type { BootimageId } from '../../src/core/bootimage.ts'
import type { Sha256 } from '../../src/core/digest.ts'
import type { Host, InventoryParts } from '../../src/core/host.ts'
import { createRenderIgnition } from '../../src/runtime/render-ignition.ts'
import { makeHost, makeInventory, makeProfile, nodeMac } from '../fakes/machines.ts'
import { createRecordingLog } from '../fakes/recording-log.ts'
import { bootId } from '../fakes/scripts.ts'

const file = '/etc/pilotlight/worker.ign'
const own = '{"ignition":{"version":"3.0.0"},"x":"{{ release }} {{ arch }} {{ mac }} {{ host_name }}"}'
const n01: TokenSubject = { kind: 'host', id: 'n01' }
const reportFiles = { script: 'script', unit: 'run @statuses@', installer: 'installer' }

interface Asked {
  readonly host?: Partial<Host>
  readonly inventory?: Partial<InventoryParts>
  readonly subject?: TokenSubject
  readonly purpose?: TokenPurpose
  readonly texts?: ReadonlyMap<string, string>
}

function render({
  host = {},
  inventory,
  subject = n01,
  purpose = 'live',
  texts = new Map([[file, own]]),
}: Asked) {
  const hosts = makeInventory(inventory ?? { hosts: [makeHost({ mode: 'live', stream: 's', ...host })] })
  const bootimage = 's/x86_64/44.1/0123456789abcdef' as BootimageId
  const renderIgnition = createRenderIgnition({
    inventory: () => hosts,
    texts: () => texts,
    leases: {
      attemptOf: () => ({ bootId, mac: nodeMac, bootimage, startedAt: 0, lastSeenAt: 0 }),
    },
    reportFiles,
    clock: { now: () => 0 },
    log: createRecordingLog(),
  })
  const claims = { purpose, subject, bootId, issuedAt: 0, lifeMs: 1 }
  return renderIgnition({ claims, baseUrl: 'http://192.0.2.10', reportToken: 'x' })
}

describe('the config that a machine gets', () => {
  it('alone has its variables filled in from the boot that fetches it', () => {
    expect(render({ host: { ignition: { file }, report: false, hostName: 'node.example' } })).toBe(
      `{"ignition":{"version":"3.0.0"},"x":"44.1 x86_64 ${nodeMac} node.example"}`,
    )
    const inline = '{"ignition":{"version":"3.0.0"},"x":"{{"}'
    expect(render({ host: { ignition: { inline, template: false }, report: false } })).toBe(inline)
  })

  it.each<[TokenPurpose, string]>([
    ['live', 'run booted'],
    ['installed', 'run installed booted'],
    ['legacy', 'run installed booted'],
  ])('for a %s system reports %s', (purpose, contents) => {
    const { systemd } = JSON.parse(render({ host: { ignition: { file } }, purpose }) ?? '')
    expect(systemd.units[0].contents).toBe(contents)
  })

  it('without one of its own is ours alone, in the version that its release reads', () => {
    const version = (purpose: TokenPurpose) =>
      JSON.parse(render({ host: { report: true }, purpose }) ?? '').ignition
    expect(version('live')).toEqual({ version: '3.0.0' })
    expect(version('legacy')).toEqual({ version: '2.2.0' })
  })

  it('of an unknown machine is that of its profile, and no host of the same MAC is taken for it', () => {
    const profile = makeProfile({ name: 'p', mode: 'live', report: false, ignition: { file } })
    const unknown = { kind: 'profile', profile: 'p' } as const
    const hosts = [makeHost({ mode: 'live', ignition: { inline: '{"ignition":{"version":"3.1.0"}}' } })]
    const inventory = { hosts, profiles: [profile], unknown }
    const subject: TokenSubject = { kind: 'mac', mac: nodeMac }
    expect(render({ inventory, subject })).toContain(`44.1 x86_64 ${nodeMac} "`)
    expect(render({ inventory: { ...inventory, unknown: { kind: 'ignore' } }, subject })).toBeUndefined()
  })
})

describe('the system that installs', () => {
  it.each<[string, Asked['host']]>([
    ['the installed one gets a file', { ignition: { file } }],
    ["the installed one gets an admin's own URL, as it is", { ignition: { url: 'http://x/y' } }],
    ['the installed one gets none', {}],
  ])('reports how it went: %s (field case 154)', (_, host) => {
    expect(render({ host, purpose: 'installer' })).toContain('50-pilotlight-report.conf')
  })
})

describe('there is none', () => {
  it.each<[string, Asked]>([
    ['for a host that is held', { host: { mode: 'hold', ignition: { file } } }],
    ['for a host that is gone', { subject: { kind: 'host', id: 'n02' } }],
    ['for a host without a config', {}],
    ["where an admin's own URL goes out as it is", { host: { ignition: { url: 'http://x/y' } } }],
    [
      'for an installer that does not report',
      { host: { ignition: { file }, report: false }, purpose: 'installer' },
    ],
    [
      "for an installer that brings an admin's initrd",
      {
        host: { extraInitrds: [{ path: '/x.cpio', sha256: 'a'.repeat(64) as Sha256 }] },
        purpose: 'installer',
      },
    ],
  ])('%s', (_, asked) => {
    expect(render(asked)).toBeUndefined()
  })

  it('where it cannot be made, and the error names config and lack', () => {
    const inline = '{"ignition":{"version":"3.0.0"},"x":"{{ labels.rack }}"}'
    expect(() => render({ host: { ignition: { inline } } })).toThrow(
      /in its record cannot be filled in: .*labels\.rack/,
    )
    expect(() => render({ host: { ignition: { file } }, texts: new Map() })).toThrow(
      `${file} is not a good one`,
    )
  })
})
