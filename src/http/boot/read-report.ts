import { createHash } from 'node:crypto'
import { type NodeReport, type ReportState, reportStates } from '../../core/fleet.ts'
import { visibleText } from '../../core/visible-text.ts'

/** What a machine says of itself; whose report it is, its token says. */
export type SaidByNode = Pick<
  NodeReport,
  'status' | 'osVersion' | 'kernelCommandLineSha256' | 'machineId' | 'message'
>

const digest = /^[0-9a-f]{64}$/i
const machineIdPattern = /^[0-9a-f]{32}$/i
const longestVersion = 200
const longestMessage = 1000

/**
 * Reads the JSON of a report: `status`, and what the machine knows of `osVersion`, `kernelCommandLineSha256` (or
 * `kernelCommandLine`, of which the digest alone is kept: a token stands in it), `machineId` and `message`. Keys that
 * are not known are left alone; an absent value may be empty or null. `problem` is the rest of a sentence.
 */
export function readReport(text: string): { readonly report: SaidByNode } | { readonly problem: string } {
  const data = parse(text)
  if (data === undefined) return { problem: 'it is not a JSON object' }
  const { status } = data
  if (!isReportState(status)) return { problem: `status is not one of ${reportStates.join(', ')}` }
  const values = new Map<string, string>()
  for (const key of [
    'osVersion',
    'kernelCommandLineSha256',
    'kernelCommandLine',
    'machineId',
    'message',
  ] as const) {
    const value = data[key]
    if (value === undefined || value === null || value === '') continue
    if (typeof value !== 'string') return { problem: `${key} is not text` }
    values.set(key, value)
  }
  const sha256 = values.get('kernelCommandLineSha256')
  if (sha256 !== undefined && !digest.test(sha256)) {
    return { problem: 'kernelCommandLineSha256 is not a SHA-256 of 64 hex digits' }
  }
  const machineId = values.get('machineId')?.replaceAll('-', '')
  if (machineId !== undefined && !machineIdPattern.test(machineId)) {
    return { problem: 'machineId is not a machine id of 32 hex digits' }
  }
  const commandLine = values.get('kernelCommandLine')
  const commandLineDigest =
    sha256?.toLowerCase() ??
    (commandLine === undefined ? undefined : createHash('sha256').update(commandLine).digest('hex'))
  const osVersion = values.get('osVersion')
  const message = values.get('message')
  return {
    report: {
      status,
      ...(osVersion === undefined ? {} : { osVersion: visibleText(osVersion, longestVersion) }),
      ...(commandLineDigest === undefined ? {} : { kernelCommandLineSha256: commandLineDigest }),
      ...(machineId === undefined ? {} : { machineId: machineId.toLowerCase() }),
      ...(message === undefined ? {} : { message: visibleText(message.trim(), longestMessage) }),
    },
  }
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const data: unknown = JSON.parse(text)
    const isObject = typeof data === 'object' && data !== null && !Array.isArray(data)
    return isObject ? (data as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function isReportState(value: unknown): value is ReportState {
  return reportStates.some((state) => state === value)
}
