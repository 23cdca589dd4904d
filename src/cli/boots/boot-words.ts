import { visibleText } from '../../core/visible-text.ts'
import type { BootSummary } from '../../http/admin/schemas/boots.ts'
import { formatBytes, formatDuration } from '../output/format.ts'

/** What a machine sent is cut to this on a terminal. */
const longest = 300

export function shown(text: string): string {
  return visibleText(text, longest)
}

/** What to do, in full: it is ours, with names of machines in it. */
export function shownAdvice(remedy: string): string {
  return visibleText(remedy)
}

/** Who boots: the host, else the card, else the address. */
export function bootName({ host, mac, address, id }: BootSummary): string {
  return shown(host ?? mac ?? address ?? id)
}

/** `running in rootfs`, `stuck in dhcp`, `booted`. */
export function bootState({ state, outcome, phase }: BootSummary): string {
  return state === 'over' ? (outcome ?? state) : `${state} in ${phase}`
}

/** `rootfs 40 % (412 MiB of 1021 MiB), 38.0 MiB/s`. */
export function transferText({
  role,
  percent,
  sentBytes,
  totalBytes,
  bytesPerSecond,
}: NonNullable<BootSummary['transfer']>): string {
  const rate = bytesPerSecond === undefined ? '' : `, ${formatBytes(bytesPerSecond)}/s`
  return `${shown(role)} ${percent} % (${formatBytes(sentBytes)} of ${formatBytes(totalBytes)})${rate}`
}

/** How it ended, in one sentence. */
export function endText(boot: BootSummary): string {
  const { outcome = 'over', durationMs, release, osVersion } = boot
  const what = outcome === 'booted' || outcome === 'installed' ? (osVersion ?? release) : release
  return `${bootName(boot)}: ${outcome}${what === undefined ? '' : ` (${shown(what)})`} after ${formatDuration(durationMs)}`
}
