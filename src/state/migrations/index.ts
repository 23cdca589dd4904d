import type { Kysely } from 'kysely'
import { first } from './0001-first.ts'
import { verifiedFiles } from './0002-verified-files.ts'
import { boundedLeases } from './0003-bounded-leases.ts'
import { unreadableRows } from './0004-unreadable-rows.ts'
import { fleet } from './0005-fleet.ts'
import { installMarks } from './0006-install-marks.ts'
import { bootAddresses } from './0007-boot-addresses.ts'
import { bootTimeline } from './0008-boot-timeline.ts'

export interface Migration {
  readonly name: string
  readonly up: (db: Kysely<unknown>) => Promise<void>
}

/** In order, forward only: a released migration is never edited, moved or removed. Version n is the n-th. */
export const migrations: readonly Migration[] = [
  { name: '0001-first', up: first },
  { name: '0002-verified-files', up: verifiedFiles },
  { name: '0003-bounded-leases', up: boundedLeases },
  { name: '0004-unreadable-rows', up: unreadableRows },
  { name: '0005-fleet', up: fleet },
  { name: '0006-install-marks', up: installMarks },
  { name: '0007-boot-addresses', up: bootAddresses },
  { name: '0008-boot-timeline', up: bootTimeline },
]
