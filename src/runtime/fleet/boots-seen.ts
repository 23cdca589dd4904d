import type { Host, Inventory } from '../../core/host.ts'
import type { MacAddress } from '../../core/mac.ts'
import type { BootOperations } from '../../http/admin/boot-operations.ts'
import type { StateStore } from '../../state/store.ts'
import type { BootsSeen } from './fleet-context.ts'

/** As many as people look at. */
const shownBoots = 10
/** Machines that were unknown when they were seen last. */
const mostAdopted = 131_072

/** What boots tell of hosts: the last ones of each, when it was seen, and what is wrong with it. */
export function createBootsSeen(options: {
  /** Of its last boot, ms since the epoch. */
  readonly lastBootAt: (host: Host) => number | undefined
  /** What its last boot shows, in words. */
  readonly troubleOf: (host: Host) => string | undefined
  readonly listBoots: BootOperations['listBoots']
  readonly store: Pick<StateStore, 'countAttempts'>
  /** When a machine asked that no record matched then. */
  readonly strangerSeenAt?: (mac: MacAddress) => number | undefined
  /** Marks that it shares with others, in words. */
  readonly conflictsOf: (host: string) => readonly string[]
  readonly inventory: () => Pick<Inventory, 'hostsById'>
}): BootsSeen {
  const { lastBootAt, troubleOf, store, strangerSeenAt = () => undefined } = options
  /** The longest ago first. */
  const adopted = new Map<MacAddress, number>()

  return {
    lastSeenAt(host) {
      const cards = host.macs.flatMap((mac) => [adopted.get(mac) ?? 0, strangerSeenAt(mac) ?? 0])
      const last = Math.max(0, lastBootAt(host) ?? 0, ...cards)
      return last === 0 ? undefined : last
    },
    saw(mac, at) {
      adopted.delete(mac)
      adopted.set(mac, at)
      if (adopted.size <= mostAdopted) return
      const [oldest] = adopted.keys()
      if (oldest !== undefined) adopted.delete(oldest)
    },
    flagsOf(id) {
      const host = options.inventory().hostsById.get(id)
      const trouble = host && troubleOf(host)
      return [...options.conflictsOf(id), ...(trouble === undefined ? [] : [trouble])]
    },
    async lastBoots(host) {
      return (await options.listBoots({ host, limit: shownBoots })).items
    },
    hasBooted: async (host) => (await store.countAttempts({ host })) > 0,
  }
}
