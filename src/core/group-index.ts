import type { Group, Host } from './host.ts'

/** Finds the groups that select a host without looking at all of them. */
export interface GroupIndex {
  /** In the order of the groups that the index was made from. */
  groupsOf(host: Pick<Host, 'labels'>): readonly Group[]
}

interface Entry {
  readonly group: Group
  readonly place: number
}

/**
 * Each group waits under the one label of its own that the fewest groups share: a host looks under its own labels and
 * meets hardly any group that does not select it. A thousand groups, one a rack, cost a decision as much as one.
 * @param groups in order of precedence
 */
export function createGroupIndex(groups: readonly Group[]): GroupIndex {
  const shared = new Map<string, number>()
  for (const { labels } of groups) {
    for (const pair of pairsOf(labels)) shared.set(pair, (shared.get(pair) ?? 0) + 1)
  }
  const everyones: Entry[] = []
  const byPair = new Map<string, Entry[]>()
  for (const [place, group] of groups.entries()) {
    const rarest = pairsOf(group.labels).sort((a, b) => (shared.get(a) ?? 0) - (shared.get(b) ?? 0))[0]
    if (rarest === undefined) everyones.push({ group, place })
    else entriesOf(rarest).push({ group, place })
  }

  function entriesOf(pair: string): Entry[] {
    const known = byPair.get(pair)
    if (known !== undefined) return known
    const entries: Entry[] = []
    byPair.set(pair, entries)
    return entries
  }

  return {
    groupsOf({ labels }) {
      if (groups.length === 0) return groups
      const found = [...everyones]
      for (const pair of pairsOf(labels)) {
        for (const entry of byPair.get(pair) ?? []) if (selects(entry.group, labels)) found.push(entry)
      }
      return found.sort((a, b) => a.place - b.place).map(({ group }) => group)
    },
  }
}

/** Whether a group selects a host: the host carries every label that the group names. */
function selects(group: Group, labels: Host['labels']): boolean {
  for (const label in group.labels) {
    if (!Object.hasOwn(labels, label) || labels[label] !== group.labels[label]) return false
  }
  return true
}

/** A label and its value as one key; no label holds a NUL. */
function pairsOf(labels: Host['labels']): string[] {
  return Object.entries(labels).map(([label, value]) => `${label}\0${value}`)
}
