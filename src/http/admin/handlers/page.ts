import type { Page } from '../fleet-operations.ts'

const usualLimit = 100

/**
 * One page of a list that is at hand as a whole, in the order of its keys, so that pages neither repeat nor skip what
 * stays while others come and go.
 */
export function pageOfAll<Item>(
  all: readonly Item[],
  keyOf: (item: Item) => string,
  { limit = usualLimit, after }: { readonly limit?: number; readonly after?: string },
): Page<Item> {
  const ordered = [...all].sort((a, b) => compare(keyOf(a), keyOf(b)))
  const rest = after === undefined ? ordered : ordered.filter((item) => compare(keyOf(item), after) > 0)
  const items = rest.slice(0, limit)
  const last = items.at(-1)
  return {
    items,
    total: all.length,
    ...(last !== undefined && rest.length > items.length && { next: keyOf(last) }),
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
