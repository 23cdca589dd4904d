import type { BootAttempt } from '../core/boot-attempt.ts'
import type { BootId } from '../core/boot-event.ts'

type Boot = Pick<BootAttempt, 'bootId' | 'host' | 'mac' | 'startedAt'>

/**
 * The newest boot of each machine that was answered with a script that boots or installs: tokens of an older one do not
 * count any more. A script that sends a machine to its own disk ends nothing, because what was installed there reports
 * with the token of its installation.
 */
export interface NewestBoots {
  note(boot: Boot): void
  /** What an earlier process wrote down, whatever the order. */
  restore(attempts: readonly BootAttempt[]): void
  newestOf(machine: Pick<Boot, 'host' | 'mac'>): BootId | undefined
  /**
   * Whether another boot of this machine began after a token of this one was issued (ms since the epoch). A boot whose
   * attempt was lost in a crash is newer than what is known here, and so it goes on.
   */
  isSuperseded(machine: Pick<Boot, 'host' | 'mac'>, bootId: BootId, issuedAt: number): boolean
}

/** Beyond it the machine that booted longest ago is forgotten, and its tokens last until they are over. */
export const mostNewestBoots = 131_072

export function createNewestBoots(maximum = mostNewestBoots): NewestBoots {
  /** The longest ago first. */
  const boots = new Map<string, Pick<Boot, 'bootId' | 'startedAt'>>()

  function note(boot: Boot): void {
    const key = keyOf(boot)
    if (key === undefined) return
    boots.delete(key)
    boots.set(key, { bootId: boot.bootId, startedAt: boot.startedAt })
    if (boots.size <= maximum) return
    const [oldest] = boots.keys()
    if (oldest !== undefined) boots.delete(oldest)
  }

  function find(machine: Pick<Boot, 'host' | 'mac'>) {
    const key = keyOf(machine)
    return key === undefined ? undefined : boots.get(key)
  }

  return {
    note,
    restore(attempts) {
      const begun = [...boots]
      for (const attempt of attempts.toSorted((a, b) => a.startedAt - b.startedAt)) note(attempt)
      // What this process has answered is newer than all of them.
      for (const [key, boot] of begun) {
        boots.delete(key)
        boots.set(key, boot)
      }
    },
    newestOf: (machine) => find(machine)?.bootId,
    isSuperseded(machine, bootId, issuedAt) {
      const newest = find(machine)
      return newest !== undefined && newest.bootId !== bootId && newest.startedAt >= issuedAt
    },
  }
}

/** A host has one boot at a time, whichever of its network cards asks. */
function keyOf({ host, mac }: Pick<Boot, 'host' | 'mac'>): string | undefined {
  if (host !== undefined) return `host ${host}`
  return mac === undefined ? undefined : `mac ${mac}`
}
