import type { Kysely } from 'kysely'

/**
 * What a file was like when its content was verified (G1), one row for each file in the store. A directory of an
 * earlier version has none, so everything in it is read once.
 */
export async function verifiedFiles(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('verified_file')
    .addColumn('sha256', 'text', (column) => column.notNull().primaryKey())
    .addColumn('identity', 'text', (column) => column.notNull())
    .addColumn('verified_at', 'bigint', (column) => column.notNull())
    .addColumn('signature_sha256', 'text')
    .addColumn('signature_identity', 'text')
    .execute()
}
