import type { Kysely } from 'kysely'

/** Where rows go that cannot be read any more, so that nothing is lost and nothing is in the way. */
export async function unreadableRows(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('unreadable_row')
    .addColumn('table_name', 'text', (column) => column.notNull())
    .addColumn('row_json', 'text', (column) => column.notNull())
    .addColumn('why', 'text', (column) => column.notNull())
    .execute()
}
