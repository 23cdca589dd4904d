import type { AttemptOutcome } from '../../core/boot-attempt.ts'
import type { PhaseSilences } from '../../core/boot-attempts/attempt-facts.ts'
import { gatherFacts } from '../../core/boot-attempts/gather-facts.ts'
import { learnLimits, mostLearnedBoots, type PhaseLimits } from '../../core/boot-attempts/phase-limits.ts'
import type { MacAddress } from '../../core/mac.ts'
import type { KeptAttempt } from './kept-attempt.ts'

/** One machine: all cards that were seen of it, and its boots. */
export interface Machine {
  host: string | undefined
  readonly macs: MacAddress[]
  /** Oldest first; the newest ones of it. */
  attempts: KeptAttempt[]
  /** How long it was silent in its last good boots, oldest first. */
  history: readonly PhaseSilences[] | undefined
  /** Made from that when they are first asked for. */
  limits: PhaseLimits | undefined
  /** When it was last told of that it comes back although it is sent to its disk. */
  returnsToldAt?: number
}

const mostCards = 16

export interface Machines {
  /** The machine of a card, which may be another card of a host that is known already; made when there is none. */
  machineOf(mac: MacAddress, host: string | undefined): Machine
  byMac(mac: MacAddress): Machine | undefined
  byHost(host: string): Machine | undefined
  all(): Iterable<Machine>
  forget(machine: Machine): void
  readonly size: number
}

/**
 * Two cards that are known to belong to one host are one machine from then on: `onJoin` brings their boots together.
 */
export function createMachines({
  onJoin,
}: {
  readonly onJoin: (machine: Machine, joined: Machine) => void
}): Machines {
  const byMac = new Map<MacAddress, Machine>()
  const byHost = new Map<string, Machine>()
  const machines = new Set<Machine>()

  function create(mac: MacAddress): Machine {
    const machine: Machine = {
      host: undefined,
      macs: [mac],
      attempts: [],
      history: undefined,
      limits: undefined,
    }
    machines.add(machine)
    byMac.set(mac, machine)
    return machine
  }

  function name(machine: Machine, host: string): void {
    if (machine.host !== undefined && byHost.get(machine.host) === machine) byHost.delete(machine.host)
    machine.host = host
    byHost.set(host, machine)
  }

  function give(mac: MacAddress, machine: Machine): void {
    byMac.set(mac, machine)
    if (machine.macs.includes(mac)) return
    machine.macs.push(mac)
    // Whoever knows a host's UUID can ask with any card.
    if (machine.macs.length <= mostCards) return
    const oldest = machine.macs.shift()
    if (oldest !== undefined && byMac.get(oldest) === machine) byMac.delete(oldest)
  }

  function forget(machine: Machine): void {
    machines.delete(machine)
    for (const mac of machine.macs) if (byMac.get(mac) === machine) byMac.delete(mac)
    if (machine.host !== undefined && byHost.get(machine.host) === machine) byHost.delete(machine.host)
  }

  return {
    machineOf(mac, host) {
      const known = byMac.get(mac)
      if (host === undefined || known?.host === host) return known ?? create(mac)
      const ofHost = byHost.get(host)
      if (ofHost === undefined) {
        const machine = known ?? create(mac)
        name(machine, host)
        return machine
      }
      if (known === undefined || known.host !== undefined) {
        // A card that was built into another host.
        if (known !== undefined) known.macs.splice(known.macs.indexOf(mac), 1)
        give(mac, ofHost)
        return ofHost
      }
      onJoin(ofHost, known)
      machines.delete(known)
      for (const card of known.macs) give(card, ofHost)
      return ofHost
    },
    byMac: (mac) => byMac.get(mac),
    byHost: (host) => byHost.get(host),
    all: () => machines,
    forget,
    get size() {
      return machines.size
    },
  }
}

const goodOutcomes: ReadonlySet<AttemptOutcome | undefined> = new Set(['booted', 'installed', 'served'])

/** How long this machine may be silent in each phase, by what its last good boots took. */
export function limitsOf(machine: Machine): PhaseLimits {
  machine.limits ??= learnLimits(historyOf(machine))
  return machine.limits
}

/** After a boot of it; what went wrong teaches nothing. */
export function learnFrom(machine: Machine, outcome: AttemptOutcome, silences: PhaseSilences): void {
  if (!goodOutcomes.has(outcome)) return
  machine.history = [...historyOf(machine), silences].slice(-mostLearnedBoots)
  machine.limits = undefined
}

/** From what an earlier run of the service kept, once. */
function historyOf(machine: Machine): readonly PhaseSilences[] {
  machine.history ??= machine.attempts
    .filter(({ outcome, isHead, isRestored }) => isRestored && goodOutcomes.has(outcome) && isHead !== true)
    .slice(-mostLearnedBoots)
    .map((attempt) => gatherFacts(attempt).silences)
  return machine.history
}
