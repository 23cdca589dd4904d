import { describe, expect, it } from 'vitest'
import type { BootDecision } from '../../src/core/boot-decision.ts'
import type { BootimageState, PendingChange } from '../../src/core/bootimage-state.ts'
import type { Catalog } from '../../src/core/catalog.ts'
import type { BootClient } from '../../src/core/client.ts'
import { type BootView, decideBoot } from '../../src/core/decide-boot.ts'
import type { InstallRecord } from '../../src/core/fleet.ts'
import { createFleetIndex } from '../../src/core/fleet-index.ts'
import type { BootSettings, Host, UnknownPolicy } from '../../src/core/host.ts'
import { armInstall, endInstall, installServed } from '../../src/core/install.ts'
import { type ReasonCode, reasonText } from '../../src/core/reason.ts'
import { runTimeLayer } from '../../src/core/run-time-settings.ts'
import { makeBootimage, sha256Of } from '../fakes/bootimages.ts'
import { type CatalogSketch, makeCatalog, readOnce, servedFile, status } from '../fakes/catalogs.ts'
import {
  mac,
  makeClient,
  makeGroup,
  makeHost,
  makeInventory,
  makeProfile,
  nodeMac,
} from '../fakes/machines.ts'

const now = Date.parse('2026-11-29T12:00:00Z')
const current = makeBootimage({ release: '44.20260707.3.1' })
const older = makeBootimage({ release: '43.20260601.3.0' })
const legacy = makeBootimage({ release: '45.81.1', kind: 'legacy-installer' })

/** Every code that some decision of this file gave, to see that none is unreachable. */
const seenReasons = new Set<ReasonCode>()
const seenKinds = new Set<BootDecision['kind']>()

function decide(client: BootClient, view: BootView): BootDecision {
  const decision = decideBoot(client, view)
  for (const { code } of decision.reasons) seenReasons.add(code)
  seenKinds.add(decision.kind)
  for (const entry of decision.reasons) expect(reasonText(entry)).not.toContain('?')
  return decision
}

interface Situation {
  readonly host?: Partial<Host>
  readonly profile?: BootSettings
  readonly client?: Partial<BootClient>
  readonly catalog?: CatalogSketch | Catalog
  readonly unknown?: UnknownPolicy
  readonly installs?: readonly InstallRecord[]
}

const worker: BootSettings = { stream: 'fcos-stable', mode: 'live' }

/** A known host in profile `worker`, which lives from the stream's current bootimage unless the situation differs. */
function decideIn(situation: Situation = {}): BootDecision {
  const { catalog = { current }, unknown } = situation
  const inventory = makeInventory({
    hosts: [makeHost({ profile: 'worker', ...situation.host })],
    profiles: [makeProfile({ name: 'worker', ...worker, ...situation.profile })],
    unknown,
  })
  return decide(makeClient(situation.client), {
    catalog: 'revision' in catalog ? catalog : makeCatalog(catalog),
    inventory: {
      ...inventory,
      installs: new Map(situation.installs?.map((record) => [record.host, record])),
    },
    now,
  })
}

function codes(decision: BootDecision): readonly ReasonCode[] {
  return decision.reasons.map(({ code }) => code)
}

const stranger: Partial<BootClient> = { macs: [mac('52:54:00:00:00:99')] }

