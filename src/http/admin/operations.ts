import type { Arch } from '../../core/arch.ts'
import type { ServiceEventFeed } from '../../core/service-event.ts'
import type { BootOperations } from './boot-operations.ts'
import type { FleetOperations } from './fleet-operations.ts'
import type {
  BootimageSummary,
  ExplainQuery,
  Explanation,
  GcReport,
  ImportReport,
  LoadersReport,
  Readiness,
  ReloadReport,
  RenderQuery,
  StreamSummary,
  SyncReport,
  VerifyReport,
  WebhookSummary,
  WebhookTest,
} from './schemas/service.ts'

export type {
  BootimageSummary,
  ExplainQuery,
  Explanation,
  GcReport,
  ImportReport,
  LoaderSetStream,
  LoaderSummary,
  LoadersReport,
  PartReadiness,
  Readiness,
  ReloadReport,
  RenderQuery,
  RenderTemplate,
  StreamArchSummary,
  StreamSummary,
  SyncReport,
  VerifyReport,
  WebhookSummary,
  WebhookTest,
} from './schemas/service.ts'

/**
 * Everything an admin can do or ask, whoever asks: API, control socket or a command that holds the data directory
 * itself. Implemented in `runtime/`.
 */
export interface AdminOperations {
  /** Hosts, groups, profiles, pins, installs, tokens: what admins and nodes say while the service runs. */
  readonly fleet: FleetOperations
  /** Where each machine is, where it stopped, and what to do. */
  readonly boots: BootOperations
  /** What changes, while it does; nothing ever does where no service runs. */
  readonly events: ServiceEventFeed
  readiness(): Promise<Readiness>
  streams(): Promise<readonly StreamSummary[]>
  bootimages(filter: { stream?: string; arch?: Arch }): Promise<readonly BootimageSummary[]>
  loaders(): Promise<LoadersReport>
  /** @throws ServiceError USAGE for unreadable input, NOT_FOUND for an unknown host id */
  explain(query: ExplainQuery): Promise<Explanation>
  /** The script that machine would get now, with a boot id that nothing knows. */
  render(query: RenderQuery): Promise<string>
  /** Refreshes the named streams (default: all) and waits until what they want is fetched or has failed. */
  sync(request: { streams?: readonly string[] }): Promise<SyncReport>
  verify(): Promise<VerifyReport>
  gc(request: { dryRun: boolean }): Promise<GcReport>
  importDocument(request: { stream: string; name: string; text: string }): Promise<ImportReport>
  /** Reads the configuration again; a bad one changes nothing and is reported. */
  reload(): Promise<ReloadReport>
  /** Who is told of what happens, and how well they are reached. */
  webhooks(): Promise<readonly WebhookSummary[]>
  /**
   * Sends one message of type `test` at once, and waits for its answer.
   * @throws ServiceError NOT_FOUND; SERVICE_UNAVAILABLE when no service runs
   */
  testWebhook(name: string): Promise<WebhookTest>
}
