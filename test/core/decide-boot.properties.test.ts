import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Arch, architectures } from '../../src/core/arch.ts'
import { type BootimageState, bootimageStates } from '../../src/core/bootimage-state.ts'
import type { BootClient } from '../../src/core/client.ts'
import { type BootView, decideBoot } from '../../src/core/decide-boot.ts'
import { decidingReasons } from '../../src/core/deciding-reasons.ts'
import { type InstallRecord, installStates, type RunTimeSetting } from '../../src/core/fleet.ts'
import { createFleetIndex } from '../../src/core/fleet-index.ts'
import { type BootSettings, bootModes, type Host, localBootMethods } from '../../src/core/host.ts'
import { armInstall } from '../../src/core/install.ts'
import { reasonTexts } from '../../src/core/reason.ts'
import { makeBootimage } from '../fakes/bootimages.ts'
import { makeCatalog, status } from '../fakes/catalogs.ts'
import { mac, makeGroup, makeHost, makeProfile } from '../fakes/machines.ts'

const now = 1_000_000
const streams = ['fcos-stable', 'rhcos'] as const
const releases = ['43.1', '44.1', '44.2'] as const
const macs = [mac('52:54:00:00:00:01'), mac('52:54:00:00:00:02'), mac('dc:a6:32:00:00:03')]
const run = { numRuns: Number(process.env.SOAK ? 20_000 : 1000) }

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
/** Mostly what leads to a boot, sometimes anything: a property about boots must see many. */
const mostly = <T>(usual: T, other: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other })

const settings: fc.Arbitrary<BootSettings> = fc.record({
  stream: mostly<string | undefined>('fcos-stable', maybe(fc.constantFrom(...streams, 'unheard-of'))),
  mode: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom('live', 'install', undefined) },
    { weight: 1, arbitrary: fc.constantFrom(...bootModes) },
  ),
  pins: fc.array(
    fc.record({
      release: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...releases) }, fc.string()),
      arch: maybe(fc.constantFrom<Arch>('x86_64', 'aarch64')),
      until: maybe(fc.oneof(fc.constantFrom(now - 1, now, now + 1), fc.double())),
    }),
  ),
  kernelArguments: maybe(fc.array(mostly('quiet', fc.string()), { maxLength: 2 })),
  ignition: maybe(fc.record({ url: maybe(mostly('http://x/y', fc.string())) })),
  install: mostly<BootSettings['install']>(
    { device: '/dev/sda' },
    fc.record({ device: maybe(fc.string()), generation: maybe(fc.nat()) }),
  ),
  localBoot: maybe(fc.constantFrom(...localBootMethods)),
  holdReason: maybe(fc.string()),
  platformId: maybe(mostly('metal', fc.constantFrom('qemu', 'a b'))),
  rootfs: maybe(fc.constantFrom('url', 'initrd')),
})

const arch = mostly<Arch | undefined>('x86_64', maybe(fc.constantFrom<Arch>(...architectures)))

const hosts: fc.Arbitrary<readonly Host[]> = fc.array(
  fc
    .tuple(
      fc.constantFrom(...macs),
      settings,
      arch,
      maybe(mostly('worker', fc.constant('gone'))),
      fc.boolean(),
    )
    .map(([address, said, hostArch, profile, isEdge]) =>
      makeHost({
        id: address,
        macs: [address],
        arch: hostArch,
        profile,
        labels: isEdge ? { site: 'edge' } : {},
        ...said,
      }),
    ),
  { maxLength: 3 },
)

/** Of hosts by their MAC, of the group, and of a host that has gone. */
const runTimeSettings: fc.Arbitrary<readonly RunTimeSetting[]> = fc.array(
  fc
    .tuple(
      fc.oneof(
        fc.constantFrom(...macs, 'gone').map((name) => ({ kind: 'host' as const, name })),
        fc.constant({ kind: 'group' as const, name: 'edge' }),
      ),
      fc.oneof(
        fc.record({ kind: fc.constant('pin' as const), release: fc.constantFrom(...releases) }),
        fc.record({ kind: fc.constant('mode' as const), mode: fc.constantFrom('live', 'local', 'hold') }),
      ),
      maybe(fc.constantFrom(now - 1, now, now + 1)),
    )
    .map(([target, says, until]) => ({ target, ...says, by: 'alice', at: 1, until, macs: macs.slice(0, 1) })),
  { maxLength: 2 },
)

const installs: fc.Arbitrary<readonly InstallRecord[]> = fc.array(
  fc
    .tuple(fc.constantFrom(...macs), fc.constantFrom(...installStates), fc.boolean(), fc.nat({ max: 6 }))
    .map(([host, state, isOfFile, serves]) => ({
      ...armInstall(undefined, 1, { host, by: 'alice', at: now - 5, device: '/dev/sda' }),
      source: isOfFile ? ('file' as const) : ('admin' as const),
      state,
      serves,
    })),
  { maxLength: 2 },
)

const inventory = fc
  .tuple(hosts, settings, settings, fc.boolean(), runTimeSettings, installs)
  .map(([all, groupSays, profileSays, takesStrangers, set, records]) => {
    const index = createFleetIndex()
    index.takeFiles({
      hosts: all,
      groups: [makeGroup({ name: 'edge', labels: { site: 'edge' }, ...groupSays })],
      profiles: [makeProfile({ name: 'worker', ...profileSays })],
      unknown: takesStrangers ? { kind: 'profile', profile: 'worker' } : { kind: 'ignore' },
    })
    for (const setting of set) index.putSetting(setting)
    for (const record of records) index.putInstall(record)
    return index.inventory()
  })

