import { type Insertable, type Kysely, sql } from 'kysely'
import { isServiceError, ServiceError } from '../core/errors.ts'
import type { AttemptWrite } from './attempt-rows.ts'
import {
  listBootimageLeases,
  listBootLeases,
  saveBootimageLeases,
  saveBootLeases,
  trimBootLeases,
} from './boot-leases.ts'
import { countAttempts, listAttempts, listLastAttempts, saveAttempts, trimAttempts } from './boot-timeline.ts'
import { createFleetStore, type SqlFleetStore } from './fleet-store.ts'
import { createRowReader, type UnreadableRows } from './readable-rows.ts'
import {
  bootimageRecord,
  bootimageRow,
  derivedRecord,
  derivedRow,
  documentRecord,
  documentRow,
  pinResolution,
  pinResolutionRow,
  streamHead,
  streamHeadRow,
} from './rows.ts'
import { unavailable } from './sqlite.ts'
import type { BootimageRecord, DocumentRecord, FleetStore, StateStore, StreamHead } from './store.ts'
import { storeSteps } from './store-steps.ts'
import type { StateTables } from './tables.ts'
import { removeVerified, saveVerified, verifiedFile } from './verified-files.ts'

/** Rows per statement: far below any database's limit of bound values. */
const rowsPerStatement = 200

/** A state store as far as one database connection goes; `openStateStore` makes a whole one of it. */
export type SqlStore = Omit<StateStore, keyof FleetStore | 'saveAttempts'> &
  SqlFleetStore & {
    /** As `saveAttempts`; text crosses between threads faster than what it says. */
    keepAttempts(writes: readonly AttemptWrite[]): Promise<void>
  }

/**
 * The state in SQL. The database has been migrated; the store closes it.
 * @throws ServiceError STATE_UNAVAILABLE from every method, with the step and the cause
 */
