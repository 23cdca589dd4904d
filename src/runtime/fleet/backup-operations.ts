import { isAbsolute } from 'node:path'
import { ServiceError } from '../../core/errors.ts'
import type { AuditEntry } from '../../core/fleet.ts'
import { visibleText } from '../../core/visible-text.ts'
import type { FleetOperations } from '../../http/admin/fleet-operations.ts'
import { auditEntry } from './audit-entry.ts'
import { checkRestored } from './check-restored.ts'
import type { FleetContext } from './fleet-context.ts'

/** Copies of the state, taken and brought back while everything goes on. */
export function createBackupOperations(
  options: Pick<FleetContext, 'queue' | 'store' | 'clock'> & {
    /** What lives in memory besides the fleet (resolved pins, keys) is read anew. */
    readonly onRestored: () => Promise<void>
    readonly onChanged: (audit: readonly AuditEntry[]) => void
  },
): Pick<FleetOperations, 'backup' | 'restore'> {
  const { queue, store, clock } = options
  return {
    async backup({ file }) {
      checkPath(file)
      return { file, ...(await store.backup(file)) }
    },
    async restore({ file }, change) {
      checkPath(file)
      if (change.dryRun === true) {
        throw new ServiceError('USAGE', 'a restore cannot be tried out', {
          field: 'dryRun',
          hint: 'it checks the whole file first and changes all or nothing; pilotlight backup keeps what is here now',
        })
      }
      return queue.alone(async () => {
        const { records, settings, installs, tokens, pinnedReleases } = await store.restore(file, (found) =>
          checkRestored(file, found),
        )
        const counts = { records, settings, installs, tokens, pinnedReleases }
        await queue.reload()
        await options.onRestored()
        const audit = [
          auditEntry(change, clock.now(), {
            action: 'state.restore',
            target: 'state',
            summary: `restored from ${visibleText(file, 500)}: ${records} records, ${settings} pins and modes, ${installs} installs, ${tokens} tokens, ${pinnedReleases} resolved pins`,
          }),
        ]
        await store.writeFleet({ changes: [], audit })
        options.onChanged(audit)
        return { file, ...counts }
      })
    },
  }
}

/** The service has another working directory than whoever asks. @throws ServiceError USAGE */
function checkPath(file: string): void {
  if (isAbsolute(file) && !file.includes('\0')) return
  throw new ServiceError('USAGE', `file ${JSON.stringify(file)} is no absolute path`, {
    field: 'file',
    hint: 'the service writes it: give the whole path, such as /var/backups/pilotlight.db',
  })
}