const sketchedImage = fc
  .tuple(
    mostly<string>('fcos-stable', fc.constantFrom(...streams)),
    mostly<Arch>('x86_64', fc.constant('aarch64')),
    fc.constantFrom(...releases),
    mostly('live', fc.constant('legacy-installer')),
  )
  .map(([stream, imageArch, release, kind]) =>
    makeBootimage({ stream, arch: imageArch, release, kind: kind as 'live' }),
  )

/** Snapshots that no correct publisher would make too: bootimages filed under a foreign stream, arch or release. */
const catalog = fc
  .tuple(
    mostly<Arch>('x86_64', fc.constant('aarch64')),
    maybe(sketchedImage),
    maybe(sketchedImage),
    fc.array(
      fc.tuple(
        sketchedImage,
        mostly('ready', fc.constantFrom<BootimageState>(...bootimageStates)),
        fc.boolean(),
      ),
    ),
    fc.boolean(),
  )
  .map(([streamArch, current, target, others, wasRead]) => {
    const made = makeCatalog({
      arch: streamArch,
      current,
      target: target && status(target, 'downloading'),
      releases: others.map(([image, state]) => status(image, state)),
      health: wasRead ? undefined : { problems: [] },
    })
    const entry = made.streams.get('fcos-stable')?.byArch.get(streamArch)
    const misfiled = others.filter(([, , isMisfiled]) => isMisfiled).map(([image]) => status(image))
    const byRelease = new Map(entry?.releases)
    for (const [index, image] of misfiled.entries()) byRelease.set(releases[index % 3] ?? '', image)
    if (entry !== undefined) Object.assign(entry, { releases: byRelease })
    return made
  })

const client: fc.Arbitrary<BootClient> = fc.record({
  macs: fc.array(fc.constantFrom(...macs, mac('52:54:00:99:99:99')), { maxLength: 3 }),
  serial: maybe(fc.string()),
  arch,
  firmware: fc.constantFrom('bios', 'uefi', 'open-firmware', 'unknown'),
  loader: fc.constantFrom('none', 'ipxe', 'grub', 'pxelinux', 'http-boot'),
})

const view: fc.Arbitrary<BootView> = fc.record({
  catalog,
  inventory,
  now: fc.constant(now),
})

describe('whatever is asked and whatever is known', () => {
  it('a decision is made, and its reasons are of the closed set (G10)', () => {
    fc.assert(
      fc.property(client, view, (someClient, someView) => {
        const decision = decideBoot(someClient, someView)
        expect(decision.reasons.length).toBeGreaterThan(0)
        for (const { code } of decision.reasons) expect(Object.hasOwn(reasonTexts, code)).toBe(true)
      }),
      run,
    )
  })

  it('what decided is in the table that the metrics are made from', () => {
    fc.assert(
      fc.property(client, view, (someClient, someView) => {
        const { kind, reasons } = decideBoot(someClient, someView)
        expect(decidingReasons[kind]).toContain(reasons[0].code)
      }),
      run,
    )
  })

  it('the same question has the same answer', () => {
    fc.assert(
      fc.property(client, view, (someClient, someView) => {
        expect(decideBoot(someClient, someView)).toEqual(decideBoot(someClient, someView))
      }),
      run,
    )
  })

  it('G2 G3 G5 a bootimage that is handed out is ready, of the decided architecture, and of the pinned release', () => {
    let handedOut = 0
    fc.assert(
      fc.property(client, view, (someClient, someView) => {
        const decision = decideBoot(someClient, someView)
        if (decision.kind !== 'live' && decision.kind !== 'install') return
        handedOut += 1
        const { bootimage, pin } = decision
        expect(someView.catalog.ready.get(bootimage.id)?.bootimage).toEqual(bootimage)
        expect(bootimage.arch).toBe(decision.arch)
        expect(bootimage.stream).toBe('fcos-stable')
        if (pin !== undefined) expect(bootimage.release).toBe(pin.value.release)
      }),
      run,
    )
    expect(handedOut).toBeGreaterThan(run.numRuns / 100)
  })

  it('nothing is installed unless it is armed, known and live or legacy installer as its mode allows', () => {
    fc.assert(
      fc.property(client, view, (someClient, someView) => {
        const decision = decideBoot(someClient, someView)
        if (decision.kind === 'live') expect(decision.bootimage.kind).toBe('live')
        if (decision.kind !== 'install') return
        const { host } = decision
        const record = someView.inventory.installs.get(host?.id ?? '')
        expect(host).toBeDefined()
        // Only a generation of the files that is higher than any it speaks for goes past a record that is over.
        const isOver = record !== undefined && (record.state !== 'armed' || record.serves >= 5)
        if (isOver) expect(decision.generation).toBeGreaterThan(record.generation)
      }),
      run,
    )
  })

  it('a place that says hold is obeyed', () => {
    fc.assert(
      fc.property(client, view, (someClient, someView) => {
        const decision = decideBoot(someClient, someView)
        const { host } = decision
        const isHeldNow = someView.inventory.runTime.byHost
          .get(host?.id ?? '')
          ?.some(({ setting, settings: said }) => said.mode === 'hold' && now < (setting.until ?? Infinity))
        if (host?.mode === 'hold' || isHeldNow) expect(decision.kind).toBe('hold')
      }),
      run,
    )
  })
})