describe('a known host that follows its stream', () => {
  it('boots what is current, and says why (G10)', () => {
    expect(decideIn()).toMatchObject({
      kind: 'live',
      bootimage: current,
      arch: 'x86_64',
      host: { id: 'n01' },
      reasons: [
        { code: 'follows-current', facts: { stream: 'fcos-stable', release: '44.20260707.3.1' } },
        { code: 'host-matched-by-mac', facts: { host: 'n01', mac: '52:54:00:ab:cd:ef' } },
      ],
      parameters: { kernelArguments: [], platformId: 'metal', rootfs: 'url', extraInitrds: [] },
    })
  })

  it('names the groups that select it', () => {
    const inventory = makeInventory({
      hosts: [makeHost({ labels: { site: 'edge' } })],
      groups: [makeGroup({ name: 'edge', labels: { site: 'edge' }, ...worker })],
    })
    const decision = decide(makeClient(), { catalog: makeCatalog({ current }), inventory, now })
    expect(codes(decision)).toEqual(['follows-current', 'host-matched-by-mac', 'group-matched'])
  })

  it.each(['confirm', 'hold'] as const)('keeps its current while a change waits (%s) (G9)', (policy) => {
    const pending: PendingChange = { change: 'rolled-back', seen: 1, firstSeenAt: now, policy }
    const decision = decideIn({ catalog: { current, pending } })
    expect(decision).toMatchObject({ kind: 'live', bootimage: current })
    expect(codes(decision)).toContain('change-pending')
  })

  it('keeps its current while the next one is fetched or has failed (G3, G4)', () => {
    for (const state of ['queued', 'downloading', 'failed'] as const) {
      const decision = decideIn({
        catalog: { current: older, target: status(current, state) },
      })
      expect(decision).toMatchObject({ kind: 'live', bootimage: older })
    }
  })
})

describe('a stream that has nothing ready', () => {
  it.each<[BootimageState, ReasonCode]>([
    ['queued', 'current-being-fetched'],
    ['downloading', 'current-being-fetched'],
    ['verifying', 'current-being-fetched'],
    ['pending-signature', 'current-unsigned'],
    ['failed', 'current-fetch-failed'],
    ['held', 'current-held'],
  ])('first bootimage %s: waits, %s', (state, code) => {
    const failure = { code: 'ARTIFACT_UNAVAILABLE', message: 'no location delivered it', at: now }
    const decision = decideIn({ catalog: { target: status(current, state, failure) } })
    expect(decision).toMatchObject({
      kind: 'wait',
      wanted: { stream: 'fcos-stable', arch: 'x86_64', release: current.release },
      reasons: [{ code }, { code: 'host-matched-by-mac' }],
    })
  })

  it('a current one whose file failed a check is waited for, not refused', () => {
    const decision = decideIn({ catalog: { releases: [status(older, 'known'), status(current, 'queued')] } })
    expect(decision).toMatchObject({ kind: 'wait', wanted: { release: current.release } })
    expect(codes(decision)[0]).toBe('current-being-fetched')
  })

  it('never read: waits and says what the source answers', () => {
    const health = { problems: [], error: { code: 'UPSTREAM_UNREACHABLE', message: 'connection refused' } }
    const decision = decideIn({ catalog: { health } })
    expect(decision).toMatchObject({ kind: 'wait', wanted: { stream: 'fcos-stable', arch: 'x86_64' } })
    expect(decision.reasons[0]).toMatchObject({
      code: 'stream-never-read',
      facts: { error: 'connection refused' },
    })
  })

  it('a first document that is not followed yet: waits', () => {
    const pending: PendingChange = { change: 'first', seen: 1, firstSeenAt: now, policy: 'hold' }
    expect(decideIn({ catalog: { pending } })).toMatchObject({
      kind: 'wait',
      reasons: [{ code: 'change-pending' }, {}],
    })
  })

  it('a document without this architecture: refused', () => {
    const decision = decideIn({ catalog: {} })
    expect(decision.kind).toBe('hold')
    expect(codes(decision)[0]).toBe('arch-not-in-stream')
  })

  it('G11 a document whose part for this architecture is broken: waits, because the next one may mend it', () => {
    const problem = { arch: 'x86_64', message: 'initramfs has no sha256' } as const
    const decision = decideIn({ catalog: { health: { ...readOnce, problems: [problem] } } })
    expect(decision).toMatchObject({ kind: 'wait', wanted: { stream: 'fcos-stable', arch: 'x86_64' } })
    expect(decision.reasons[0]).toMatchObject({
      code: 'arch-unusable',
      facts: { error: 'initramfs has no sha256' },
    })
  })

  it('G10 a broken part behind what is current is told, and stops nothing', () => {
    const problem = { arch: 'x86_64', message: 'initramfs has no sha256' } as const
    const decision = decideIn({ catalog: { current, health: { ...readOnce, problems: [problem] } } })
    expect(decision.kind).toBe('live')
    expect(codes(decision).slice(0, 2)).toEqual(['follows-current', 'arch-unusable'])
  })
})

