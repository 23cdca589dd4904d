import type { LoadedConfig } from '../config/load-config.ts'
import type { ConfigProblem } from '../config/problem.ts'
import type { Log } from '../core/log.ts'
import type { DoctorFacts } from '../doctor/diagnose.ts'
import type { AdminOperations } from '../http/admin/operations.ts'
import type { GatherOptions } from '../runtime/doctor/gather-facts.ts'
import type { OfflineOperations, Service } from '../runtime/service.ts'
import type { LogDestination } from '../telemetry/create-log.ts'
import type { RunningService } from './follow.ts'

/** Where text goes: `process.stdout`, or a string in a test. Bytes are for files alone. */
export interface CliStream {
  write(text: string | Uint8Array): unknown
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

/** Why a command that goes on without end is to end: a signal, or nobody reads its words any more. */
export type Interruption = 'SIGINT' | 'SIGTERM' | 'reader-gone'

/** Where answers and secrets come from: `process.stdin`, or a list of lines in a test. */
export interface CliInput {
  /** Somebody sits there who can be asked. */
  readonly isTTY: boolean
  /** Asks on stderr; `undefined` when there is no answer (end of input, Ctrl-C). */
  ask(question: string): Promise<string | undefined>
  /** All that comes, up to its end. @throws ServiceError USAGE for more than `maxBytes`, or no UTF-8 */
  readAll(maxBytes: number): Promise<string>
}

/** Columns of a terminal; one that says 0 does not know them. */
export function widthOf({ columns }: CliStream): number {
  return columns === undefined || columns < 1 ? 80 : columns
}

export interface DemoOptions {
  readonly once: boolean
  readonly stdout: CliStream
  /** How this program was called, for "type this next". */
  readonly programName: string
  readonly port?: number
  /** Set by the process entry. */
  readonly signal?: AbortSignal
}

/** The parts of the house that commands start; handed in, so that tests start fakes. */
export interface CliRuntime {
  startService(options: { loaded: LoadedConfig; log: Log; reload: () => LoadedConfig }): Promise<Service>
  /** @throws ServiceError DATA_DIRECTORY_UNUSABLE where nothing has been kept yet, unless it may be created */
  openOffline(options: { loaded: LoadedConfig; log: Log; mayCreate: boolean }): Promise<OfflineOperations>
  /**
   * The service that runs on a data directory; `undefined` when none does. Close what you get.
   * @throws ServiceError PERMISSION_DENIED when it is another user's
   */
  openService(dataDir: string): Promise<RunningService | undefined>
  /** Streams whose loader set does not start their current kernel under Secure Boot. */
  checkKernels(options: {
    loaded: LoadedConfig
    operations: Pick<AdminOperations, 'bootimages'>
  }): Promise<readonly ConfigProblem[]>
  /** Looks at this machine, its network and its service. */
  gatherFacts(options: GatherOptions): Promise<DoctorFacts>
  /** Without `once` it ends when the signal aborts. */
  runDemo(options: DemoOptions): Promise<number>
  /**
   * Starts a service and keeps it until the process is told to stop, then stops it. SIGHUP calls `onHangup`.
   * @returns the exit code
   */
  keepRunning(start: () => Promise<Service>, onHangup: (service: Service) => Promise<void>): Promise<number>
}

/** Everything a command line run needs from its process. */
export interface CliContext {
  /** Without node and script. */
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly stdout: CliStream
  readonly stderr: CliStream
  readonly stdin: CliInput
  /** Whose hand a change is, in the audit list. */
  readonly userName: string
  /** Where a service logs; default `stderr`. */
  readonly logDestination?: LogDestination
  readonly version: string
  /** How to call this program from anywhere. */
  readonly programName: string
  readonly runtime: CliRuntime
  /** Ms since the epoch. */
  readonly now: () => number
  /**
   * For a command that goes on without end: from now on Ctrl-C, SIGTERM and a reader that goes away abort this signal,
   * with an `Interruption` as its reason, instead of ending the process.
   */
  readonly untilInterrupted: () => AbortSignal
  /** Resolves after the time, or at once when the signal aborts; never rejects. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
}
