import { createLocalReturns } from '../boot/local-returns.ts'
import { createStrangers, type Strangers, strangerIn } from '../boot/strangers.ts'
import type { BootEvent } from '../core/boot-event.ts'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'

/** What boots tell of machines that an admin should look at, from memory: who is not known, and who does not get on. */
export interface MachineWatch {
  readonly strangers: Strangers
  note(event: BootEvent): void
  /** What an admin should look at, in words. */
  flagsOf(host: string): readonly string[]
}

const returningText =
  'keeps coming back although it is to boot from its own disk: its firmware does not go on, or its disk does not boot; localBoot: dhcp-silent keeps it away from network boot'

export function createMachineWatch({
  clock,
  log,
}: {
  readonly clock: Clock
  readonly log: Log
}): MachineWatch {
  const strangers = createStrangers()
  const returns = createLocalReturns({
    onReturning(machine) {
      log.warn(
        { ...machine, hint: 'set localBoot: dhcp-silent for it, or see that its disk boots' },
        'a machine that is to boot from its own disk keeps coming back',
      )
    },
  })
  return {
    strangers,
    note(event) {
      returns.note(event)
      const stranger = strangerIn(event)
      if (stranger !== undefined) strangers.saw(stranger)
    },
    flagsOf: (host) => (returns.isReturning(host, clock.now()) ? [returningText] : []),
  }
}
