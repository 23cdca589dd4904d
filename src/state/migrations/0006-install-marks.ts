import type { Kysely } from 'kysely'

/** What the machine of an install is recognised by, so that its word stays with it when its host gets another name. */
export async function installMarks(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('install').addColumn('marks', 'text').execute()
}
