import type { Kysely } from 'kysely'

/**
 * Boot attempts with their events. `head` holds the few of them that a list needs; `events` comes last, so that a list
 * reads nothing of it (SQLite, "Database File Format" §1.6: what overflows a page is followed when it is asked for).
 * A machine that asks again has several boot ids in one attempt, and may try with several cards: the others are in
 * tables of their own.
 */
export async function bootTimeline(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('boot_timeline')
    .addColumn('id', 'text', (column) => column.notNull().primaryKey())
    .addColumn('host', 'text')
    .addColumn('mac', 'text')
    .addColumn('boot_id', 'text')
    .addColumn('started_at', 'bigint', (column) => column.notNull())
    .addColumn('last_at', 'bigint', (column) => column.notNull())
    .addColumn('outcome', 'text')
    .addColumn('ended_at', 'bigint')
    .addColumn('pattern', 'text')
    .addColumn('diagnosis', 'text')
    .addColumn('left_out', 'bigint', (column) => column.notNull())
    .addColumn('head', 'text', (column) => column.notNull())
    .addColumn('events', 'text', (column) => column.notNull())
    .execute()
  // They sort by time within each value, as the ids do.
  for (const column of ['host', 'mac', 'outcome', 'pattern']) {
    await db.schema
      .createIndex(`boot_timeline_by_${column}`)
      .on('boot_timeline')
      .columns([column, 'id'])
      .execute()
  }
  await db.schema.createIndex('boot_timeline_by_boot_id').on('boot_timeline').column('boot_id').execute()

  await db.schema
    .createTable('boot_timeline_id')
    .addColumn('boot_id', 'text', (column) => column.notNull().primaryKey())
    .addColumn('attempt', 'text', (column) =>
      column.notNull().references('boot_timeline.id').onDelete('cascade'),
    )
    .execute()
  await db.schema
    .createIndex('boot_timeline_id_by_attempt')
    .on('boot_timeline_id')
    .column('attempt')
    .execute()

  await db.schema
    .createTable('boot_timeline_card')
    .addColumn('mac', 'text', (column) => column.notNull())
    .addColumn('attempt', 'text', (column) =>
      column.notNull().references('boot_timeline.id').onDelete('cascade'),
    )
    .addPrimaryKeyConstraint('boot_timeline_card_key', ['mac', 'attempt'])
    .execute()
  await db.schema
    .createIndex('boot_timeline_card_by_attempt')
    .on('boot_timeline_card')
    .columns(['attempt', 'mac'])
    .execute()
}
