import { join } from 'node:path'
import type { LoadedConfig } from '../config/load-config.ts'
import { isServiceError, ServiceError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import { controlSocketDistrust, probeControlSocket } from '../http/admin/control-socket.ts'
import type { OfflineOperations } from '../runtime/service.ts'
import type { CliRuntime } from './context.ts'
import { createControlClient } from './control-client.ts'
import type { RunningService } from './follow.ts'

export interface OpenOptions {
  readonly loaded: LoadedConfig
  readonly log: Log
  /** Whether a data directory that is not there yet is made; a command that only asks leaves no trace. */
  readonly mayCreate: boolean
  readonly runtime: Pick<CliRuntime, 'openOffline'>
}

/**
 * The operations of a data directory: those of the service that runs there, else our own under its lock
 * (DESIGN §10). Close what you get.
 * @throws ServiceError PERMISSION_DENIED when the service is another user's, DATA_DIRECTORY_LOCKED when neither works
 */
export async function openOperations({
  loaded,
  log,
  mayCreate,
  runtime,
}: OpenOptions): Promise<OfflineOperations> {
  const path = join(loaded.config.dataDir, 'control.sock')
  const connected = await connectService(path)
  if (connected !== undefined) return connected
  try {
    return await runtime.openOffline({ loaded, log, mayCreate })
  } catch (error) {
    if (!isServiceError(error, 'DATA_DIRECTORY_LOCKED')) throw error
    // A service takes the lock first and opens its socket later; it may have done so by now.
    const late = await connectService(path)
    if (late !== undefined) return late
    throw error
  }
}

/**
 * The service that runs on a data directory; `undefined` when none does.
 * @throws ServiceError PERMISSION_DENIED when it is another user's
 */
export function openRunningService(dataDir: string): Promise<RunningService | undefined> {
  return connectService(join(dataDir, 'control.sock'))
}

async function connectService(path: string): Promise<RunningService | undefined> {
  const found = await findService(path)
  if (found.kind === 'running') return found
  if (found.kind === 'stopped') return undefined
  const { why, hint } = found
  throw new ServiceError('PERMISSION_DENIED', why, { path, hint })
}

export type FoundService =
  | ({ readonly kind: 'running' } & RunningService)
  | { readonly kind: 'stopped' }
  /** It is not ours to speak with, or may be a stranger's. */
  | { readonly kind: 'denied'; readonly why: string; readonly hint: string }

/** The service behind a control socket: close it when it runs. Whose it is, is looked at before a word is said. */
export async function findService(path: string): Promise<FoundService> {
  const distrust = await controlSocketDistrust(path)
  if (distrust !== undefined) return { kind: 'denied', ...distrust }
  const answer = await probeControlSocket(path)
  if (answer === 'answers') return { kind: 'running', ...createControlClient({ path }) }
  if (answer !== 'denied') return { kind: 'stopped' }
  const why = `the service at ${path} belongs to another user`
  return { kind: 'denied', why, hint: 'run this command as that user, for example with sudo -u' }
}
