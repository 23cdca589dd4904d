import { dirname, resolve } from 'node:path'
import type { InventoryParts, Origin } from '../core/host.ts'
import type { ConfigPath } from './config-path.ts'
import type { HostsDirectory } from './hosts-files.ts'
import type { LayeredData } from './layered-data.ts'
import { buildGroup, buildHost, buildProfile } from './machine-settings.ts'
import type { RawConfig } from './schema.ts'

/** Valid records as the domain's hosts, groups and profiles, each knowing where it was written. */
export function inventoryParts({
  raw,
  hosts,
  layers,
  absolute,
}: {
  readonly raw: RawConfig
  readonly hosts: HostsDirectory
  readonly layers: LayeredData
  readonly absolute: (path: ConfigPath, written: string) => string
}): InventoryParts {
  const originOf = (kind: Origin['kind'], name: string, path: ConfigPath): Origin => {
    const origin = layers.origin(path)
    return { kind, name, ...(origin.kind === 'file' ? { file: origin.file, line: origin.line } : {}) }
  }
  return {
    hosts: hosts.files.flatMap(({ path, file, hosts: records, places }) =>
      records.map((record, index) =>
        buildHost(record, { kind: 'host', name: record.id, file, line: places[index]?.line ?? 1 }, (text) =>
          resolve(dirname(path), text),
        ),
      ),
    ),
    groups: Object.entries(raw.groups).map(([name, group]) => {
      const path = ['groups', name]
      return buildGroup(name, group, originOf('group', name, path), (text) => absolute(path, text))
    }),
    profiles: Object.entries(raw.profiles).map(([name, profile]) => {
      const path = ['profiles', name]
      return buildProfile(name, profile, originOf('profile', name, path), (text) => absolute(path, text))
    }),
    unknown:
      typeof raw.unknown === 'string'
        ? ({ kind: 'ignore' } as const)
        : ({ kind: 'profile', profile: raw.unknown.profile } as const),
  }
}
