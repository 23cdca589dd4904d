import { setImmediate as nextTurn } from 'node:timers/promises'
import { stringify } from 'yaml'
import type { LoadedConfig } from '../../config/load-config.ts'
import type { RecordKind } from '../../core/fleet.ts'
import type { FleetOperations } from '../../http/admin/fleet-operations.ts'
import type { FleetContext } from './fleet-context.ts'
import { compareText } from './page-of.ts'

type Spec = Readonly<Record<string, unknown>>
interface Written {
  readonly name: string
  readonly spec: Spec
}

/** Some 5 ms; between them boots are answered. */
const hostsPerSlice = 20

/** YAML of the records of the API, or of those of files as well, by name, so that two exports can be compared. */
export function createExportRecords(
  context: Pick<FleetContext, 'memory'> & { readonly loaded: () => LoadedConfig },
): FleetOperations['exportRecords'] {
  const { memory, loaded } = context

  function ofApi(kind: RecordKind): readonly Written[] {
    return [...memory.records[kind].values()].map(({ name, spec }) => ({ name, spec }))
  }

  function ofFiles(kind: RecordKind): readonly Written[] {
    const { raw, hosts } = loaded()
    if (kind === 'host') {
      return hosts.files.flatMap((file) => file.hosts.map(({ id, ...spec }) => ({ name: id, spec })))
    }
    const records: Readonly<Record<string, object>> = kind === 'group' ? raw.groups : raw.profiles
    return Object.entries(records).map(([name, spec]) => ({ name, spec: { ...spec } }))
  }

  /** What a file declares stands before a record of the same name, which does not count. */
  function recordsOf(kind: RecordKind, all: boolean): readonly Written[] {
    const byName = new Map(ofApi(kind).map((record) => [record.name, record]))
    if (all) for (const record of ofFiles(kind)) byName.set(record.name, record)
    return [...byName.values()].sort((a, b) => compareText(a.name, b.name))
  }

  return async ({ all }) => {
    const parts = ['version: 1\n']
    for (const kind of ['profile', 'group'] as const) {
      const records = recordsOf(kind, all)
      if (records.length === 0) continue
      const named = Object.fromEntries(records.map(({ name, spec }) => [name, spec]))
      parts.push(yamlOf({ [`${kind}s`]: named }))
    }
    const hosts = recordsOf('host', all)
    parts.push(hosts.length === 0 ? 'hosts: []\n' : 'hosts:\n')
    for (let first = 0; first < hosts.length; first += hostsPerSlice) {
      const slice = hosts.slice(first, first + hostsPerSlice).map(({ name, spec }) => ({ id: name, ...spec }))
      parts.push(yamlOf({ hosts: slice }).slice('hosts:\n'.length))
      await nextTurn()
    }
    return parts.join('')
  }
}

/** Long lines stay lines, and what occurs twice is written twice. */
function yamlOf(value: object): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })
}
