import { type Command, InvalidArgumentError } from 'commander'
import type { Page } from '../../http/admin/fleet-operations.ts'
import { maxListLimit } from '../../http/admin/schemas/fleet.ts'

/** Options of a list that can be long. */
export interface ListOptions {
  readonly limit?: number
}

/** @param usual how many are shown when nothing is said; absent: all */
export function addLimitOption(command: Command, usual?: number): Command {
  return usual === undefined
    ? command.option('--limit <number>', 'at most so many (default: all)', readLimit)
    : command.option('--limit <number>', 'at most so many', readLimit, usual)
}

/**
 * A list from its pages: all of it, or the first `limit`. A page that says it goes on and brings nothing ends it.
 * @param ask gets the part of the query that says which page
 */
export async function gatherPages<Item>(
  ask: (page: { readonly limit: number; readonly after?: string }) => Promise<Page<Item>>,
  { limit = Number.POSITIVE_INFINITY }: ListOptions,
): Promise<{ readonly items: readonly Item[]; readonly total: number }> {
  const items: Item[] = []
  let after: string | undefined
  for (;;) {
    const page = await ask({
      limit: Math.min(maxListLimit, limit - items.length),
      ...(after !== undefined && { after }),
    })
    for (const item of page.items) items.push(item)
    after = page.next
    if (after === undefined || page.items.length === 0 || items.length >= limit) {
      return { items, total: page.total }
    }
  }
}

/** `12 of 340 hosts`, when not all are shown. */
export function restText(shown: number, total: number, noun: string): string {
  return shown < total ? `${shown} of ${total} ${noun}s; --limit shows more\n` : ''
}

function readLimit(text: string): number {
  const limit = /^\d{1,7}$/.test(text) ? Number(text) : 0
  if (limit > 0) return limit
  throw new InvalidArgumentError('a number from 1 on')
}
