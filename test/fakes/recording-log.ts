import type { Log } from '../../src/core/log.ts'

export interface LogLine {
  readonly level: keyof Log
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** A log that keeps its lines. */
export function createRecordingLog(): Log & { lines: LogLine[] } {
  const lines: LogLine[] = []
  const record = (level: keyof Log) => (fields: object, message: string) => {
    lines.push({ level, message, fields: { ...fields } })
  }
  return { lines, debug: record('debug'), info: record('info'), warn: record('warn'), error: record('error') }
}
