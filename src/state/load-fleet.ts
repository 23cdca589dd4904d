import type { Kysely } from 'kysely'
import { ServiceError } from '../core/errors.ts'
import type { FleetState } from '../core/fleet.ts'
import { apiToken, installRecord, revocation, runTimeSetting, storedRecord } from './fleet-rows.ts'
import type { RowReader } from './readable-rows.ts'
import type { StateTables } from './tables.ts'

/**
 * Everything that snapshots are made from. Nothing of it is passed over in silence: without a setting a machine boots
 * another release (G5), without its install a disk is written again, without its record a machine is a stranger, and
 * without a revocation a secret can be fetched. An API token that cannot be read lets nobody in, so that one is set
 * aside and told of.
 * @throws ServiceError STATE_UNAVAILABLE naming table, row and what to do
 */
export async function loadFleet(db: Kysely<StateTables>, rowReader: RowReader): Promise<FleetState> {
  // Nobody else writes, and nothing of this process while the one connection is held.
  const rows = await db.connection().execute(async (held) => ({
    records: await held.selectFrom('fleet_record').selectAll().orderBy('kind').orderBy('name').execute(),
    settings: await held.selectFrom('run_time_setting').selectAll().orderBy('id').execute(),
    installs: await held.selectFrom('install').selectAll().orderBy('host').execute(),
    tokens: await held.selectFrom('api_token').selectAll().orderBy('created_at').orderBy('id').execute(),
    revocations: await held.selectFrom('boot_token_revocation').selectAll().orderBy('host').execute(),
  }))
  return {
    records: readAll('fleet_record', rows.records, storedRecord, ({ kind, name }) => ({ kind, name })),
    settings: readAll('run_time_setting', rows.settings, runTimeSetting, ({ id }) => ({ id })),
    installs: readAll('install', rows.installs, installRecord, ({ host }) => ({ host })),
    tokens: await rowReader.read('api_token', rows.tokens, apiToken),
    revocations: readAll('boot_token_revocation', rows.revocations, revocation, ({ host }) => ({ host })),
  }
}

const consequences = {
  fleet_record: 'the machines it is about are without it then',
  run_time_setting:
    'what it says does not count any more then, and a pinned machine boots what its stream has',
  install: 'that machine may be installed again then',
  boot_token_revocation: 'tokens of that host that were revoked count again then, as long as they live',
} as const

/** @throws ServiceError STATE_UNAVAILABLE */
function readAll<Row, Record>(
  table: keyof typeof consequences,
  rows: readonly Row[],
  toRecord: (row: Row) => Record,
  keyOf: (row: Row) => Readonly<{ [column: string]: unknown }>,
): readonly Record[] {
  return rows.map((row) => {
    try {
      return toRecord(row)
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause)
      const key = Object.entries(keyOf(row)).map(([column, value]) => `${column} ${JSON.stringify(value)}`)
      throw new ServiceError(
        'STATE_UNAVAILABLE',
        `table ${table}, ${key.join(', ')}: ${why}; correct the row in state.db, restore a backup, or delete the row (${consequences[table]})`,
        { table, ...keyOf(row) },
        cause,
      )
    }
  })
}
