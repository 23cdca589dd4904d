import type { Timeline } from '../../boot/timeline/timeline.ts'
import type { AttemptRecord, BootAttempt } from '../../core/boot-attempt.ts'
import { parseAttemptId } from '../../core/boot-attempts/attempt-id.ts'
import { parseBootId } from '../../core/boot-event.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Inventory } from '../../core/host.ts'
import { parseMac } from '../../core/mac.ts'
import type { BootOperations } from '../../http/admin/boot-operations.ts'
import type { AttemptFilter, StateStore } from '../../state/store.ts'
import { findHost } from '../fleet/find-target.ts'
import { bootDetail } from './boot-summary.ts'

/** One boot with all its steps: by its own id, the id of one of its decisions, or the last one of a host or a card. */
export function createShowBoot(options: {
  readonly timeline: Pick<Timeline, 'attempt' | 'of'>
  readonly store: Pick<StateStore, 'listAttempts'>
  readonly reduce: (record: AttemptRecord) => BootAttempt
  readonly inventory: () => Inventory
  readonly now: () => number
}): BootOperations['showBoot'] {
  const { timeline, store, reduce } = options

  async function keptOf(filter: AttemptFilter): Promise<BootAttempt | undefined> {
    const [record] = await store.listAttempts({ ...filter, limit: 1 })
    return record && reduce(record)
  }

  /** Of a boot that was over long ago, memory knows the head alone. */
  async function whole(attempt: BootAttempt): Promise<BootAttempt> {
    if (attempt.state !== 'over') return attempt
    const kept = await keptOf({ id: attempt.id }).catch(() => undefined)
    return kept !== undefined && kept.steps.length > attempt.steps.length ? kept : attempt
  }

  async function named(text: string): Promise<BootAttempt | undefined> {
    const id = parseAttemptId(text)
    const bootId = parseBootId(text)
    if (id === undefined && bootId === undefined) return undefined
    const inMemory = timeline.attempt(text)
    if (inMemory !== undefined) return whole(inMemory)
    return (id && (await keptOf({ id }))) ?? (bootId && (await keptOf({ bootId })))
  }

  /** The last one of a host by its record or its name of before, or of a card. */
  async function lastOf(text: string): Promise<BootAttempt | undefined> {
    const mac = parseMac(text)
    const { hostsById, hostsByMac } = options.inventory()
    const host = hostsById.get(text) ?? (mac && hostsByMac.get(mac))
    const macs = host?.macs ?? (mac === undefined ? [] : [mac])
    const [inMemory] = timeline.of({ host: host?.id ?? text, macs })
    const found = inMemory ?? (await keptOf(mac === undefined ? { host: text } : { mac }))
    return found && whole(found)
  }

  return async (text) => {
    const attempt = (await named(text)) ?? (await lastOf(text))
    if (attempt !== undefined) return bootDetail(attempt, options.now())
    const host = options.inventory().hostsById.get(text)
    if (host !== undefined || parseMac(text) !== undefined) {
      throw new ServiceError('NOT_FOUND', `no boot of ${text} is known`, {
        hint: 'it has not asked here, or too long ago; boots lists those that did',
      })
    }
    if (parseBootId(text) !== undefined) {
      throw new ServiceError('NOT_FOUND', `no boot ${text} is known`, {
        hint: 'old ones are removed after a while (retention.boots)',
      })
    }
    findHost(text, options.inventory())
    throw new ServiceError('NOT_FOUND', `no boot ${JSON.stringify(text)} is known`)
  }
}
