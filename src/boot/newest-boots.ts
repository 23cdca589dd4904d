import type { BootId } from '../core/boot-event.ts'
import type { BootLease } from '../core/boot-lease.ts'

type Boot = Pick<BootLease, 'bootId' | 'host' | 'mac' | 'startedAt'>

/**
 * The newest boot of each machine that was answered with a script that boots or installs: tokens of an older one do not
 * count any more. Any other script ends it as well, but what was installed may still report with the token of its
 * installation. That it ended is not written down: after a restart such a token counts again until its life is over.
 */
export interface NewestBoots {
  note(boot: Boot): void
  /** The machine was answered with a script that boots nothing of ours. */
  end(machine: Pick<Boot, 'host' | 'mac'>, at: number): void
  /** What an earlier process wrote down, whatever the order. */
  restore(attempts: readonly BootLease[]): void
  newestOf(machine: Pick<Boot, 'host' | 'mac'>): BootId | undefined
  /**
   * Whether another boot of this machine began after a token of this one was issued (ms since the epoch). A boot whose
   * attempt was lost in a crash is newer than what is known here, and so it goes on.
   */
  isSuperseded(machine: Pick<Boot, 'host' | 'mac'>, bootId: BootId, issuedAt: number): boolean
  /** Whether its machine was answered with a script that boots nothing of ours, after a token was issued. */
  hasEnded(machine: Pick<Boot, 'host' | 'mac'>, issuedAt: number): boolean
}

interface Newest {
  bootId: BootId
  startedAt: number
  endedAt?: number | undefined
}

/** Beyond it the machine that booted longest ago is forgotten, and its tokens last until they are over. */
export const mostNewestBoots = 131_072

export function createNewestBoots(maximum = mostNewestBoots): NewestBoots {
  /** Hosts and cards, each the longest ago first. */
  const byHost = new Map<string, Newest>()
  const byMac = new Map<string, Newest>()

  /** A host has one boot at a time, whichever of its network cards asks. */
  function find({ host, mac }: Pick<Boot, 'host' | 'mac'>): Newest | undefined {
    if (host !== undefined) return byHost.get(host)
    return mac === undefined ? undefined : byMac.get(mac)
  }

  function note(boot: Boot): void {
    const known = find(boot)
    if (known !== undefined && byHost.size + byMac.size < maximum / 2) {
      // Nobody is to be forgotten soon, so the order does not matter: this is asked for by every boot.
      known.bootId = boot.bootId
      known.startedAt = boot.startedAt
      known.endedAt = undefined
      return
    }
    const { host, mac, bootId, startedAt } = boot
    if (host !== undefined) keepLast(byHost, host, { bootId, startedAt })
    else if (mac !== undefined) keepLast(byMac, mac, { bootId, startedAt })
  }

  function keepLast(map: Map<string, Newest>, key: string, boot: Newest): void {
    map.delete(key)
    map.set(key, boot)
    if (byHost.size + byMac.size <= maximum) return
    const larger = byHost.size > byMac.size ? byHost : byMac
    const [oldest] = larger.keys()
    if (oldest !== undefined) larger.delete(oldest)
  }

  return {
    note,
    end(machine, endedAt) {
      const boot = find(machine)
      if (boot !== undefined) boot.endedAt = endedAt
    },
    restore(attempts) {
      const begunHosts = [...byHost].map(([key, boot]) => [key, { ...boot }] as const)
      const begunCards = [...byMac].map(([key, boot]) => [key, { ...boot }] as const)
      for (const attempt of attempts.toSorted((a, b) => a.startedAt - b.startedAt)) note(attempt)
      // What this process has answered is newer than all of them.
      for (const [key, boot] of begunHosts) keepLast(byHost, key, boot)
      for (const [key, boot] of begunCards) keepLast(byMac, key, boot)
    },
    hasEnded(machine, issuedAt) {
      const endedAt = find(machine)?.endedAt
      return endedAt !== undefined && endedAt >= issuedAt
    },
    newestOf: (machine) => find(machine)?.bootId,
    isSuperseded(machine, bootId, issuedAt) {
      const newest = find(machine)
      return newest !== undefined && newest.bootId !== bootId && newest.startedAt >= issuedAt
    },
  }
}
