import { ServiceError } from '../../core/errors.ts'
import type { RecordKind, StoredRecord } from '../../core/fleet.ts'
import type { ChangeOptions } from '../../http/admin/fleet-operations.ts'

/** Numbers that no record had before, also where one was removed and made again in between. */
export interface Revisions {
  next(): number
  /** Everything was read anew. */
  raiseTo(revision: number): void
}

/** @param first at least as great as any revision that was ever given */
export function createRevisions(first: number): Revisions {
  let last = first
  return {
    next: () => ++last,
    raiseTo(revision) {
      last = Math.max(last, revision)
    },
  }
}

/** @throws ServiceError REVISION_DIFFERS when the record is not the one that the caller has seen */
export function checkRevision(
  kind: RecordKind,
  name: string,
  record: StoredRecord | undefined,
  { ifRevision }: Pick<ChangeOptions, 'ifRevision'>,
): void {
  const now = record?.revision ?? 0
  if (ifRevision === undefined || ifRevision === now) return
  throw new ServiceError(
    'REVISION_DIFFERS',
    record === undefined
      ? `there is no record of ${kind} ${name} any more`
      : ifRevision === 0
        ? `there is a record of ${kind} ${name} already`
        : `the record of ${kind} ${name} was changed meanwhile, by ${record.changedBy}`,
    { field: 'revision', found: now, expected: ifRevision, hint: 'look at it again, and repeat the change' },
  )
}

/** The record as it is to be written; when it was made, and by whom, stays. */
export function nextRecord(
  kind: RecordKind,
  name: string,
  spec: StoredRecord['spec'],
  made: {
    readonly before?: StoredRecord
    readonly by: string
    readonly at: number
    readonly revision: number
  },
): StoredRecord {
  const { before, by, at, revision } = made
  return {
    kind,
    name,
    spec,
    revision,
    createdAt: before?.createdAt ?? at,
    createdBy: before?.createdBy ?? by,
    changedAt: at,
    changedBy: by,
  }
}
