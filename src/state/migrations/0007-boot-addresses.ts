import type { Kysely } from 'kysely'

/** Where a boot was answered, so that a service that starts again gives its secrets to nobody else (G12). */
export async function bootAddresses(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('boot_attempt').addColumn('address', 'text').execute()
}
