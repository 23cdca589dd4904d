import { type LoadedConfig, loadConfig } from '../config/load-config.ts'
import type { Log } from '../core/log.ts'
import { visibleText } from '../core/visible-text.ts'
import type { AdminOperations } from '../http/admin/operations.ts'
import { createLog, type LogLevel } from '../telemetry/create-log.ts'
import type { CliContext } from './context.ts'
import { findConfigFile } from './find-config-file.ts'
import { openOperations } from './open-operations.ts'
import type { TableStyle } from './output/table.ts'
import { settingFlags } from './settings.ts'

export const outputFormats = ['table', 'json'] as const
export type OutputFormat = (typeof outputFormats)[number]

/** Options that every command takes. */
export interface GlobalOptions {
  readonly config?: string
  readonly dataDir?: string
  readonly output: OutputFormat
  readonly logLevel?: LogLevel
}

/** A result in both output formats; the text is made only when it is wanted. */
export interface Printable {
  readonly json: unknown
  readonly text: (style: TableStyle) => string
}

/** One run of one command: where its words go and how it reaches the data. */
export interface Session {
  readonly context: CliContext
  readonly globals: GlobalOptions
  /** Absent: there is none, defaults hold. */
  readonly configFile?: string
  /** The result, to stdout, which holds nothing else. */
  print(result: Printable): void
  /** A line for the person, to stderr. */
  say(line: string): void
  /**
   * Reads it, or reads it again.
   * @throws ServiceError CONFIG_INVALID, CONFIG_UNREADABLE
   */
  loadConfig(): LoadedConfig
  /** Opens the running service or the data directory itself, and closes it afterwards. */
  withOperations<T>(work: (operations: AdminOperations) => Promise<T>): Promise<T>
}

/** @param settings parsed options that may set values of the configuration, besides the global ones */
export function createSession(context: CliContext, globals: GlobalOptions, settings: object = {}): Session {
  const { stdout, stderr, env, cwd, runtime } = context
  // What is worth interrupting a command for; a person asks for more with --log-level.
  const log: Log = createLog({
    level: globals.logLevel ?? 'warn',
    destination: stderr,
    color: wantsColor(env, stderr),
  })

  const configFile = findConfigFile({
    ...(globals.config !== undefined && { flag: globals.config }),
    env,
    cwd,
  })
  let before: LoadedConfig | undefined
  function load(): LoadedConfig {
    // PILOTLIGHT_DEBUG is ours, not a setting.
    const { PILOTLIGHT_DEBUG: _, ...settingsEnv } = env
    before = loadConfig({
      ...(configFile !== undefined && { file: configFile }),
      env: settingsEnv,
      cwd,
      flags: settingFlags({ ...globals, ...settings }),
      now: context.now(),
      ...(before !== undefined && { before }),
    })
    return before
  }

  return {
    context,
    globals,
    ...(configFile !== undefined && { configFile }),
    print({ json, text }) {
      stdout.write(
        globals.output === 'json' ? `${JSON.stringify(json, null, 2)}\n` : text(styleOf(env, stdout)),
      )
    },
    say(line) {
      stderr.write(`${visibleText(line)}\n`)
    },
    loadConfig: load,
    async withOperations(work) {
      const opened = await openOperations({ loaded: load(), log, runtime })
      try {
        return await work(opened.operations)
      } finally {
        await opened.close()
      }
    },
  }
}

export function wantsColor(env: CliContext['env'], stream: { readonly isTTY?: boolean }): boolean {
  return stream.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb'
}

function styleOf(env: CliContext['env'], stream: CliContext['stdout']): TableStyle {
  return {
    color: wantsColor(env, stream),
    ...(stream.isTTY === true && { width: stream.columns ?? 80 }),
  }
}
