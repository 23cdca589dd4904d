import type { BootDecision } from '../core/boot-decision.ts'
import type { BootLease } from '../core/boot-lease.ts'
import type { BootClient } from '../core/client.ts'
import type { Clock } from '../core/clock.ts'
import { defaultLocalBoot } from '../core/effective-settings.ts'
import { installerReports, servesIgnition } from '../core/ignition-serving.ts'
import type { Log } from '../core/log.ts'
import type { MacAddress } from '../core/mac.ts'
import { type Reason, reason } from '../core/reason.ts'
import type { SeenMachines } from '../core/seen-machines.ts'
import { sameLineOften } from './same-line-often.ts'

/**
 * For `bind: address`: scripts that carry a secret go to one address for each machine (G12).
 *
 * Where DHCP has seen who holds an address, only the machine itself is answered there. Where it has not, the first
 * address that asks is the one, until its boot has ended: that far a network boot can tell, and no further.
 */
export interface AddressGuard {
  /** The decision as it may be told at this address: itself, or a `hold` that says why. Takes note of who is answered. */
  admit(decision: BootDecision, client: BootClient): BootDecision
  /** The same without taking note. */
  look(decision: BootDecision, client: BootClient): BootDecision
  /** Where this machine was answered last, by the id of its host or its MAC. */
  addressOf(machine: string): string | undefined
  /** The boot of this machine goes on at this address. */
  goesOn(machine: string, address: string): void
  /** What an earlier process wrote down: its boots go on where they were. */
  restore(attempts: readonly BootLease[]): void
}

interface Holder {
  readonly address: string
  readonly since: number
  readonly lastSeenAt: number
}

/** A boot that was not heard of for this long has ended. From one script to Ignition it is a download of 1 GB. */
export const bootGoesOnMs = 15 * 60_000
const mostHolders = 50_000

export function createAddressGuard(options: {
  readonly isOn: () => boolean
  readonly seen: SeenMachines
  readonly clock: Clock
  readonly log: Log
}): AddressGuard {
  const { isOn, seen, clock, log } = options
  /** The longest silent first. */
  const holders = new Map<string, Holder>()
  const lines = sameLineOften(clock)

  function hold(machine: string, address: string): void {
    const now = clock.now()
    const known = holders.get(machine)
    const since = known?.address === address ? known.since : now
    holders.delete(machine)
    holders.set(machine, { address, since, lastSeenAt: now })
    if (holders.size <= mostHolders) return
    const [oldest] = holders.keys()
    if (oldest !== undefined) holders.delete(oldest)
  }

  function refusal(decision: BootDecision, client: BootClient, address: string): Reason | undefined {
    const macs = macsOf(decision, client)
    const owner = seen.macOf(address)
    if (owner !== undefined) {
      return macs.includes(owner) ? undefined : reason('address-of-another-machine', { address, mac: owner })
    }
    for (const mac of macs) {
      const own = seen.addressOf(mac)
      if (own !== undefined && own !== address) return reason('address-not-its-own', { address, own })
    }
    const holder = holders.get(machineKey(decision, client))
    const goesOn = holder !== undefined && clock.now() - holder.lastSeenAt < bootGoesOnMs
    if (!goesOn || holder.address === address) return undefined
    const since = new Date(holder.since).toISOString()
    return reason('address-of-another-boot', { address, other: holder.address, since })
  }

  function check(decision: BootDecision, client: BootClient, isNoted: boolean): BootDecision {
    const { address } = client
    if (!isOn() || address === undefined || !carriesSecret(decision)) return decision
    const why = refusal(decision, client, address)
    const machine = machineKey(decision, client)
    if (why === undefined) {
      if (isNoted) hold(machine, address)
      return decision
    }
    const more = isNoted ? lines.count(`${why.code} ${machine}`) : undefined
    if (more !== undefined) {
      log.warn(
        { address, machine, reason: why.code, ...why.facts, more },
        'a script with secrets was refused',
      )
    }
    const { host, arch, pin, reasons } = decision
    return {
      kind: 'hold',
      method: defaultLocalBoot(client.firmware),
      host,
      arch,
      pin,
      reasons: [why, ...reasons],
    }
  }

  return {
    admit: (decision, client) => check(decision, client, true),
    look: (decision, client) => check(decision, client, false),
    addressOf: (machine) => holders.get(machine)?.address,
    goesOn(machine, address) {
      if (holders.get(machine)?.address === address) hold(machine, address)
    },
    restore(attempts) {
      const now = clock.now()
      const begun = [...holders]
      for (const { host, mac, address, startedAt, lastSeenAt } of attempts.toSorted(
        (a, b) => a.lastSeenAt - b.lastSeenAt,
      )) {
        const machine = host ?? mac
        if (machine === undefined || address === undefined) continue
        holders.delete(machine)
        // A clock that was wrong holds nothing longer than a boot lasts.
        holders.set(machine, { address, since: startedAt, lastSeenAt: Math.min(now, lastSeenAt) })
      }
      // What this process has answered is newer than all of them.
      for (const [machine, holder] of begun) {
        holders.delete(machine)
        holders.set(machine, holder)
      }
    },
  }
}

function carriesSecret(decision: BootDecision): boolean {
  if (decision.kind === 'install' && installerReports(decision.parameters)) return true
  return (decision.kind === 'live' || decision.kind === 'install') && servesIgnition(decision.parameters)
}

/** Those of its record: what a machine says of itself besides the one that asks proves nothing. */
function macsOf({ host }: BootDecision, { macs }: BootClient): readonly MacAddress[] {
  return host === undefined || host.macs.length === 0 ? macs.slice(0, 1) : host.macs
}

function machineKey({ host }: BootDecision, { macs: [mac] }: BootClient): string {
  return host?.id ?? mac ?? ''
}