describe('a current bootimage that is not whole any more', () => {
  it('G4 boots what stands in for it, and says why', () => {
    const catalog = { damaged: status(current, 'queued'), standIn: older, releases: [status(older)] }
    const decision = decideIn({ catalog })
    expect(decision).toMatchObject({ kind: 'live', bootimage: older })
    expect(codes(decision).slice(0, 2)).toEqual(['follows-previous', 'current-damaged'])
    expect(decision.reasons[1]?.facts).toMatchObject({ release: current.release, progress: 'under way' })
  })

  it('G11 is waited for without a stand-in, with what keeps it from coming back', () => {
    const failure = { code: 'ARTIFACT_UNAVAILABLE', message: 'nothing answered', at: now }
    const damaged = status(current, 'failed', failure)
    const decision = decideIn({ catalog: { damaged, target: damaged } })
    expect(decision).toMatchObject({ kind: 'wait', wanted: { release: current.release } })
    expect(codes(decision).filter((code) => code.startsWith('current-'))).toEqual(['current-damaged'])
    expect(decision.reasons[0].facts).toMatchObject({ progress: 'nothing answered' })
  })

  it('G1 is said to wait for a signature where that is what it lacks', () => {
    const failure = { code: 'SIGNATURE_MISSING', message: 'none is there', at: now }
    const damaged = status(current, 'pending-signature', failure)
    expect(codes(decideIn({ catalog: { damaged, target: damaged } }))[0]).toBe('current-unsigned')
    const standing = { damaged, standIn: older, releases: [status(older)] }
    expect(codes(decideIn({ catalog: standing })).slice(0, 2)).toEqual([
      'follows-previous',
      'current-unsigned',
    ])
  })

  it('G11 with a newer target on its way, tells of both', () => {
    const catalog = { damaged: status(older, 'queued'), target: status(current, 'downloading') }
    const decision = decideIn({ catalog })
    expect(decision).toMatchObject({ kind: 'wait', wanted: { release: current.release } })
    expect(codes(decision).slice(0, 2)).toEqual(['current-being-fetched', 'current-damaged'])
  })
})

