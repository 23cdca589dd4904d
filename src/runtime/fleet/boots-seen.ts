import type { Leases } from '../../boot/leases.ts'
import type { BootEvent } from '../../core/boot-event.ts'
import type { BootsSeen } from './fleet-context.ts'

/** Hosts whose last boot is remembered. */
const mostHosts = 131_072

/** What boots tell of hosts: the attempts that hold leases, and when each host was last answered. */
export function createBootsSeen(options: {
  readonly leases: Pick<Leases, 'attempts'>
  readonly flagsOf: BootsSeen['flagsOf']
}): BootsSeen & { note(event: BootEvent): void; restore(): void } {
  const { leases } = options
  /** The longest ago first. */
  const lastSeen = new Map<string, number>()

  function see(host: string, at: number): void {
    const before = lastSeen.get(host) ?? 0
    lastSeen.delete(host)
    lastSeen.set(host, Math.max(at, before))
    if (lastSeen.size <= mostHosts) return
    const [oldest] = lastSeen.keys()
    if (oldest !== undefined) lastSeen.delete(oldest)
  }

  return {
    attempts: () => leases.attempts(),
    lastSeenAt: (host) => lastSeen.get(host),
    flagsOf: options.flagsOf,
    note(event) {
      if ('host' in event && event.host !== undefined) see(event.host, event.at)
    },
    restore() {
      for (const { host, lastSeenAt } of leases.attempts()) if (host !== undefined) see(host, lastSeenAt)
    },
  }
}
