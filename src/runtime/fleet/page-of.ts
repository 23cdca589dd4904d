import { ServiceError } from '../../core/errors.ts'
import type { Page } from '../../http/admin/fleet-operations.ts'

export const usualLimit = 100

/**
 * One page of a list that is sorted by its keys. The cursor is the key of the last item, so a page goes on at the right
 * place also where that item has gone meanwhile.
 */
export function pageOf<Item, Shown>(
  sorted: readonly Item[],
  query: { readonly limit?: number; readonly after?: string },
  keyOf: (item: Item) => string,
  show: (item: Item) => Shown,
): Page<Shown> {
  const { limit = usualLimit, after } = query
  const begin = after === undefined ? 0 : firstAfter(sorted, after, keyOf)
  const items = sorted.slice(begin, begin + limit)
  const last = items.at(-1)
  const isLast = begin + limit >= sorted.length || last === undefined
  return {
    items: items.map(show),
    total: sorted.length,
    ...(isLast ? {} : { next: keyOf(last) }),
  }
}

/** Index of the first item whose key is greater, by code units as `<` compares. */
export function firstAfter<Item>(
  sorted: readonly Item[],
  key: string,
  keyOf: (item: Item) => string,
): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (keyOf(sorted[middle] as Item) <= key) low = middle + 1
    else high = middle
  }
  return low
}

/** A cursor that is a number. @throws ServiceError USAGE for any other text */
export function numberCursor(after: string): number {
  if (/^\d{1,15}$/.test(after)) return Number(after)
  throw badCursor()
}

export function badCursor(): ServiceError {
  return new ServiceError('USAGE', 'after is not understood', {
    field: 'after',
    hint: 'hand back what the page before gave as next',
  })
}

export const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b))
