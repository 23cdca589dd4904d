import type { BootDecision, WantedBootimage } from '../core/boot-decision.ts'
import type { BootEvent, BootId, TraceId } from '../core/boot-event.ts'
import { expectationsOf } from '../core/boot-expectations.ts'
import { bootFilesOf } from '../core/boot-files.ts'
import type { CatalogSource } from '../core/catalog.ts'
import type { BootClient } from '../core/client.ts'
import type { Clock } from '../core/clock.ts'
import type { Inventory } from '../core/host.ts'
import type { AddressGuard } from './address-guard.ts'
import type { BootService } from './boot-service.ts'
import { createDecisionMemory } from './decision-memory.ts'
import type { Leases } from './leases.ts'
import { createBootIdMint } from './mint-boot-id.ts'
import type { NewestBoots } from './newest-boots.ts'

export interface BootServiceOptions {
  readonly catalog: CatalogSource
  /** What files and admins say now. */
  readonly inventory: () => Inventory
  readonly clock: Clock
  readonly randomBytes: (size: number) => Uint8Array
  readonly leases: Leases
  readonly newestBoots: Pick<NewestBoots, 'note' | 'end'>
  /** Who is told what at which address; default: everybody everything. */
  readonly guard?: Pick<AddressGuard, 'admit' | 'look'>
  /** One call for each answer; must not throw and must not block. */
  readonly onEvent: (event: BootEvent) => void
  /**
   * A machine waits for this bootimage. Called for every waiting answer, so the driver must be content to hear the
   * same wish again and again; it starts the fetch (G5). Must not throw and must not block.
   */
  readonly onWanted: (wanted: WantedBootimage) => void
  /** A host was answered with an install script. Must not throw and must not block. */
  readonly onInstallServed: (host: string, bootId: BootId) => void
}

/** Client → snapshot → decision → boot id → lease → event, all in one turn and from memory alone. */
export function createBootService(options: BootServiceOptions): BootService {
  const { catalog, inventory, clock, randomBytes, leases, newestBoots, guard, onEvent } = options
  const mintBootId = createBootIdMint(randomBytes)
  const memory = createDecisionMemory()

  function decideAt(now: number, client: BootClient): BootDecision {
    return memory.decide(client, { catalog: catalog.current(), inventory: inventory(), now })
  }

  function lease(bootId: BootId, decision: BootDecision, client: BootClient, now: number): void {
    const host = decision.host?.id
    const mac = client.macs[0]
    if (decision.kind !== 'live' && decision.kind !== 'install') {
      newestBoots.end({ host, mac }, now)
      return
    }
    // One object for both, written out: every boot comes by here.
    const attempt = {
      bootId,
      host,
      mac,
      address: client.address,
      bootimage: decision.bootimage.id,
      startedAt: now,
      lastSeenAt: now,
    }
    newestBoots.note(attempt)
    leases.start(attempt)
  }

  return {
    answer(client, trace) {
      const now = clock.now()
      const decided = decideAt(now, client)
      const decision = guard === undefined ? decided : guard.admit(decided, client)
      const bootId = mintBootId()
      // Whom the guard refuses ends nothing for the machine that is booting.
      if (decision === decided) lease(bootId, decision, client, now)
      onEvent(decidedEvent(decision, client, bootId, now, trace))
      if (decision.kind === 'wait') options.onWanted(decision.wanted)
      // The script that is answered now is counted: the next one may be one too many.
      if (decision.kind === 'install' && decision.host !== undefined) {
        options.onInstallServed(decision.host.id, bootId)
      }
      return { decision, bootId }
    },
    explain(client) {
      const decision = decideAt(clock.now(), client)
      return guard === undefined ? decision : guard.look(decision, client)
    },
    touch(bootId) {
      leases.touch(bootId, clock.now())
    },
  }
}

function decidedEvent(
  decision: BootDecision,
  client: BootClient,
  bootId: BootId,
  at: number,
  trace: TraceId | undefined,
): BootEvent {
  return {
    type: 'decided',
    at,
    bootId,
    kind: decision.kind,
    reason: decision.reasons[0].code,
    reasons: decision.reasons,
    mac: client.macs[0],
    uuid: client.uuid,
    serial: client.serial,
    arch: decision.arch ?? client.arch,
    firmware: client.firmware,
    host: decision.host?.id,
    address: client.address,
    bootimage: 'bootimage' in decision ? decision.bootimage.id : undefined,
    loader: client.loader,
    expects: expectationsOf(decision),
    files: bootFilesOf(decision),
    trace,
  }
}
