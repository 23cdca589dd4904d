import type { BootAttempt } from '../core/boot-attempt.ts'
import type { BootId } from '../core/boot-event.ts'

type Boot = Pick<BootAttempt, 'bootId' | 'host' | 'mac' | 'startedAt'>

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
  restore(attempts: readonly BootAttempt[]): void
  newestOf(machine: Pick<Boot, 'host' | 'mac'>): BootId | undefined
  /**
   * Whether another boot of this machine began after a token of this one was issued (ms since the epoch). A boot whose
   * attempt was lost in a crash is newer than what is known here, and so it goes on.
   */
  isSuperseded(machine: Pick<Boot, 'host' | 'mac'>, bootId: BootId, issuedAt: number): boolean
  /** Whether its machine was answered with a script that boots nothing of ours, after a token was issued. */
  hasEnded(machine: Pick<Boot, 'host' | 'mac'>, issuedAt: number): boolean
}

/** Beyond it the machine that booted longest ago is forgotten, and its tokens last until they are over. */
export const mostNewestBoots = 131_072

export function createNewestBoots(maximum = mostNewestBoots): NewestBoots {
  /** The longest ago first. */
  const boots = new Map<string, Pick<Boot, 'bootId' | 'startedAt'> & { readonly endedAt?: number }>()

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
    end(machine, endedAt) {
      const key = keyOf(machine)
      const boot = key === undefined ? undefined : boots.get(key)
      if (key !== undefined && boot !== undefined) boots.set(key, { ...boot, endedAt })
    },
    restore(attempts) {
      const begun = [...boots]
      for (const attempt of attempts.toSorted((a, b) => a.startedAt - b.startedAt)) note(attempt)
      // What this process has answered is newer than all of them.
      for (const [key, boot] of begun) {
        boots.delete(key)
        boots.set(key, boot)
      }
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

/** A host has one boot at a time, whichever of its network cards asks. */
function keyOf({ host, mac }: Pick<Boot, 'host' | 'mac'>): string | undefined {
  if (host !== undefined) return `host ${host}`
  return mac === undefined ? undefined : `mac ${mac}`
}
