import type { IgnitionSource } from './host.ts'

/** What settings say of the Ignition config of a machine. */
export interface IgnitionWishes {
  readonly ignition?: IgnitionSource
  /** Whether the machine is to report by itself; absent: where we serve its config anyway. */
  readonly report?: boolean
}

/**
 * Whether the machine fetches its config from us, with a token of its boot. A URL of an admin goes out as it is, unless
 * the machine is to report, which takes a config of ours around it.
 */
export function servesIgnition({ ignition, report }: IgnitionWishes): boolean {
  return report === true || (ignition !== undefined && ignition.url === undefined)
}

/**
 * Whether the live system that installs gets a config of ours and reports how it went, whatever the installed one gets:
 * without evidence a machine would be installed again and again (field case 154).
 * Not beside an admin's initrd, whose own config may be for that very system and would be passed over.
 */
export function installerReports({
  report,
  extraInitrds,
}: {
  readonly report?: boolean
  readonly extraInitrds: readonly unknown[]
}): boolean {
  return report !== false && extraInitrds.length === 0
}

/** Whether the config that we serve makes the machine report how it fares. */
export function makesReports(wishes: IgnitionWishes): boolean {
  return servesIgnition(wishes) && wishes.report !== false
}
