import { visibleText } from '../../core/visible-text.ts'
import type { BootimageSummary } from '../../http/admin/operations.ts'
import { formatBytes } from '../output/format.ts'

/** States in which a bootimage is on its way. */
const underWay: ReadonlySet<string> = new Set(['queued', 'downloading', 'verifying', 'pending-signature'])

export function isUnderWay({ state }: Pick<BootimageSummary, 'state'>): boolean {
  return underWay.has(state)
}

/** `fcos-stable x86_64 44.20261101.3.0`; the digest at the end of an id is for programs. */
export function bootimageLabel({
  stream,
  arch,
  release,
}: Pick<BootimageSummary, 'stream' | 'arch' | 'release'>): string {
  return visibleText(`${stream} ${arch} ${release}`)
}

/** `44 % (540 MiB of 1.2 GiB), 80.0 MiB/s`, with what is known of it. */
function amountText(doneBytes: number, totalBytes: number | undefined, bytesPerSecond: number): string {
  const rate = bytesPerSecond > 0 ? `, ${formatBytes(bytesPerSecond)}/s` : ''
  if (totalBytes === undefined || totalBytes === 0) return `${formatBytes(doneBytes)}${rate}`
  const percent = Math.min(100, Math.floor((doneBytes / totalBytes) * 100))
  return `${percent} % (${formatBytes(doneBytes)} of ${formatBytes(totalBytes)})${rate}`
}

/** One bootimage that is on its way, in one line. */
export function progressText(bootimage: BootimageSummary): string {
  const { state, doneBytes, totalBytes, bytesPerSecond } = bootimage
  const isCounted = doneBytes !== undefined && (doneBytes > 0 || totalBytes !== undefined)
  const amount = isCounted ? ` ${amountText(doneBytes, totalBytes, bytesPerSecond ?? 0)}` : ''
  return `${bootimageLabel(bootimage)}: ${state}${amount}`
}

/** All that is on its way, in one line for a terminal; `undefined` when nothing is. */
export function progressLine(bootimages: readonly BootimageSummary[], width: number): string | undefined {
  const moving = bootimages.filter(isUnderWay)
  const [first] = moving
  if (first === undefined) return undefined
  const text = moving.length === 1 ? progressText(first) : summaryText(moving)
  return text.length > width - 1 ? `${text.slice(0, Math.max(0, width - 2))}…` : text
}

function summaryText(moving: readonly BootimageSummary[]): string {
  const sum = (of: (bootimage: BootimageSummary) => number | undefined) =>
    moving.reduce((total, bootimage) => total + (of(bootimage) ?? 0), 0)
  const isTotalKnown = moving.every(({ totalBytes }) => totalBytes !== undefined)
  const amount = amountText(
    sum(({ doneBytes }) => doneBytes),
    isTotalKnown ? sum(({ totalBytes }) => totalBytes) : undefined,
    sum(({ bytesPerSecond }) => bytesPerSecond),
  )
  return `${moving.length} bootimages: ${amount}`
}