describe('a pinned host (G5)', () => {
  const pin = { release: older.release, reason: 'NIC regression' }

  it('G5 boots exactly that release when it is ready', () => {
    const decision = decideIn({ host: { pins: [pin] }, catalog: { current, releases: [status(older)] } })
    expect(decision).toMatchObject({ kind: 'live', bootimage: older, pin: { value: pin } })
    expect(decision.reasons[0]).toEqual({
      code: 'pinned',
      facts: { release: older.release, origin: 'host n01 (hosts.d/rack1.yaml:3): NIC regression' },
    })
  })

  it.each<[BootimageState, ReasonCode]>([
    ['known', 'pin-being-fetched'],
    ['queued', 'pin-being-fetched'],
    ['downloading', 'pin-being-fetched'],
    ['verifying', 'pin-being-fetched'],
    ['pending-signature', 'pin-unsigned'],
    ['failed', 'pin-fetch-failed'],
    ['held', 'pin-held'],
  ])('G5 whose release is %s waits: %s', (state, code) => {
    const decision = decideIn({
      host: { pins: [pin] },
      catalog: { current, releases: [status(older, state)] },
    })
    expect(decision).toMatchObject({
      kind: 'wait',
      wanted: { stream: 'fcos-stable', arch: 'x86_64', release: older.release },
    })
    expect(codes(decision).slice(0, 2)).toEqual([code, 'pinned'])
  })

  it('G5 whose release nobody knows waits, and never gets another one', () => {
    const decision = decideIn({ host: { pins: [{ release: '42.1' }] } })
    expect(decision).toMatchObject({ kind: 'wait', wanted: { release: '42.1' } })
    expect(codes(decision)[0]).toBe('pin-unresolvable')
  })

  it('G5 is not satisfied by a snapshot that files another release under the pinned name', () => {
    const catalog = makeCatalog({ current, releases: [status({ ...older, release: '42.1' })] })
    const misfiled = catalog.streams.get('fcos-stable')?.byArch.get('x86_64')?.releases.get('42.1')
    Object.assign(misfiled?.bootimage ?? {}, { release: older.release })
    const decision = decideIn({ host: { pins: [{ release: '42.1' }] }, catalog })
    expect(codes(decision)[0]).toBe('pin-unresolvable')
  })

  it('G3 whose set lost a file waits although its record says ready', () => {
    const catalog = { ...makeCatalog({ current, releases: [status(older)] }), ready: new Map() }
    expect(codes(decideIn({ host: { pins: [pin] }, catalog }))[0]).toBe('pin-being-fetched')
  })

  it('whose pin is over follows the stream and is told so', () => {
    const decision = decideIn({ host: { pins: [{ ...pin, until: now }] } })
    expect(decision).toMatchObject({ kind: 'live', bootimage: current, pin: undefined })
    expect(codes(decision)).toEqual(['follows-current', 'host-matched-by-mac', 'pin-expired'])
  })

  it('of an architecture that is no longer followed still boots', () => {
    const catalog: CatalogSketch = { architectures: ['aarch64'], releases: [status(older)] }
    expect(decideIn({ host: { pins: [pin] }, catalog })).toMatchObject({ kind: 'live', bootimage: older })
  })

  it('of a stream that was never read says both', () => {
    const decision = decideIn({
      host: { pins: [{ release: '42.1' }] },
      catalog: { health: { problems: [] } },
    })
    expect(codes(decision)).toEqual([
      'pin-unresolvable',
      'pinned',
      'stream-never-read',
      'host-matched-by-mac',
    ])
  })
})

describe('modes', () => {
  it('hold is shown with who asked for it', () => {
    const decision = decideIn({ host: { mode: 'hold', holdReason: 'disk is being replaced' } })
    expect(decision).toMatchObject({ kind: 'hold', method: 'exit 1' })
    expect(reasonText(decision.reasons[0])).toBe(
      'held by an admin: disk is being replaced, by host n01 (hosts.d/rack1.yaml:3)',
    )
  })

  it('hold that was set at run time gives its reason once', () => {
    const target = { kind: 'host', name: 'n01' } as const
    const setting = { kind: 'mode', mode: 'hold', target, by: 'bob', at: 1, reason: 'fan broken' } as const
    const runTime = {
      byHost: new Map([['n01', [runTimeLayer(setting)]]]),
      byGroup: new Map(),
      byMac: new Map(),
    }
    const inventory = { ...makeInventory({ hosts: [makeHost({ mode: 'live' })] }), runTime }
    const { reasons } = decideBoot(makeClient(), { catalog: makeCatalog({}), inventory, now: 0 })
    expect(reasonText(reasons[0])).toBe(
      'held by an admin: fan broken, by host n01, set by bob at 1970-01-01T00:00:00.001Z',
    )
  })

  it('local leaves by the configured method', () => {
    const decision = decideIn({ host: { mode: 'local', localBoot: 'http-404' } })
    expect(decision).toMatchObject({
      kind: 'local',
      method: 'http-404',
      reasons: [{ code: 'mode-local' }, {}],
    })
  })

  it('install by a file is armed, and names device, generation and who says so', () => {
    const host = { mode: 'install', install: { device: '/dev/sda', generation: 2 } } as const
    const decision = decideIn({ host })
    expect(decision).toMatchObject({ kind: 'install', bootimage: current, device: '/dev/sda', generation: 2 })
    expect(codes(decision)).toEqual(['follows-current', 'install-armed', 'host-matched-by-mac'])
    expect(reasonText(decision.reasons[1] ?? decision.reasons[0])).toBe(
      'install generation 2 to /dev/sda is armed by host n01 (hosts.d/rack1.yaml:3)',
    )
  })

  it('install without a device is refused', () => {
    expect(codes(decideIn({ host: { mode: 'install' } }))[0]).toBe('install-device-missing')
  })

  it('no mode at all is refused', () => {
    expect(codes(decideIn({ profile: { mode: undefined } }))[0]).toBe('mode-not-set')
  })
})

