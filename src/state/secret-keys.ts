import type { Kysely } from 'kysely'
import type { RowReader } from './readable-rows.ts'
import { readText } from './stored-value.ts'
import type { StateTables } from './tables.ts'

/**
 * The secret of this name; the first that was offered counts, whoever else offers one at the same time. One that cannot
 * be read is set aside: what it had sealed does not count any more, which harms less than no start.
 */
export async function keepSecret(
  db: Kysely<StateTables>,
  rowReader: RowReader,
  name: string,
  offered?: Uint8Array,
): Promise<Uint8Array | undefined> {
  const find = async () => {
    const rows = await db.selectFrom('secret').selectAll().where('name', '=', name).execute()
    return (await rowReader.read('secret', rows, ({ value }) => secretValue(value)))[0]
  }
  const known = await find()
  if (known !== undefined || offered === undefined) return known
  await db
    .insertInto('secret')
    .values({ name, value: Buffer.from(offered).toString('base64') })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  return find()
}

/** @throws TypeError that does not repeat it: this ends in logs */
function secretValue(value: unknown): Uint8Array {
  const text = readText(value, 'value')
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text) throw new TypeError('value is not base64')
  return new Uint8Array(bytes)
}