export function createSqlStore({
  db,
  onUnreadable = () => {},
  checkTime,
}: {
  readonly db: Kysely<StateTables>
  readonly onUnreadable?: (rows: UnreadableRows) => void
  /** Asked before a change is made to last; throws when nobody waits for it any more. */
  readonly checkTime?: () => void
}): SqlStore {
  const rowReader = createRowReader({ db, onUnreadable })
  let closed = false

  async function step<T>(name: keyof typeof storeSteps, run: () => Promise<T>): Promise<T> {
    const text = storeSteps[name]
    if (closed)
      throw new ServiceError('STATE_UNAVAILABLE', `${text}: the state store is closed`, { step: text })
    try {
      return await run()
    } catch (cause) {
      throw isServiceError(cause) ? cause : unavailable(text, cause)
    }
  }

  return {
    ...createFleetStore({ db, rowReader, step, ...(checkTime === undefined ? {} : { checkTime }) }),

    recordRefresh: ({ document, bootimages, heads, relocated = [] }) =>
      step('recordRefresh', () =>
        db.transaction().execute(async (transaction) => {
          await upsertDocument(transaction, document)
          await insertBootimages(transaction, bootimages)
          for (const bootimage of relocated) {
            await transaction
              .updateTable('bootimage')
              .set({ bootimage: JSON.stringify(bootimage) })
              .where('id', '=', bootimage.id)
              .execute()
          }
          for (const head of heads) await upsertHead(transaction, head)
        }),
      ),

    recordDocument: (document) => step('recordDocument', () => upsertDocument(db, document)),

    listDocuments: ({ stream, limit } = {}) =>
      step('listDocuments', async () => {
        let query = db.selectFrom('document').selectAll()
        if (stream !== undefined) query = query.where('stream', '=', stream)
        if (limit !== undefined) query = query.limit(Math.max(0, Math.trunc(limit)))
        const rows = await query
          .orderBy('last_seen_at', 'desc')
          .orderBy('first_seen_at', 'desc')
          .orderBy('digest')
          .execute()
        return rowReader.read('document', rows, documentRecord)
      }),

    addBootimage: (record) =>
      step('addBootimage', () =>
        db.transaction().execute(async (transaction) => {
          await insertBootimages(transaction, [record])
          const row = await transaction
            .selectFrom('bootimage')
            .selectAll()
            .where('id', '=', record.bootimage.id)
            .executeTakeFirstOrThrow()
          return bootimageRecord(row)
        }),
      ),

    setBootimageState: (id, { state, failure, readyAt, kernelUncompressed }) =>
      step('setBootimageState', async () => {
        await db
          .updateTable('bootimage')
          .set({
            state,
            failure: failure === undefined ? null : JSON.stringify(failure),
            ...(readyAt === undefined ? {} : { ready_at: readyAt }),
            ...(kernelUncompressed === undefined ? {} : { kernel_uncompressed: kernelUncompressed }),
          })
          .where('id', '=', id)
          .execute()
      }),

    listBootimages: ({ stream, arch, release } = {}) =>
      step('listBootimages', async () => {
        let query = db.selectFrom('bootimage').selectAll()
        if (stream !== undefined) query = query.where('stream', '=', stream)
        if (arch !== undefined) query = query.where('arch', '=', arch)
        if (release !== undefined) query = query.where('release_version', '=', release)
        const rows = await query.orderBy('first_seen_at').orderBy('id').execute()
        return rowReader.read('bootimage', rows, bootimageRecord)
      }),

    removeBootimage: (id) =>
      step('removeBootimage', async () => {
        await db.deleteFrom('bootimage').where('id', '=', id).execute()
      }),

    listHeads: () =>
      step('listHeads', async () => {
        const rows = await db
          .selectFrom('stream_head')
          .selectAll()
          .orderBy('stream')
          .orderBy('arch')
          .execute()
        return rowReader.read('stream_head', rows, streamHead)
      }),

    saveHead: (head) => step('saveHead', () => upsertHead(db, head)),

    addDerived: (record) =>
      step('addDerived', async () => {
        const row = derivedRow(record)
        await db
          .insertInto('derived')
          .values(row)
          .onConflict((conflict) => conflict.column('sha256').doUpdateSet(row))
          .execute()
      }),

    listDerived: () =>
      step('listDerived', async () => {
        const rows = await db.selectFrom('derived').selectAll().orderBy('made_at').orderBy('sha256').execute()
        return rowReader.read('derived', rows, derivedRecord)
      }),

    savePinResolution: (pin) =>
      step('savePinResolution', async () => {
        const row = pinResolutionRow(pin)
        await db
          .insertInto('pin_resolution')
          .values(row)
          .onConflict((conflict) => conflict.columns(['stream', 'arch', 'release_version']).doUpdateSet(row))
          .execute()
      }),

    listPinResolutions: () =>
      step('listPinResolutions', async () => {
        const rows = await db
          .selectFrom('pin_resolution')
          .selectAll()
          .orderBy('stream')
          .orderBy('arch')
          .orderBy('release_version')
          .execute()
        return rowReader.read('pin_resolution', rows, pinResolution)
      }),

    saveBootLeases: (attempts) => step('saveBootLeases', () => saveBootLeases(db, attempts)),

    listBootLeases: (filter) =>
      step('listBootLeases', async () => {
        const { attempts, unreadable } = await listBootLeases(db, filter)
        const [example] = unreadable
        if (example !== undefined) onUnreadable({ table: 'boot_attempt', count: unreadable.length, example })
        return attempts
      }),

    saveBootimageLeases: (leases) => step('saveBootimageLeases', () => saveBootimageLeases(db, leases)),

    listBootimageLeases: (filter) => step('listBootimageLeases', () => listBootimageLeases(db, filter)),

    trimBootLeases: (limits) => step('trimBootLeases', () => trimBootLeases(db, limits)),

    keepAttempts: (writes) => step('saveAttempts', () => saveAttempts(db, writes)),

    listAttempts: (filter) => step('listAttempts', () => listAttempts(db, rowReader, filter)),

    countAttempts: (filter) => step('countAttempts', () => countAttempts(db, filter)),

    listLastAttempts: (filter) => step('listLastAttempts', () => listLastAttempts(db, rowReader, filter)),

    trimAttempts: (limits) => step('trimAttempts', () => trimAttempts(db, limits)),

    saveVerified: (record) => step('saveVerified', () => saveVerified(db, record)),

    removeVerified: (digests) => step('removeVerified', () => removeVerified(db, digests)),

    listVerified: () =>
      step('listVerified', async () => {
        const rows = await db.selectFrom('verified_file').selectAll().orderBy('sha256').execute()
        return rowReader.read('verified_file', rows, verifiedFile)
      }),

    async close() {
      if (closed) return
      closed = true
      await db.destroy()
    },
  }
}

/** The later of the stored and the offered time. */
const laterDocument = sql<number>`max(excluded.last_seen_at, document.last_seen_at)`

async function upsertDocument(db: Kysely<StateTables>, document: DocumentRecord): Promise<void> {
  await db
    .insertInto('document')
    .values(documentRow(document))
    .onConflict((conflict) =>
      conflict.columns(['stream', 'digest']).doUpdateSet({ last_seen_at: laterDocument }),
    )
    .execute()
}

async function insertBootimages(db: Kysely<StateTables>, records: readonly BootimageRecord[]): Promise<void> {
  for (const rows of chunks(records.map(bootimageRow))) {
    await db
      .insertInto('bootimage')
      .values(rows)
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute()
  }
}

async function upsertHead(db: Kysely<StateTables>, head: StreamHead): Promise<void> {
  const row = streamHeadRow(head)
  await db
    .insertInto('stream_head')
    .values(row)
    .onConflict((conflict) => conflict.columns(['stream', 'arch']).doUpdateSet(row))
    .execute()
}

function chunks<Row extends Insertable<StateTables[keyof StateTables]>>(rows: readonly Row[]): Row[][] {
  const parts: Row[][] = []
  for (let start = 0; start < rows.length; start += rowsPerStatement) {
    parts.push(rows.slice(start, start + rowsPerStatement))
  }
  return parts
}