describe('the legacy installer', () => {
  it('cannot run live', () => {
    expect(codes(decideIn({ catalog: { current: legacy } }))[0]).toBe('legacy-installer-not-live')
  })

  it('installs when it is armed', () => {
    const host = { mode: 'install', install: { device: 'sda' } } as const
    const decision = decideIn({ host, catalog: { current: legacy } })
    expect(decision).toMatchObject({ kind: 'install', bootimage: legacy })
  })

  it('without an image for this firmware is refused', () => {
    const disks = legacy.disks.map((disk) => ({ ...disk, variant: 'metal-uefi' }))
    const host = { mode: 'install', install: { device: 'sda' } } as const
    const situation = { host, catalog: { current: { ...legacy, disks } } }
    expect(codes(decideIn({ ...situation, client: { firmware: 'bios' } }))[0]).toBe('install-image-missing')
    expect(decideIn({ ...situation, client: { firmware: 'uefi' } }).kind).toBe('install')
  })
})

describe('unknown machines', () => {
  it('are ignored unless configured otherwise', () => {
    const decision = decideIn({ client: stranger })
    expect(decision.kind).toBe('ignore')
    expect(decision.host).toBeUndefined()
    expect(codes(decision)).toEqual(['unknown-ignored', 'host-unknown'])
  })

  it('are held where a host that had their MAC was held, whatever becomes of strangers (DESIGN §2)', () => {
    const index = createFleetIndex()
    index.takeFiles({ hosts: [], groups: [], profiles: [], unknown: { kind: 'ignore' } })
    const target = { kind: 'host', name: 'gone' } as const
    index.putSetting({
      kind: 'mode',
      mode: 'hold',
      target,
      by: 'bob',
      at: 0,
      reason: 'smoke',
      macs: [nodeMac],
    })
    const view = { catalog: makeCatalog({ current }), inventory: index.inventory(), now }
    expect(decide(makeClient(), view)).toMatchObject({
      kind: 'hold',
      reasons: [{ code: 'mode-hold', facts: { why: expect.stringContaining('smoke') } }, {}, {}],
    })
    expect(decide(makeClient(stranger), view).kind).toBe('ignore')
  })

  it('that say nothing of themselves are told apart', () => {
    expect(codes(decideIn({ client: { macs: [] } }))).toEqual(['unknown-ignored', 'client-unidentified'])
  })

  it('get the profile they are given', () => {
    const decision = decideIn({ client: stranger, unknown: { kind: 'profile', profile: 'worker' } })
    expect(decision).toMatchObject({ kind: 'live', bootimage: current, host: undefined })
    expect(codes(decision)).toEqual(['follows-current', 'unknown-gets-profile', 'host-unknown'])
  })

  it('are never installed', () => {
    const decision = decideIn({
      client: stranger,
      unknown: { kind: 'profile', profile: 'worker' },
      profile: { mode: 'install', install: { device: '/dev/sda' } },
    })
    expect(decision.kind).toBe('hold')
    expect(codes(decision)[0]).toBe('unknown-never-installs')
  })
})

