import type { bootEndpoints } from '../boot-endpoints.ts'
import type { BootOperations } from '../boot-operations.ts'
import type { Handlers } from '../endpoint.ts'

/** Where machines are: each endpoint and the operation that answers it. */
export function bootHandlers(boots: BootOperations): Handlers<typeof bootEndpoints> {
  return {
    listBoots: ({ query }) => boots.listBoots(query),
    showBoot: ({ params }) => boots.showBoot(params.id),
    listMachines: ({ query }) => boots.listMachines(query),
    listPatterns: async () => ({ patterns: await boots.listPatterns() }),
    capture: ({ params }) => boots.capture(params),
    diagnose: () => boots.diagnose(),
  }
}
