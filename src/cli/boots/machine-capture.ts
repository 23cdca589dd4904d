import { isServiceError, ServiceError } from '../../core/errors.ts'
import { parseMac } from '../../core/mac.ts'
import type { BootOperations } from '../../http/admin/boot-operations.ts'
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
  const cards = mac === undefined ? (await fleet.showHost(machine)).macs : [mac]
  const captures: Capture[] = []
  for (const card of cards) {
    const capture = await captureOf(boots, card)
    if (capture !== undefined) captures.push(capture)
  }
  const newest = captures.toSorted((a, b) => (b.newest ?? '').localeCompare(a.newest ?? ''))[0]
  if (newest !== undefined) return newest
  throw new ServiceError('NOT_FOUND', `no packets of ${machine} are kept (${cards.join(', ')})`, {
    hint: 'they are kept since the service runs, where boot.dhcp or boot.tftp is on and capture is not off',
  })
}

async function captureOf(boots: Pick<BootOperations, 'capture'>, mac: string): Promise<Capture | undefined> {
  try {
    const capture = await boots.capture({ mac })
    return capture.packets === 0 ? undefined : capture
  } catch (error) {
    if (isServiceError(error, 'NOT_FOUND')) return undefined
    throw error
  }
}
