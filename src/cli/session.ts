import { findDataDir } from '../config/find-data-dir.ts'
import { type LoadedConfig, loadConfig } from '../config/load-config.ts'
import { ServiceError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import { visibleText } from '../core/visible-text.ts'
import type { AdminOperations } from '../http/admin/operations.ts'
import type { OfflineOperations } from '../runtime/service.ts'
import { createLog, type LogLevel } from '../telemetry/create-log.ts'
import { type CliContext, widthOf } from './context.ts'
import { findConfigFile } from './find-config-file.ts'
import type { RunningService } from './follow.ts'
import { openOperations } from './open-operations.ts'
import type { TableStyle } from './output/table.ts'
import { describeError } from './report-error.ts'
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
  /**
   * Opens the running service or the data directory itself, and closes it afterwards. A running service is asked also
   * when the configuration on disk is not valid, with a warning: it has a good one.
   */
  withOperations<T>(
    work: (operations: AdminOperations) => Promise<T>,
    options?: { readonly mayCreate?: boolean },
  ): Promise<T>
  /**
   * For what only a running service sees: where each machine is by now.
   * @throws ServiceError SERVICE_UNAVAILABLE when none runs, PERMISSION_DENIED when it is another user's
   */
  withService<T>(work: (service: RunningService) => Promise<T>): Promise<T>
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
  // PILOTLIGHT_DEBUG is ours, not a setting.
  const { PILOTLIGHT_DEBUG: _, ...settingsEnv } = env
  const sources = {
    ...(configFile !== undefined && { file: configFile }),
    env: settingsEnv,
    cwd,
    flags: settingFlags({ ...globals, ...settings }),
  }
  let before: LoadedConfig | undefined
  function load(): LoadedConfig {
    before = loadConfig({
      ...sources,
      now: context.now(),
      ...(before !== undefined && { before }),
    })
    return before
  }

  const say = (line: string) => stderr.write(`${visibleText(line)}\n`)

  async function open(mayCreate: boolean): Promise<OfflineOperations> {
    let loaded: LoadedConfig
    try {
      loaded = load()
    } catch (error) {
      const dataDir = findDataDir(sources)
      const running =
        dataDir === undefined ? undefined : await runtime.openService(dataDir).catch(() => undefined)
      if (running === undefined) throw error
      say(
        `warning: the running service in ${dataDir} is asked, and the configuration on disk is not the one that it has`,
      )
      stderr.write(describeError(error, { debug: false }).replace(/^pilotlight: /, 'warning: '))
      return running
    }
    return openOperations({ loaded, log, mayCreate, runtime })
  }

  function dataDirectory(): string {
    try {
      return load().config.dataDir
    } catch (error) {
      const dataDir = findDataDir(sources)
      if (dataDir === undefined) throw error
      return dataDir
    }
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
    say,
    loadConfig: load,
    async withOperations(work, { mayCreate = false } = {}) {
      const opened = await open(mayCreate)
      try {
        return await work(opened.operations)
      } finally {
        await opened.close()
      }
    },
    async withService(work) {
      const dataDir = dataDirectory()
      const running = await runtime.openService(dataDir)
      if (running === undefined) {
        throw new ServiceError('SERVICE_UNAVAILABLE', `no service runs on ${dataDir}`, {
          hint: 'this needs a running one: pilotlight serve, or systemctl start pilotlight; pilotlight boots shows what was kept',
        })
      }
      try {
        return await work(running)
      } finally {
        await running.close()
      }
    },
  }
}

export function wantsColor(env: CliContext['env'], stream: { readonly isTTY?: boolean }): boolean {
  return stream.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb'
}

export function styleOf(env: CliContext['env'], stream: CliContext['stdout']): TableStyle {
  return {
    color: wantsColor(env, stream),
    ...(stream.isTTY === true && { width: widthOf(stream) }),
  }
}
