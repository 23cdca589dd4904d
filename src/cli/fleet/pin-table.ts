import type { PinFile, PinSummary } from '../../http/admin/schemas/fleet.ts'
import { count, formatBytes, formatTime } from '../output/format.ts'
import { type Column, renderFields, renderTable, type TableStyle } from '../output/table.ts'
import { targetText } from './target.ts'

const columns: readonly Column[] = [
  { title: 'FOR' },
  { title: 'RELEASE' },
  { title: 'STREAM' },
  { title: 'ARCH' },
  { title: 'HOSTS', align: 'right' },
  { title: 'FILES', canShrink: true },
  { title: 'UNTIL' },
  { title: 'REASON', canShrink: true },
  { title: 'FROM', canShrink: true },
]

export function pinTable(pins: readonly PinSummary[], style: TableStyle): string {
  return renderTable(columns, pins.map(rowOf), style)
}

/** One pin, with nothing cut. */
export function pinFields(pin: PinSummary): string {
  const { target, release, stream, arch, hosts, files, until, reason, origin } = pin
  return renderFields([
    ['pin for', targetText(target)],
    ['release', release],
    ['stream', stream ?? 'the one that is followed'],
    ['arch', arch ?? 'all'],
    ...(until === undefined ? [] : [['until', formatTime(until)] as const]),
    ...(reason === undefined ? [] : [['reason', reason] as const]),
    ['from', [origin, ...notesOf(pin)].join('; ')],
    ['in force for', count(hosts, 'host')],
    ...files.map((file) => ['files', pinFileText(file)] as const),
  ])
}

function rowOf(pin: PinSummary): string[] {
  const { target, release, stream, arch, hosts, files, until, reason, origin } = pin
  return [
    targetText(target),
    release,
    stream ?? 'as followed',
    arch ?? 'all',
    String(hosts),
    files.length === 0 ? '-' : files.map(pinFileText).join('; '),
    until === undefined ? '-' : formatTime(until),
    reason ?? '-',
    [origin, ...notesOf(pin)].join('; '),
  ]
}

/** `x86_64 fetching 44 %`; why, where it cannot be had. */
function pinFileText({ arch, state, text, doneBytes, totalBytes }: PinFile): string {
  return [`${arch} ${state}`, ...(text === undefined ? amount(doneBytes, totalBytes) : [`(${text})`])].join(
    ' ',
  )
}

function amount(doneBytes: number | undefined, totalBytes: number | undefined): readonly string[] {
  if (doneBytes === undefined) return []
  return [`${formatBytes(doneBytes)}${totalBytes === undefined ? '' : ` of ${formatBytes(totalBytes)}`}`]
}

function notesOf({ isExpired, isOrphan, target }: PinSummary): readonly string[] {
  return [
    ...(isExpired ? ['over, does not count'] : []),
    ...(isOrphan ? [`there is no such ${target.kind} any more`] : []),
  ]
}
