import { randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AttemptRecord } from '../core/boot-attempt.ts'
import { isServiceError, ServiceError } from '../core/errors.ts'
import type { FleetChange, StoredRecord } from '../core/fleet.ts'
import { type Log, silentLog } from '../core/log.ts'
import { type AttemptWrite, attemptWrite } from './attempt-rows.ts'
import { migrations } from './migrations/index.ts'
import { removeCopy } from './prepare-restore.ts'
import type { UnreadableRows } from './readable-rows.ts'
import { unavailable } from './sqlite.ts'
import type { SqlStoreMethod } from './state-messages.ts'
import { runStateTask, type StateThread, startStateThread } from './state-thread.ts'
import type { FleetStore, RestoredCounts, StateStore } from './store.ts'
import { storeSteps } from './store-steps.ts'

/** How long a call may take; a disk that is slower than that is as good as none. */
const callMs = 15_000
/** A backup is as long as its disk takes; other calls wait meanwhile, each as long as above. */
const restoreMs = 10 * 60_000
/** Changes in one message: what is copied between threads in one go holds up a packet by a millisecond or two. */
const changesPerMessage = 500
/** Boots that are made into text in one go, a millisecond or two. */
const attemptsPerSlice = 50

/**
 * The embedded store of a data directory whose lock the caller holds. A thread of its own speaks to the database, so
 * that nothing here waits for a disk.
 * @throws ServiceError STATE_UNAVAILABLE, STATE_NEWER_VERSION
 */
export async function openStateStore({
  file,
  backups = join(dirname(file), 'backups'),
  log = silentLog,
  timeoutMs = callMs,
  entry,
}: {
  readonly file: string
  /** Where copies go before an update changes the database. */
  readonly backups?: string
  readonly log?: Log
  /** How long a call may take. */
  readonly timeoutMs?: number
  /** For tests: another thread. */
  readonly entry?: URL
}): Promise<StateStore> {
  removeCopies(file)
  const thread = startStateThread({
    task: { task: 'store', file, backups },
    ...(entry === undefined ? {} : { entry }),
    onUnreadable: (rows) => tellOfUnreadable(log, file, rows),
    onStopped: (why) =>
      log.error(
        { file, reason: why },
        'the thread that holds the state has stopped: nodes boot on, nothing can be changed until the service is restarted',
      ),
  })
  const update = await thread.opened
  if (update !== undefined)
    log.info({ file, ...update }, 'state database brought up to date, after a copy of it')
  return createThreadStore({ file, thread, callTimeoutMs: timeoutMs })
}