describe('an install', () => {
  const armed = armInstall(undefined, 1, { host: 'n01', by: 'alice', at: now - 1000, device: '/dev/vda' })

  it('that an admin armed stands above the mode of the record, and says by whom', () => {
    const decision = decideIn({ installs: [armed] })
    expect(decision).toMatchObject({ kind: 'install', device: '/dev/vda', generation: 1 })
    expect(reasonText(decision.reasons[1] ?? decision.reasons[0])).toBe(
      'install generation 1 to /dev/vda is armed by alice at 2026-11-29T11:59:59.000Z',
    )
  })

  it.each([
    ['that is done', endInstall(armed, { as: 'installed', by: 'bob', at: now }), 'install-done'],
    ['whose scripts are used up', { ...armed, serves: 5 }, 'install-exhausted'],
    ['whose time is over', { ...armed, until: now }, 'install-exhausted'],
  ] as const)('%s lets the machine boot from its disk and says so (field case 154)', (_, record, code) => {
    const decision = decideIn({ installs: [record] })
    expect(decision).toMatchObject({ kind: 'local', reasons: [{ code }, {}] })
  })

  it('that was armed by a file and given up leaves by the disk as well, whatever its mode says', () => {
    const host = { mode: 'install', install: { device: '/dev/sda' } } as const
    const record = endInstall({ ...armed, source: 'file' }, { as: 'disarmed', by: 'bob', at: now })
    expect(decideIn({ host, installs: [record] })).toMatchObject({
      kind: 'local',
      reasons: [{ code: 'install-disarmed' }, {}],
    })
  })

  it('is not used up by being served (field case 153)', () => {
    expect(decideIn({ installs: [installServed(armed)] }).kind).toBe('install')
  })

  it('does not stand above hold', () => {
    expect(decideIn({ host: { mode: 'hold' }, installs: [armed] }).kind).toBe('hold')
  })
})

describe('what is missing or wrong is refused with its name', () => {
  it('a profile that does not exist', () => {
    expect(codes(decideIn({ host: { profile: 'gone' } }))[0]).toBe('profile-missing')
  })

  it('no stream', () => {
    expect(codes(decideIn({ profile: { stream: undefined } }))[0]).toBe('stream-not-set')
  })

  it('a stream that is not configured', () => {
    expect(codes(decideIn({ host: { stream: 'rhcos' } }))[0]).toBe('stream-not-configured')
  })

  it('no architecture', () => {
    expect(codes(decideIn({ client: { arch: undefined } }))[0]).toBe('arch-unknown')
  })

  it('an architecture that the stream does not follow', () => {
    const decision = decideIn({ client: { arch: 's390x' } })
    expect(codes(decision)[0]).toBe('arch-not-followed')
    expect(decision.arch).toBe('s390x')
  })

  it.each([
    ['initrd=evil', 'the service sets it itself'],
    ['coreos.inst.install_dev=/dev/sda', 'the service sets it itself'],
    ['coreos.live.rootfs_url=http://elsewhere/rootfs', 'the service sets it itself'],
    ['a b', 'blank'],
    ['${netX/mac}', 'expand'],
  ])('kernel argument %j', (argument, problem) => {
    const decision = decideIn({ profile: { kernelArguments: ['quiet', argument] } })
    expect(decision.kind).toBe('hold')
    expect(reasonText(decision.reasons[0])).toContain(problem)
    expect(codes(decision)[0]).toBe('kernel-argument-invalid')
  })

  it('an Ignition URL that the live system or the installer cannot fetch', () => {
    const ignition = { url: 'tftp://192.0.2.10/worker.ign' }
    expect(decideIn({ profile: { ignition } }).kind).toBe('live')
    const host = { mode: 'install', install: { device: '/dev/sda' } } as const
    const install = decideIn({ host, profile: { ignition } })
    expect(codes(install)[0]).toBe('kernel-argument-invalid')
    expect(codes(decideIn({ profile: { ignition: { url: 'ftp://x/y' } } }))[0]).toBe(
      'kernel-argument-invalid',
    )
  })

  it('a platform id or a device that no command line can carry', () => {
    expect(codes(decideIn({ profile: { platformId: 'a b' } }))[0]).toBe('kernel-argument-invalid')
    const host = { mode: 'install', install: { device: '/dev/sda x' } } as const
    expect(codes(decideIn({ host }))[0]).toBe('kernel-argument-invalid')
  })

  it('an extra initrd that is not in the store', () => {
    const extra = { path: '/etc/pilotlight/extra.cpio', sha256: sha256Of('extra') }
    const decision = decideIn({ profile: { extraInitrds: [extra] } })
    expect(decision).toMatchObject({ kind: 'wait', wanted: { release: current.release } })
    expect(codes(decision)[0]).toBe('extra-initrd-missing')
    const files = [servedFile({ sha256: extra.sha256, name: 'extra.cpio', role: 'initramfs' })]
    expect(decideIn({ profile: { extraInitrds: [extra] }, catalog: { current, files } }).kind).toBe('live')
  })
})

