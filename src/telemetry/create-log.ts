import { createRequire } from 'node:module'
import pino from 'pino'
import type { Log } from '../core/log.ts'
import { sanitizeFields } from './sanitize.ts'

const require = createRequire(import.meta.url)

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** `auto`: text for people on a terminal, one JSON object a line anywhere else. */
export const logFormats = ['auto', 'text', 'json'] as const
export type LogFormat = (typeof logFormats)[number]

/** Where lines go. */
export interface LogDestination {
  write(text: string): unknown
  /** For one that collects lines: writes them now. Called after each warning and error, so that a crash loses none. */
  flush?(): void
  readonly isTTY?: boolean
}

export interface LogOptions {
  readonly level: LogLevel
  readonly format?: LogFormat
  readonly destination: LogDestination
  /** Colours in the text format; default: on a terminal. */
  readonly color?: boolean
}

export interface ServiceLog extends Log {
  /** For a reload. */
  setLevel(level: LogLevel): void
}

/**
 * The one logger. Messages are fixed text, facts are fields; every field is sanitised before it is written, because
 * file names, serials and User-Agents come from whoever is on the boot network.
 */
export function createLog({ level, format = 'auto', destination, color }: LogOptions): ServiceLog {
  const isTerminal = destination.isTTY === true
  const isText = format === 'text' || (format === 'auto' && isTerminal)
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    isText ? textStream(destination, color ?? isTerminal) : destination,
  )

  const writeAt = (name: Exclude<LogLevel, 'silent'>) => (fields: object, message: string) => {
    if (logger.isLevelEnabled(name)) logger[name](sanitizeFields(fields), message)
  }
  const writeAtOnce = (name: 'warn' | 'error') => {
    const write = writeAt(name)
    return (fields: object, message: string) => {
      write(fields, message)
      destination.flush?.()
    }
  }
  return {
    debug: writeAt('debug'),
    info: writeAt('info'),
    warn: writeAtOnce('warn'),
    error: writeAtOnce('error'),
    setLevel(next) {
      logger.level = next
    },
  }
}

function textStream(destination: LogDestination, color: boolean): pino.DestinationStream {
  let format: ((line: string) => string) | undefined
  return {
    write(line) {
      format ??= textFormat(color)
      destination.write(format(line))
    },
  }
}

/** Loaded with the first line of text: a service that logs JSON and a command that has nothing to say start sooner. */
function textFormat(color: boolean): (line: string) => string {
  const pretty = require('pino-pretty') as typeof import('pino-pretty')
  return pretty.prettyFactory({
    colorize: color,
    colorizeObjects: false,
    translateTime: 'SYS:HH:MM:ss.l',
    singleLine: true,
    ignore: 'pid,hostname',
  })
}