function createThreadStore({
  file,
  thread,
  callTimeoutMs,
}: {
  readonly file: string
  readonly thread: StateThread
  readonly callTimeoutMs: number
}): StateStore {
  let isClosed = false

  function refuseIfClosed(step: string): void {
    if (isClosed) throw new ServiceError('STATE_UNAVAILABLE', `${step}: the state store is closed`, { step })
  }

  async function call(
    method: SqlStoreMethod,
    args: readonly unknown[],
    options: Partial<Parameters<StateThread['call']>[0]> = {},
  ): Promise<unknown> {
    const { step = storeSteps[method as keyof typeof storeSteps] } = options
    refuseIfClosed(step)
    return thread.call({ method, args, step, timeoutMs: callTimeoutMs, ...options })
  }

  /** The promise of a method is what the store in the thread has promised. */
  function remote<Method extends SqlStoreMethod & keyof StateStore>(method: Method): StateStore[Method] {
    return ((...args: readonly unknown[]) => call(method, args)) as unknown as StateStore[Method]
  }

  const secretKey: FleetStore['secretKey'] = async (name, make) => {
    const keep = (offered?: Uint8Array) =>
      call('keepSecret', [name, offered], { step: storeSteps.secretKey }) as Promise<Uint8Array | undefined>
    const secret = (await keep()) ?? (await keep(make()))
    if (secret === undefined) throw new ServiceError('INTERNAL', `the secret ${name} was not kept`)
    return secret
  }

  const writeFleet: FleetStore['writeFleet'] = async ({ changes, audit }) => {
    const first = Math.max(0, changes.length - changesPerMessage)
    await call('writeFleet', [{ changes: changes.slice(first), audit }], {
      ...(first === 0 ? {} : { earlierChanges: inParts(changes.slice(0, first)) }),
    })
  }

  const saveAttempts: StateStore['saveAttempts'] = async (records) => {
    const writes = await writesOf(records)
    await call('keepAttempts', [writes], { step: storeSteps.saveAttempts })
  }

  const backup: FleetStore['backup'] = async (target) => {
    refuseIfClosed(storeSteps.backup)
    const written = await runFileTask('backup', { task: 'backup', source: file, target })
    return { ...(written as { sizeBytes: number }), schemaVersion: migrations.length }
  }

  const restore: FleetStore['restore'] = async (backupFile, check) => {
    refuseIfClosed(storeSteps.restore)
    const copy = `${file}.restore-${randomUUID()}`
    try {
      const found = await runFileTask('restore', { task: 'prepare-restore', file: backupFile, copy })
      await check?.(found as readonly StoredRecord[])
      return (await call('restoreFrom', [copy], {
        step: storeSteps.restore,
        timeoutMs: restoreMs,
      })) as RestoredCounts
    } finally {
      removeCopy(copy)
    }
  }

  return {
    recordRefresh: remote('recordRefresh'),
    recordDocument: remote('recordDocument'),
    listDocuments: remote('listDocuments'),
    addBootimage: remote('addBootimage'),
    setBootimageState: remote('setBootimageState'),
    listBootimages: remote('listBootimages'),
    removeBootimage: remote('removeBootimage'),
    listHeads: remote('listHeads'),
    saveHead: remote('saveHead'),
    addDerived: remote('addDerived'),
    listDerived: remote('listDerived'),
    savePinResolution: remote('savePinResolution'),
    listPinResolutions: remote('listPinResolutions'),
    saveBootLeases: remote('saveBootLeases'),
    listBootLeases: remote('listBootLeases'),
    saveBootimageLeases: remote('saveBootimageLeases'),
    listBootimageLeases: remote('listBootimageLeases'),
    trimBootLeases: remote('trimBootLeases'),
    saveAttempts,
    listAttempts: remote('listAttempts'),
    countAttempts: remote('countAttempts'),
    listLastAttempts: remote('listLastAttempts'),
    trimAttempts: remote('trimAttempts'),
    saveVerified: remote('saveVerified'),
    removeVerified: remote('removeVerified'),
    listVerified: remote('listVerified'),
    loadFleet: remote('loadFleet'),
    writeFleet,
    listAudit: remote('listAudit'),
    listReports: remote('listReports'),
    saveSeenMachines: remote('saveSeenMachines'),
    removeSeenMachines: remote('removeSeenMachines'),
    listSeenMachines: remote('listSeenMachines'),
    secretKey,
    trimHistory: remote('trimHistory'),
    backup,
    restore,
    async close() {
      isClosed = true
      await thread.close()
    },
  }
}

async function runFileTask(
  step: 'backup' | 'restore',
  task: Parameters<typeof runStateTask>[0],
): Promise<unknown> {
  try {
    return await runStateTask(task)
  } catch (cause) {
    throw isServiceError(cause) ? cause : unavailable(storeSteps[step], cause)
  }
}

async function* inParts(changes: readonly FleetChange[]): AsyncGenerator<readonly FleetChange[]> {
  for (let first = 0; first < changes.length; first += changesPerMessage) {
    yield changes.slice(first, first + changesPerMessage)
    await nextTurn()
  }
}

/** In slices, between which boots are answered. */
async function writesOf(records: readonly AttemptRecord[]): Promise<readonly AttemptWrite[]> {
  const writes: AttemptWrite[] = []
  for (let first = 0; first < records.length; first += attemptsPerSlice) {
    if (first > 0) await nextTurn()
    for (const record of records.slice(first, first + attemptsPerSlice)) writes.push(attemptWrite(record))
  }
  return writes
}

/** Of a restore that a crash has ended. */
function removeCopies(file: string): void {
  const prefix = `${basename(file)}.restore-`
  try {
    for (const name of readdirSync(dirname(file)))
      if (name.startsWith(prefix)) removeCopy(join(dirname(file), name))
  } catch {
    // Opening the database says better what is wrong with its directory.
  }
}

function tellOfUnreadable(log: Log, file: string, { table, count, example }: UnreadableRows): void {
  log.error(
    { file, table, rows: count, example },
    table === 'boot_attempt'
      ? 'rows of the state cannot be read and are passed over; they are removed when they are two hours old'
      : 'rows of the state cannot be read and were moved to table unreadable_row; what they said is found out again, or comes back from a backup',
  )
}