describe('architecture', () => {
  const arm = makeBootimage({ arch: 'aarch64' })
  const catalog: CatalogSketch = { arch: 'aarch64', current: arm }

  it('of the host record stands above what the machine says', () => {
    expect(decideIn({ host: { arch: 'aarch64' }, catalog })).toMatchObject({ kind: 'live', bootimage: arm })
  })

  it('of a Raspberry Pi that calls itself an x86 BIOS is aarch64 (field case 45)', () => {
    const pi = mac('dc:a6:32:00:00:01')
    const decision = decideIn({
      host: { macs: [pi] },
      client: { macs: [pi], arch: 'x86_64', firmware: 'bios' },
      catalog,
    })
    expect(decision).toMatchObject({ kind: 'live', bootimage: arm, arch: 'aarch64' })
    expect(codes(decision)).toContain('arch-of-raspberry-pi')
  })
})

describe('one-shots', () => {
  it('stand above the host', () => {
    const inventory = makeInventory({ hosts: [makeHost({ ...worker, pins: [{ release: older.release }] })] })
    const oneShots = new Map([
      [
        'n01',
        {
          settings: { pins: [{ release: current.release }] },
          origin: { kind: 'one-shot', name: 'n01', by: 'alice' },
        } as const,
      ],
    ])
    const catalog = makeCatalog({ current, releases: [status(older)] })
    expect(decide(makeClient(), { catalog, inventory, now, oneShots })).toMatchObject({
      kind: 'live',
      bootimage: current,
    })
    expect(decide(makeClient(), { catalog, inventory, now })).toMatchObject({
      kind: 'live',
      bootimage: older,
    })
  })
})

describe('the closed set', () => {
  it('every reason and every kind that this function decides was given above', async () => {
    const { reasonTexts } = await import('../../src/core/reason.ts')
    seenReasons.add(codesByOtherMarks())
    // Those of an address are decided by who else asks as the same machine, which is not in a view.
    const decidedHere = Object.keys(reasonTexts).filter((code) => !code.startsWith('address-'))
    const unseen = decidedHere.filter((code) => !seenReasons.has(code as ReasonCode))
    expect(unseen).toEqual([])
    expect([...seenKinds].sort()).toEqual(['hold', 'ignore', 'install', 'live', 'local', 'wait'])
  })

  /** UUID and serial matches, which the tests of matching show in full. */
  function codesByOtherMarks(): ReasonCode {
    const serial = 'SN-1'
    const host = makeHost({ serial, ...worker })
    const view = { catalog: makeCatalog({ current }), inventory: makeInventory({ hosts: [host] }), now }
    decide(makeClient({ macs: [], serial }), view)
    const uuid = '00112233-4455-6677-8899-aabbccddeeff' as Host['uuid']
    const byUuid = makeInventory({ hosts: [makeHost({ uuid, ...worker })] })
    return codes(decide(makeClient({ macs: [], uuid }), { ...view, inventory: byUuid }))[1] ?? 'host-unknown'
  }
})
