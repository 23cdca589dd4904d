import { ServiceError } from '../../core/errors.ts'
import type { BootOperations } from '../../http/admin/boot-operations.ts'

/** Of boots that nobody watched. */
export const nothingSeen: BootOperations = {
  listBoots: async () => ({ items: [], total: 0 }),
  async showBoot(id) {
    throw new ServiceError('NOT_FOUND', `no boot ${JSON.stringify(id)} is known`)
  },
  listMachines: async () => ({ items: [], total: 0, counts: {}, releases: [], groups: [], streams: [] }),
  listPatterns: async () => [],
  async capture({ mac }) {
    throw new ServiceError('NOT_FOUND', `no packets of ${JSON.stringify(mac)} are kept`)
  },
  diagnose: async () => ({ healthy: true, checkedAt: new Date(0).toISOString(), findings: [] }),
}
