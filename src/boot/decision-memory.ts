import type { BootDecision } from '../core/boot-decision.ts'
import type { Catalog } from '../core/catalog.ts'
import type { BootClient } from '../core/client.ts'
import { type BootView, decideBoot } from '../core/decide-boot.ts'
import type { Inventory } from '../core/host.ts'

/** The same decision for the same client, the very same object, as long as nothing it depends on has changed. */
export interface DecisionMemory {
  decide(client: BootClient, view: Pick<BootView, 'catalog' | 'inventory' | 'now'>): BootDecision
}

/**
 * Remembers what machines were told under this snapshot and this configuration: a hall that waits for its release asks
 * again and again. Both are immutable, so a decision lasts exactly as long as they do and no pin ends meanwhile; a
 * clock that was set back forgets as well.
 */
export function createDecisionMemory({
  maximum = 16_384,
}: {
  /** Decisions kept at most, some 2 KB each; one more, and all are forgotten. */
  readonly maximum?: number
} = {}): DecisionMemory {
  const decisions = new Map<string, BootDecision>()
  let catalog: Catalog | undefined
  let inventory: Inventory | undefined
  let validFrom = 0
  let validUntil = 0

  function forgetWhatChanged(view: Pick<BootView, 'catalog' | 'inventory' | 'now'>): void {
    if (view.inventory !== inventory || view.now < validFrom || view.now >= validUntil) {
      inventory = view.inventory
      validFrom = view.now
      validUntil = nextPinEnd(inventory, view.now)
      decisions.clear()
    }
    if (view.catalog !== catalog || decisions.size >= maximum) {
      catalog = view.catalog
      decisions.clear()
    }
  }

  return {
    decide(client, view) {
      forgetWhatChanged(view)
      const key = keyOf(client)
      const known = decisions.get(key)
      if (known !== undefined) return known
      const decision = decideBoot(client, view)
      decisions.set(key, decision)
      return decision
    },
  }
}

/** Everything that a client can say, so that nothing a decision may ever depend on is left out. */
function keyOf({ macs, uuid, serial, arch, firmware, loader, address }: BootClient): string {
  // A serial is any text and so stands last.
  return `${macs} ${uuid} ${arch} ${firmware} ${loader} ${address} ${serial}`
}

/** The moment from which a pin of this inventory does not count any more; `Infinity` when none ends. */
function nextPinEnd({ hostsById, groups, profiles }: Inventory, now: number): number {
  let next = Infinity
  for (const places of [hostsById.values(), groups, profiles.values()]) {
    for (const { pin } of places) {
      if (pin?.until !== undefined && pin.until > now) next = Math.min(next, pin.until)
    }
  }
  return next
}
