import type { Kysely } from 'kysely'

/** What admins and nodes say at run time. The table of installs of version 1 was never written to: it is made anew. */
export async function fleet(db: Kysely<unknown>): Promise<void> {
  await whatAdminsSay(db)
  await installs(db)
  await history(db)
}

async function whatAdminsSay(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('fleet_record')
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('spec', 'text', (column) => column.notNull())
    .addColumn('revision', 'bigint', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('created_by', 'text', (column) => column.notNull())
    .addColumn('changed_at', 'bigint', (column) => column.notNull())
    .addColumn('changed_by', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('fleet_record_key', ['kind', 'name'])
    .execute()

  await db.schema
    .createTable('run_time_setting')
    .addColumn('id', 'text', (column) => column.notNull().primaryKey())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('target_kind', 'text', (column) => column.notNull())
    .addColumn('target_name', 'text', (column) => column.notNull())
    .addColumn('set_by', 'text', (column) => column.notNull())
    .addColumn('set_at', 'bigint', (column) => column.notNull())
    .addColumn('reason', 'text')
    .addColumn('until', 'bigint')
    .addColumn('macs', 'text')
    .addColumn('release_version', 'text')
    .addColumn('stream', 'text')
    .addColumn('arch', 'text')
    .addColumn('mode', 'text')
    .execute()

  await db.schema
    .createTable('api_token')
    .addColumn('id', 'text', (column) => column.notNull().primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('created_by', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'bigint')
    .addColumn('revoked_at', 'bigint')
    .execute()

  await db.schema
    .createTable('boot_token_revocation')
    .addColumn('host', 'text', (column) => column.notNull().primaryKey())
    .addColumn('revoked_before', 'bigint', (column) => column.notNull())
    .execute()

  await db.schema
    .createTable('secret')
    .addColumn('name', 'text', (column) => column.notNull().primaryKey())
    .addColumn('value', 'text', (column) => column.notNull())
    .execute()
}

async function installs(db: Kysely<unknown>): Promise<void> {
  await db.schema.dropTable('install').execute()
  await db.schema
    .createTable('install')
    .addColumn('host', 'text', (column) => column.notNull().primaryKey())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('generation', 'bigint', (column) => column.notNull())
    .addColumn('file_generation', 'bigint', (column) => column.notNull())
    .addColumn('device', 'text')
    .addColumn('armed_at', 'bigint', (column) => column.notNull())
    .addColumn('armed_by', 'text', (column) => column.notNull())
    .addColumn('reason', 'text')
    .addColumn('serves', 'bigint', (column) => column.notNull())
    .addColumn('most_serves', 'bigint', (column) => column.notNull())
    .addColumn('until', 'bigint', (column) => column.notNull())
    .addColumn('failure', 'text')
    .addColumn('changed_at', 'bigint', (column) => column.notNull())
    .addColumn('changed_by', 'text', (column) => column.notNull())
    .execute()
}

async function history(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('node_report')
    .addColumn('boot_id', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('host', 'text')
    .addColumn('mac', 'text')
    .addColumn('address', 'text')
    .addColumn('bootimage', 'text')
    .addColumn('os_version', 'text')
    .addColumn('kernel_command_line_sha256', 'text')
    .addColumn('machine_id', 'text')
    .addColumn('message', 'text')
    .addPrimaryKeyConstraint('node_report_key', ['boot_id', 'status'])
    .execute()
  await db.schema.createIndex('node_report_by_age').on('node_report').column('at').execute()
  await db.schema.createIndex('node_report_by_host').on('node_report').columns(['host', 'at']).execute()

  await db.schema
    .createTable('audit_entry')
    // Ids are not given again after the newest entry was removed: a page is asked for by the last id of the one before.
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('done_by', 'text', (column) => column.notNull())
    .addColumn('via', 'text', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('target', 'text', (column) => column.notNull())
    .addColumn('summary', 'text', (column) => column.notNull())
    .addColumn('reason', 'text')
    .execute()
  await db.schema.createIndex('audit_entry_by_age').on('audit_entry').column('at').execute()
  await db.schema.createIndex('audit_entry_by_target').on('audit_entry').columns(['target', 'id']).execute()

  await db.schema
    .createTable('seen_machine')
    .addColumn('mac', 'text', (column) => column.notNull().primaryKey())
    .addColumn('first_seen_at', 'bigint', (column) => column.notNull())
    .addColumn('last_seen_at', 'bigint', (column) => column.notNull())
    .addColumn('seen_count', 'bigint', (column) => column.notNull())
    .addColumn('uuid', 'text')
    .addColumn('serial', 'text')
    .addColumn('arch', 'text')
    .addColumn('firmware', 'text')
    .addColumn('address', 'text')
    .addColumn('decision', 'text')
    .execute()
  await db.schema.createIndex('seen_machine_by_age').on('seen_machine').column('last_seen_at').execute()
}
