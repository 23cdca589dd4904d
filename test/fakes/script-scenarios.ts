import type { Arch } from '../../src/core/arch.ts'
import type { BootDecision } from '../../src/core/boot-decision.ts'
import type { Bootimage } from '../../src/core/bootimage.ts'
import type { Catalog } from '../../src/core/catalog.ts'
import type { BootClient } from '../../src/core/client.ts'
import { decideBoot } from '../../src/core/decide-boot.ts'
import type { Host } from '../../src/core/host.ts'
import { makeBootimage, sha256Of } from './bootimages.ts'
import { type CatalogSketch, makeCatalog, servedFile, status } from './catalogs.ts'
import { makeClient, makeHost, makeInventory } from './machines.ts'

/** A host and what there is for it: every kind of decision, once or more. */
export interface Scenario {
  readonly host?: Partial<Host>
  readonly isUnknown?: boolean
  readonly catalog: (arch: Arch) => CatalogSketch
}

const live = (arch: Arch) => makeBootimage({ arch })
const pinnedRelease = makeBootimage({ release: '43.20260601.3.0' }).release

function legacy(arch: Arch): Bootimage {
  const image = makeBootimage({ arch, release: '41.80.1', kind: 'legacy-installer' })
  const disks = ['metal-bios', 'metal-uefi'].map((variant) => ({
    role: 'disk' as const,
    variant,
    name: `rhcos-41.80.1-${variant}.raw.gz`,
    sha256: sha256Of(variant),
    location: `https://builds.example/${variant}.raw.gz`,
  }))
  return { ...image, disks }
}

function gunzipped(arch: Arch): CatalogSketch {
  const current = live(arch)
  const file = servedFile({ role: 'kernel', name: current.kernel.name, sha256: sha256Of('unpacked kernel') })
  return { current, uncompressed: arch === 'aarch64' ? new Map([[current.kernel.sha256, file]]) : undefined }
}

const extra = { path: '/etc/pilotlight/wrapped.cpio', sha256: sha256Of('extra') }

export const scenarios: Readonly<Record<string, Scenario>> = {
  live: { host: { mode: 'live' }, catalog: gunzipped },
  'live-ignition-and-console': {
    host: {
      mode: 'live',
      ignition: { url: 'http://192.0.2.20/worker.ign' },
      kernelArguments: ['console=tty0', 'console=ttyS0,115200n8'],
    },
    catalog: gunzipped,
  },
  'live-served-ignition': {
    host: { mode: 'live', ignition: { inline: '{"ignition":{"version":"3.0.0"}}' } },
    catalog: gunzipped,
  },
  'live-rootfs-and-extra-as-initrds': {
    host: { mode: 'live', rootfs: 'initrd', extraInitrds: [extra] },
    catalog: (arch) => ({
      current: live(arch),
      files: [servedFile({ ...extra, name: 'wrapped.cpio', role: 'initramfs' })],
    }),
  },
  'live-pinned-with-own-network': {
    host: {
      mode: 'live',
      pins: [{ release: pinnedRelease, reason: 'NIC regression' }],
      kernelArguments: ['bond=bond0:em1,em2', 'ip=bond0:dhcp'],
    },
    catalog: (arch) => ({
      current: live(arch),
      releases: [status(makeBootimage({ arch, release: pinnedRelease }))],
    }),
  },
  install: {
    host: {
      mode: 'install',
      install: { device: '/dev/sda', generation: 2 },
      ignition: { url: 'http://192.0.2.20/worker.ign' },
    },
    catalog: gunzipped,
  },
  'install-served-ignition': {
    host: {
      mode: 'install',
      install: { device: '/dev/sda', generation: 2 },
      ignition: { file: '/etc/pilotlight/worker.ign' },
    },
    catalog: gunzipped,
  },
  'legacy-served-ignition': {
    host: {
      mode: 'install',
      install: { device: '/dev/sda' },
      ignition: { file: '/etc/pilotlight/worker.ign' },
    },
    catalog: (arch) => ({ current: legacy(arch) }),
  },
  'legacy-installer': {
    host: { mode: 'install', install: { device: '/dev/sda' } },
    catalog: (arch) => ({ current: legacy(arch) }),
  },
  'wait-first-fetch': {
    host: { mode: 'live' },
    catalog: (arch) => ({ target: status(live(arch), 'downloading') }),
  },
  'wait-pin-unresolvable': {
    host: { mode: 'live', pins: [{ release: '42.20251001.3.0' }] },
    catalog: (arch) => ({ current: live(arch) }),
  },
  hold: { host: { mode: 'hold', holdReason: 'disk is being replaced' }, catalog: gunzipped },
  'hold-profile-missing': { host: { mode: 'live', profile: 'gone' }, catalog: gunzipped },
  local: { host: { mode: 'local' }, catalog: gunzipped },
  'local-exit': { host: { mode: 'local', localBoot: 'exit' }, catalog: gunzipped },
  ignore: { isUnknown: true, catalog: gunzipped },
}

export interface ScenarioOutcome {
  readonly catalog: Catalog
  readonly client: BootClient
  readonly decision: BootDecision
}

/** What a machine like this one gets in a scenario. */
export function playScenario(
  scenario: Scenario,
  arch: Arch,
  sketch: Partial<BootClient> = {},
): ScenarioOutcome {
  const catalog = makeCatalog({ arch, ...scenario.catalog(arch) })
  const hosts = scenario.isUnknown ? [] : [makeHost({ stream: 'fcos-stable', ...scenario.host })]
  const client = makeClient({ arch, ...sketch })
  const view = { catalog, inventory: makeInventory({ hosts }), now: 0 }
  return { catalog, client, decision: decideBoot(client, view) }
}
