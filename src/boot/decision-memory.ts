import type { BootDecision } from '../core/boot-decision.ts'
import type { Catalog } from '../core/catalog.ts'
import type { BootClient } from '../core/client.ts'
import { type BootView, decideBoot } from '../core/decide-boot.ts'
import type { Inventory } from '../core/host.ts'

/** The same decision for the same client, the very same object, as long as nothing it depends on has changed. */
export interface DecisionMemory {
  decide(client: BootClient, view: Pick<BootView, 'catalog' | 'inventory' | 'now'>): BootDecision
}

/** What one machine said, and what it was told. */
interface Told {
  readonly client: BootClient
  readonly decision: BootDecision
}

/** Of one MAC: its firmware, its loaders, with this address and that. All without a MAC count as one. */
const mostToldToOne = 16

/**
 * Remembers what machines were told under this snapshot and this configuration: a hall that waits for its release asks
 * again and again. Both are immutable, so a decision lasts exactly as long as they do and no pin, mode or install ends meanwhile; a
 * clock that was set back forgets as well.
 */
export function createDecisionMemory({
  maximum = 16_384,
}: {
  /** Decisions kept at most, some 2 KB each; one more, and all are forgotten. */
  readonly maximum?: number
} = {}): DecisionMemory {
  /** By the MAC that asks, which is a key that others have hashed already; firmware, iPXE and GRUB say different things. */
  const decisions = new Map<string, Told[]>()
  let count = 0
  let catalog: Catalog | undefined
  let inventory: Inventory | undefined
  let validFrom = 0
  let validUntil = 0

  function forgetWhatChanged(view: Pick<BootView, 'catalog' | 'inventory' | 'now'>): void {
    if (view.inventory !== inventory || view.now < validFrom || view.now >= validUntil) {
      inventory = view.inventory
      validFrom = view.now
      validUntil = inventory.nextEnd(view.now)
      forgetAll()
    }
    if (view.catalog !== catalog || count >= maximum) {
      catalog = view.catalog
      forgetAll()
    }
  }

  function forgetAll(): void {
    decisions.clear()
    count = 0
  }

  function toldTo(mac: string): Told[] {
    const known = decisions.get(mac)
    if (known !== undefined) return known
    const told: Told[] = []
    decisions.set(mac, told)
    return told
  }

  return {
    decide(client, view) {
      forgetWhatChanged(view)
      const told = toldTo(client.macs[0] ?? '')
      for (const known of told) if (saysTheSame(known.client, client)) return known.decision
      const decision = decideBoot(client, view)
      // Who says something new each time pushes out what it said first.
      if (told.length >= mostToldToOne) told.shift()
      else count += 1
      told.push({ client, decision })
      return decision
    },
  }
}

/** Everything that a client can say, so that nothing a decision may ever depend on is left out. */
function saysTheSame(a: BootClient, b: BootClient): boolean {
  return (
    a.arch === b.arch &&
    a.firmware === b.firmware &&
    a.loader === b.loader &&
    a.address === b.address &&
    a.uuid === b.uuid &&
    a.serial === b.serial &&
    areEqual(a.macs, b.macs)
  )
}

function areEqual(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index += 1) if (a[index] !== b[index]) return false
  return true
}
