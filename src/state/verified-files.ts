import type { Kysely } from 'kysely'
import type { Sha256 } from '../core/digest.ts'
import { parseFileIdentity } from '../core/file-identity.ts'
import type { VerifiedFile } from './store.ts'
import { readSha256 } from './stored-value.ts'
import type { StateTables, VerifiedFileRow } from './tables.ts'

export async function saveVerified(db: Kysely<StateTables>, record: VerifiedFile): Promise<void> {
  const row: VerifiedFileRow = {
    sha256: record.sha256,
    identity: record.identity,
    verified_at: record.verifiedAt,
    signature_sha256: record.signature?.sha256 ?? null,
    signature_identity: record.signature?.identity ?? null,
  }
  await db
    .insertInto('verified_file')
    .values(row)
    .onConflict((conflict) => conflict.column('sha256').doUpdateSet(row))
    .execute()
}

export async function removeVerified(db: Kysely<StateTables>, digests: readonly Sha256[]): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    for (const sha256 of digests)
      await transaction.deleteFrom('verified_file').where('sha256', '=', sha256).execute()
  })
}

/** @throws TypeError naming the field */
export function verifiedFile(row: VerifiedFileRow): VerifiedFile {
  const { signature_sha256: digest, signature_identity: signed } = row
  return {
    sha256: readSha256(row.sha256, 'sha256'),
    identity: readIdentity(row.identity),
    verifiedAt: row.verified_at,
    ...(digest === null || signed === null
      ? {}
      : {
          signature: { sha256: readSha256(digest, 'signature_sha256'), identity: readIdentity(signed) },
        }),
  }
}

function readIdentity(text: unknown) {
  const identity = typeof text === 'string' ? parseFileIdentity(text) : undefined
  if (identity === undefined) throw new TypeError(`identity is ${JSON.stringify(text)}`)
  return identity
}
