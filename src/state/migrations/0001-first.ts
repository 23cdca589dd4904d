import { type Kysely, sql } from 'kysely'

/**
 * What the service must remember from its first version on. References between tables are plain ids: a removed
 * bootimage may still be named by an old head or lease, and every reader copes with that.
 */
export async function first(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('document')
    .addColumn('digest', 'text', (column) => column.notNull())
    .addColumn('stream', 'text', (column) => column.notNull())
    .addColumn('format', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('label', 'text')
    .addColumn('size_bytes', 'bigint', (column) => column.notNull())
    .addColumn('first_seen_at', 'bigint', (column) => column.notNull())
    .addColumn('last_seen_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('document_key', ['stream', 'digest'])
    .execute()
  await db.schema
    .createIndex('document_by_age')
    .on('document')
    .columns(['last_seen_at', 'first_seen_at'])
    .execute()

  await db.schema
    .createTable('bootimage')
    .addColumn('id', 'text', (column) => column.notNull().primaryKey())
    .addColumn('stream', 'text', (column) => column.notNull())
    .addColumn('arch', 'text', (column) => column.notNull())
    .addColumn('release_version', 'text', (column) => column.notNull())
    .addColumn('bootimage', 'text', (column) => column.notNull())
    .addColumn('document', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('failure', 'text')
    .addColumn('first_seen_at', 'bigint', (column) => column.notNull())
    .addColumn('ready_at', 'bigint')
    .addColumn('kernel_uncompressed', 'text')
    .execute()
  await db.schema
    .createIndex('bootimage_by_release')
    .on('bootimage')
    .columns(['stream', 'arch', 'release_version'])
    .execute()

  await db.schema
    .createTable('stream_head')
    .addColumn('stream', 'text', (column) => column.notNull())
    .addColumn('arch', 'text', (column) => column.notNull())
    .addColumn('current_bootimage', 'text')
    .addColumn('previous_bootimages', 'text', (column) => column.notNull())
    .addColumn('target_bootimage', 'text')
    .addColumn('last_change', 'text')
    .addColumn('pending', 'text')
    .addColumn('changed_at', 'bigint')
    .addPrimaryKeyConstraint('stream_head_key', ['stream', 'arch'])
    .execute()

  await db.schema
    .createTable('derived')
    .addColumn('sha256', 'text', (column) => column.notNull().primaryKey())
    .addColumn('made_from', 'text', (column) => column.notNull())
    .addColumn('how', 'text', (column) => column.notNull())
    .addColumn('made_at', 'bigint', (column) => column.notNull())
    .execute()

  await db.schema
    .createTable('pin_resolution')
    .addColumn('stream', 'text', (column) => column.notNull())
    .addColumn('arch', 'text', (column) => column.notNull())
    .addColumn('release_version', 'text', (column) => column.notNull())
    .addColumn('bootimage', 'text', (column) => column.notNull())
    .addColumn('resolved_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('pin_resolution_key', ['stream', 'arch', 'release_version'])
    .execute()

  await db.schema
    .createTable('install')
    .addColumn('host', 'text', (column) => column.notNull().primaryKey())
    .addColumn('generation', 'bigint', (column) => column.notNull())
    .addColumn('state', 'text', (column) =>
      column.notNull().check(sql`state in ('armed', 'installed', 'failed')`),
    )
    .addColumn('changed_at', 'bigint', (column) => column.notNull())
    .execute()

  await db.schema
    .createTable('boot_attempt')
    .addColumn('boot_id', 'text', (column) => column.notNull().primaryKey())
    .addColumn('host', 'text')
    .addColumn('mac', 'text')
    .addColumn('bootimage', 'text', (column) => column.notNull())
    .addColumn('started_at', 'bigint', (column) => column.notNull())
    .addColumn('last_seen_at', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('boot_attempt_by_age').on('boot_attempt').column('last_seen_at').execute()
}
