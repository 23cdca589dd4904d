import { isServiceError, ServiceError } from '../../core/errors.ts'
import { parseMac } from '../../core/mac.ts'
import type { AdminOperations } from '../../http/admin/operations.ts'
import type { Capture } from '../../http/admin/schemas/boots.ts'

/**
 * The packets of a MAC, or of that card of a host which sent the last ones.
 * @throws ServiceError NOT_FOUND when the host is not known, or no packets of it are kept
 */
export async function machineCapture(
  { boots, fleet }: Pick<AdminOperations, 'boots' | 'fleet'>,
  machine: string,
): Promise<Capture> {
  const mac = parseMac(machine)
  if (mac !== undefined) return boots.capture({ mac })
  const { macs } = await fleet.showHost(machine)
  const captures: Capture[] = []
  for (const card of macs) {
    try {
      captures.push(await boots.capture({ mac: card }))
    } catch (error) {
      if (!isServiceError(error, 'NOT_FOUND')) throw error
    }
  }
  const newest = captures.toSorted((a, b) => (b.newest ?? '').localeCompare(a.newest ?? ''))[0]
  if (newest !== undefined) return newest
  throw new ServiceError('NOT_FOUND', `no packets of ${machine} are kept (${macs.join(', ')})`, {
    hint: 'they are kept in memory, since the service runs, where boot.dhcp or boot.tftp is on',
  })
}
