import type { Kysely } from 'kysely'
import { first } from './0001-first.ts'

export interface Migration {
  readonly name: string
  readonly up: (db: Kysely<unknown>) => Promise<void>
}

/** In order, forward only: a released migration is never edited, moved or removed. Version n is the n-th. */
export const migrations: readonly Migration[] = [{ name: '0001-first', up: first }]
