import type { BootId } from '../core/boot-event.ts'
import type { BootLease } from '../core/boot-lease.ts'
import type { MacAddress } from '../core/mac.ts'
import type { SeenMachines } from '../core/seen-machines.ts'

/** Whose step it is, where the step itself does not say: by its boot, else by who has the address. */
export function macOfStep(
  { bootId, address }: { readonly bootId?: BootId; readonly address?: string },
  known: {
    readonly attemptOf: (bootId: BootId) => BootLease | undefined
    readonly seen: Pick<SeenMachines, 'macOf'>
  },
): MacAddress | undefined {
  const leased = bootId === undefined ? undefined : known.attemptOf(bootId)?.mac
  return leased ?? (address === undefined ? undefined : known.seen.macOf(address))
}
