import type { BootAttempt } from '../core/boot-attempt.ts'
import type { BootId } from '../core/boot-event.ts'

type Boot = Pick<BootAttempt, 'bootId' | 'host' | 'mac'>

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
}

/** Beyond it the machine that booted longest ago is forgotten, and its tokens last until they are over. */
export const mostNewestBoots = 131_072

export function createNewestBoots(maximum = mostNewestBoots): NewestBoots {
  /** The longest ago first. */
  const boots = new Map<string, BootId>()

  function note(boot: Boot): void {
    const key = keyOf(boot)
    if (key === undefined) return
    boots.delete(key)
    boots.set(key, boot.bootId)
    if (boots.size <= maximum) return
    const [oldest] = boots.keys()
    if (oldest !== undefined) boots.delete(oldest)
  }

  return {
    note,
    restore(attempts) {
      const begun = [...boots]
      for (const attempt of attempts.toSorted((a, b) => a.startedAt - b.startedAt)) note(attempt)
      // What this process has answered is newer than all of them.
      for (const [key, bootId] of begun) {
        boots.delete(key)
        boots.set(key, bootId)
      }
    },
    newestOf(machine) {
      const key = keyOf(machine)
      return key === undefined ? undefined : boots.get(key)
    },
  }
}

/** A host has one boot at a time, whichever of its network cards asks. */
function keyOf({ host, mac }: Pick<Boot, 'host' | 'mac'>): string | undefined {
  if (host !== undefined) return `host ${host}`
  return mac === undefined ? undefined : `mac ${mac}`
}
