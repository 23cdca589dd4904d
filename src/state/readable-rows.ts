import type { Kysely } from 'kysely'
import type { StateTables } from './tables.ts'

/** Tables whose rows can be done without: what they say is found out again, or nobody boots from it. */
type SparableTable =
  | 'document'
  | 'bootimage'
  | 'stream_head'
  | 'derived'
  | 'pin_resolution'
  | 'verified_file'
  | 'api_token'
  | 'audit_entry'
  | 'node_report'
  | 'seen_machine'
  | 'boot_timeline'
  | 'secret'

const keys: Readonly<Record<SparableTable, readonly string[]>> = {
  document: ['stream', 'digest'],
  bootimage: ['id'],
  stream_head: ['stream', 'arch'],
  derived: ['sha256'],
  pin_resolution: ['stream', 'arch', 'release_version'],
  verified_file: ['sha256'],
  api_token: ['id'],
  audit_entry: ['id'],
  node_report: ['boot_id', 'status'],
  seen_machine: ['mac'],
  boot_timeline: ['id'],
  secret: ['name'],
}

/** Rows of a table that could not be read. */
export interface UnreadableRows {
  readonly table: string
  readonly count: number
  /** Of the first of them: its key and what is wrong with it. */
  readonly example: string
}

export interface RowReader {
  /** The records of those rows that can be read; the others are moved to table `unreadable_row` and told of (G7). */
  read<Row extends object, Record>(
    table: SparableTable,
    rows: readonly Row[],
    toRecord: (row: Row) => Record,
  ): Promise<Record[]>
}

/** A disk, another program or another version may leave a row that is none: it must not stop the rest. */
export function createRowReader(options: {
  readonly db: Kysely<StateTables>
  readonly onUnreadable: (rows: UnreadableRows) => void
}): RowReader {
  return {
    async read(table, rows, toRecord) {
      const bad: { readonly row: object; readonly why: string }[] = []
      const records = rows.flatMap((row) => {
        try {
          return [toRecord(row)]
        } catch (error) {
          bad.push({ row, why: error instanceof Error ? error.message : String(error) })
          return []
        }
      })
      const [first] = bad
      if (first === undefined) return records
      await setAside(options.db, table, bad)
      options.onUnreadable({
        table,
        count: bad.length,
        example: `${keyText(table, first.row)}: ${first.why}`,
      })
      return records
    },
  }
}

async function setAside(
  db: Kysely<StateTables>,
  table: SparableTable,
  bad: readonly { readonly row: object; readonly why: string }[],
): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    for (const { row, why } of bad) {
      const row_json = JSON.stringify(row)
      await transaction.insertInto('unreadable_row').values({ table_name: table, row_json, why }).execute()
      let gone = (transaction as unknown as Kysely<Record<string, Record<string, unknown>>>).deleteFrom(table)
      for (const key of keys[table]) gone = gone.where(key, '=', (row as Record<string, unknown>)[key])
      await gone.execute()
    }
  })
}

function keyText(table: SparableTable, row: object): string {
  return keys[table]
    .map((key) => `${key} ${JSON.stringify((row as Record<string, unknown>)[key])}`)
    .join(', ')
}
