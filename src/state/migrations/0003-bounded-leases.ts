import type { Kysely } from 'kysely'

/**
 * Boot attempts are bounded in number: those that are too many leave the lease of their bootimage behind (G6). The
 * index answers which bootimages are leased from its own pages, however many attempts there are.
 */
export async function boundedLeases(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('bootimage_lease')
    .addColumn('bootimage', 'text', (column) => column.notNull().primaryKey())
    .addColumn('last_seen_at', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema
    .createIndex('boot_attempt_by_bootimage')
    .on('boot_attempt')
    .columns(['bootimage', 'last_seen_at'])
    .execute()
}
