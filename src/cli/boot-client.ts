import { bootEndpoints } from '../http/admin/boot-endpoints.ts'
import type { BootOperations } from '../http/admin/boot-operations.ts'
import { askByTable, type CallEndpoint } from './ask-by-table.ts'

/** What a running service sees of boots. */
export function createBootClient(call: CallEndpoint): BootOperations {
  const ask = askByTable(bootEndpoints, call)
  return {
    listBoots: (query) => ask('listBoots', { query }),
    showBoot: (id) => ask('showBoot', { at: [id] }),
    listMachines: (query) => ask('listMachines', { query }),
    listPatterns: async () => (await ask('listPatterns')).patterns,
    capture: ({ mac }) => ask('capture', { at: [mac] }),
    diagnose: () => ask('diagnose'),
  }
}
