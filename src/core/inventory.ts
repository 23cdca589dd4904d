import { createEndTimes } from './end-times.ts'
import { createGroupIndex } from './group-index.ts'
import type { Group, Inventory, InventoryParts } from './host.ts'
import { createHostIndex } from './host-index.ts'
import { nothingSetAtRunTime } from './run-time-settings.ts'

/**
 * Indexes what files say for the boot path: each way to recognise a machine is one map lookup. What was said at run
 * time is added by who has it (`runtime/fleet/fleet-view.ts`). Where two hosts claim the same mark, the first one keeps
 * it; the configuration refuses such files before they come here.
 */
export function buildInventory({ hosts, groups, profiles, unknown }: InventoryParts): Inventory {
  const ends = createEndTimes()
  const index = createHostIndex(ends)
  for (const host of hosts) index.add(host)
  for (const { pins = [] } of [...groups, ...profiles]) for (const { until } of pins) ends.add(until)
  return {
    ...index.maps,
    ...groupsInOrder(groups),
    profiles: new Map(profiles.map((profile) => [profile.name, profile])),
    unknown,
    runTime: nothingSetAtRunTime,
    installs: new Map(),
    installsByMark: new Map(),
    nextEnd: ends.nextAfter,
  }
}

/** Groups by precedence, and what finds those of a host. */
export function groupsInOrder(groups: Iterable<Group>): Pick<Inventory, 'groups' | 'groupIndex'> {
  const sorted = [...groups].sort(byPrecedence)
  return { groups: sorted, groupIndex: createGroupIndex(sorted) }
}

/** More selectors first, then by name as code points, so that the order is the same on every machine. */
function byPrecedence(a: Group, b: Group): number {
  const selectors = Object.keys(b.labels).length - Object.keys(a.labels).length
  if (selectors !== 0) return selectors
  return a.name < b.name ? -1 : Number(a.name > b.name)
}
