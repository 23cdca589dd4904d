import type { Clock } from '../core/clock.ts'
import { createLineLimiter } from '../core/line-limiter.ts'
import type { Log } from '../core/log.ts'
import type { MacAddress } from '../core/mac.ts'
import type { TftpEvent } from './event.ts'
import { errorCodes } from './packet.ts'
import type { TftpName } from './tftp-name.ts'
import type { TransferOutcome } from './transfer.ts'

type Level = keyof Log

interface LogLine {
  readonly level: Level
  readonly message: string
  readonly fields: object
  /** Lines of one key come once a minute; absent: what an admin looks for, each of them. */
  readonly noiseKey?: string
}

/** A minute, of all clients together: whoever invents addresses and names must not write our log. */
const mostNoiseLines = 600
/** A minute, of files that arrived: a thousand machines at once take a loader each, some two. */
const mostNewsLines = 6_000

/** Names that loaders try without needing them; a miss is no news (field cases 60, 81, 84). */
export function isOptionalName(name: TftpName): boolean {
  if (name.kind !== 'file') return name.kind !== 'artifact'
  const file = name.path.slice(name.path.lastIndexOf('/') + 1)
  return file.startsWith('revocations') || file.startsWith('shim_certificate')
}

const outcomeLines: Readonly<Record<TransferOutcome, { readonly level: Level; readonly message: string }>> = {
  served: { level: 'info', message: 'tftp file served' },
  'served-unconfirmed': { level: 'info', message: 'tftp file sent, its end was not acknowledged' },
  aborted: { level: 'debug', message: 'tftp transfer ended by the client' },
  unanswered: { level: 'debug', message: 'tftp client asked and was not heard again' },
  stalled: { level: 'warn', message: 'tftp transfer stalled, the client fell silent' },
  'read-failed': { level: 'error', message: 'tftp file could not be read' },
  'client-confused': { level: 'warn', message: 'tftp client sent what a reader does not send' },
  cancelled: { level: 'debug', message: 'tftp transfer ended by this side' },
}

function endedLine(event: TftpEvent & { type: 'ended' }): LogLine {
  const { client, name, outcome, figures, clientError, cause } = event
  const { level, message } = outcomeLines[outcome]
  // A look at the size ends with code 0 or 8 (case 60); any other code is a complaint.
  const isComplaint =
    clientError !== undefined &&
    clientError.code !== errorCodes.undefined &&
    clientError.code !== errorCodes.optionRefused
  const fields = { client: client.address, file: name.path, ...figures, clientError, err: cause }
  const noiseKey = `${client.address} ${name.path}`
  if (isComplaint) return { level: 'warn', message: 'tftp client reports an error', fields, noiseKey }
  // The end of a transfer that went well is news, each time; noise must not push it out.
  return level === 'info' ? { level, message, fields } : { level, message, fields, noiseKey }
}

function refusedLine(event: TftpEvent & { type: 'refused' }): LogLine {
  const { client, reason, code, displayName, name, cause } = event
  const fields = { client: client.address, file: displayName, code, reason, err: cause }
  const noiseKey = `${client.address} ${displayName}`
  if (reason === 'file-empty' || reason === 'file-unreadable') {
    return { level: 'error', message: 'tftp file cannot be served', fields, noiseKey: displayName }
  }
  if (reason === 'not-served') {
    const level = name !== undefined && isOptionalName(name) ? 'debug' : 'info'
    return { level, message: 'tftp name is not served', fields, noiseKey }
  }
  return { level: 'info', message: 'tftp request refused', fields, noiseKey }
}

function ignoredLine(event: TftpEvent & { type: 'ignored' }): LogLine {
  const { client, reason } = event
  const fields = { client: client.address, reason }
  if (reason === 'malformed' || reason === 'stray-packet' || reason === 'stopping') {
    return { level: 'debug', message: 'tftp packet ignored', fields, noiseKey: reason }
  }
  return { level: 'warn', message: 'tftp request left unanswered', fields, noiseKey: reason }
}

function lineOf(event: TftpEvent): LogLine | undefined {
  switch (event.type) {
    case 'requested':
      return {
        level: 'debug',
        message: 'tftp file requested',
        fields: { client: event.client.address, file: event.name.path, kind: event.name.kind },
        noiseKey: `${event.client.address} ${event.name.path}`,
      }
    case 'ended':
      return endedLine(event)
    // Its end says all of it.
    case 'started':
    case 'progressed':
      return undefined
    case 'refused':
      return refusedLine(event)
    case 'ignored':
      return ignoredLine(event)
    case 'segmentation-failed':
      return {
        level: 'info',
        message: 'tftp kernel segmentation failed, sending packet by packet',
        fields: { client: event.client.address, err: event.cause },
        noiseKey: 'segmentation',
      }
  }
}

/**
 * Events as log lines: fixed text with fields, the normal life of a boot below `info`, and no more than one line a
 * minute for the same client, name and message (field cases 60, 84, 165). What was left out is counted in the next.
 * @param macOf whose address a client has, as far as DHCP has seen it
 */
export function createTftpEventLog(
  log: Log,
  clock: Clock,
  macOf: (address: string) => MacAddress | undefined = () => undefined,
): (event: TftpEvent) => void {
  const news = createLineLimiter({ clock, mostLines: mostNewsLines })
  const noise = createLineLimiter({ clock, mostLines: mostNoiseLines })

  return (event) => {
    const line = lineOf(event)
    if (line === undefined) return
    const { level, message, fields, noiseKey } = line
    const suppressed =
      noiseKey === undefined
        ? news.admit(undefined)
        : noise.admit(`${noiseKey} ${message}`, level === 'error')
    if (suppressed === undefined) return
    const mac = macOf(event.client.address)
    log[level](
      { ...(mac === undefined ? {} : { mac }), ...fields, ...(suppressed === 0 ? {} : { suppressed }) },
      message,
    )
  }
}
