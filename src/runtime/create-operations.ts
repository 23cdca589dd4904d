import { scrub } from '../artifacts/scrub.ts'
import type { BootId } from '../core/boot-event.ts'
import type { BootimageId } from '../core/bootimage.ts'
import type { BootClient } from '../core/client.ts'
import type { Clock } from '../core/clock.ts'
import { type BootView, decideBoot, identify } from '../core/decide-boot.ts'
import { effectiveValues } from '../core/effective-values.ts'
import { ServiceError } from '../core/errors.ts'
import type { LoaderSource } from '../core/loader.ts'
import { reasonText } from '../core/reason.ts'
import type { ServiceEventFeed } from '../core/service-event.ts'
import type { BootOperations } from '../http/admin/boot-operations.ts'
import type { FleetOperations } from '../http/admin/fleet-operations.ts'
import type {
  AdminOperations,
  ExplainQuery,
  Explanation,
  PartReadiness,
  RenderQuery,
  SyncReport,
} from '../http/admin/operations.ts'
import { bootIdStandIn } from '../render/cut-script.ts'
import type { Renderer } from '../render/renderer.ts'
import type { RefreshOutcome } from '../streams/refresher.ts'
import { decideAsIf } from './decide-as-if.ts'
import type { Engine } from './engine.ts'
import { importDocument } from './import-document.ts'
import { clientFromQuery } from './machine-query.ts'
import { noSuchStream } from './no-such-name.ts'
import type { ProvingProgress } from './prove-files.ts'
import {
  bootimageSummary,
  inReadingOrder,
  streamNotes,
  streamReadiness,
  streamSummaries,
} from './summaries.ts'
import { summarizeLoaders } from './summarize-loaders.ts'
import type { WebhookOperations } from './webhooks/webhook-operations.ts'

export interface OperationsOptions {
  readonly fleet: FleetOperations
  readonly boots: BootOperations
  readonly events: ServiceEventFeed
  readonly engine: Engine
  readonly renderer: () => Renderer
  readonly loaders: LoaderSource
  readonly clock: Clock
  /** Parts besides the streams: listeners, configuration. */
  readonly parts: () => readonly PartReadiness[]
  readonly reload: AdminOperations['reload']
  readonly webhooks: WebhookOperations
  readonly onBadBlob: () => void
  /** Where machines fetch from, for `render` without one of its own. */
  readonly baseUrl: () => string
}

/** What admins can ask and do, over a running engine. */
export function createOperations(options: OperationsOptions): AdminOperations {
  const { engine, clock } = options
  const { ledger } = engine.storage

  const view = (): BootView => ({
    catalog: engine.publisher.current(),
    inventory: engine.fleet.inventory(),
    now: clock.now(),
  })

  function explain(query: ExplainQuery): Explanation {
    if ([query.mac, query.uuid, query.serial, query.host].every((value) => value === undefined)) {
      throw new ServiceError('USAGE', 'which machine? nothing says so', {
        hint: 'give one of mac, uuid, serial, host',
      })
    }
    const client = clientFromQuery(query, engine.fleet.inventory())
    const current = view()
    const decision = decideBoot(client, current)
    const bootimage = 'bootimage' in decision ? decision.bootimage : undefined
    const release = bootimage?.release ?? ('wanted' in decision ? decision.wanted.release : undefined)
    return {
      decision: decision.kind,
      ...(decision.host === undefined ? {} : { host: decision.host.id }),
      ...(decision.arch === undefined ? {} : { arch: decision.arch }),
      ...(release === undefined ? {} : { release }),
      ...(bootimage === undefined ? {} : { bootimage: bootimage.id }),
      reasons: decision.reasons.map((entry) => ({ code: entry.code, text: reasonText(entry) })),
      values: effectiveValues(identify(client, current).settings),
    }
  }

  function render(query: RenderQuery): string {
    const { dialect } = query
    const baseUrl = query.baseUrl ?? options.baseUrl()
    const renderer = options.renderer()
    if (query.template === 'entry') {
      if (dialect === 'pxelinux') {
        throw new ServiceError(
          'USAGE',
          'PXELINUX loads no entry script: it asks by the names of its machine',
          {
            field: 'template',
          },
        )
      }
      return dialect === 'grub' ? renderer.grubEntry({ baseUrl }) : renderer.ipxeEntry({ baseUrl })
    }
    // PXELINUX is a loader of BIOS machines, unless one is told.
    const platform = query.platform ?? (dialect === 'pxelinux' ? 'pcbios' : undefined)
    const asked = platform === undefined ? query : { ...query, platform }
    const client: BootClient = { ...clientFromQuery(asked, engine.fleet.inventory()), loader: dialect }
    const decision =
      query.template === undefined ? decideBoot(client, view()) : decideAsIf(query.template, client, view())
    const context = { baseUrl, bootId: bootIdStandIn as BootId }
    if (dialect === 'pxelinux') return renderer.pxelinux(decision, client, { ...context, fetch: 'http' })
    return renderer[dialect](decision, client, context)
  }

  function notesOf(name: string): SyncReport['streams'][number]['notes'] {
    const stream = engine.publisher.current().streams.get(name)
    return stream === undefined ? [] : streamNotes(stream)
  }

  async function sync(names: readonly string[] | undefined): Promise<SyncReport> {
    const configured = [...engine.loaded().config.streams.keys()]
    const unknown = names?.find((name) => !configured.includes(name))
    if (unknown !== undefined) throw noSuchStream(unknown, configured)
    const wanted = names === undefined || names.length === 0 ? configured : names
    const outcomes = await Promise.all(wanted.map((name) => engine.streams.refresh(name)))
    // Nothing is known to fetch for a pin until its release was found.
    await Promise.all([engine.pins.retry(), engine.lookForPins()])
    await engine.ensureWanted(new Set(wanted))
    return {
      streams: wanted.map((name, index) => ({
        name,
        ...outcomeOf(outcomes[index]),
        notes: notesOf(name),
        bootimages: wantedRecords(engine, name).map(({ bootimage, state, failure }) => ({
          id: bootimage.id,
          state,
          ...(failure === undefined ? {} : { failure: failure.message, code: failure.code }),
        })),
      })),
    }
  }

  return {
    fleet: options.fleet,
    boots: options.boots,
    events: options.events,
    async readiness() {
      const reading = readingAgain(engine.prover.progress())
      const streams = [...engine.publisher.current().streams.values()].map(streamReadiness).map((stream) => {
        if (stream.ready || reading === undefined) return stream
        return { ...stream, reason: `${reading.reason}; ${stream.reason}` }
      })
      const parts = [...options.parts(), ...(reading === undefined ? [] : [reading]), ...streams]
      return { ready: parts.every(({ ready }) => ready), parts }
    },
    async streams() {
      return streamSummaries(engine)
    },
    async bootimages({ stream, arch }) {
      const records = [...ledger.bootimages.values()].filter(
        ({ bootimage }) =>
          (stream === undefined || bootimage.stream === stream) &&
          (arch === undefined || bootimage.arch === arch),
      )
      const configured = [...engine.loaded().config.streams.keys()]
      if (stream !== undefined && records.length === 0 && !configured.includes(stream)) {
        throw noSuchStream(stream, configured)
      }
      return inReadingOrder(records).map((record) => bootimageSummary(engine, record))
    },
    loaders: () =>
      summarizeLoaders({
        loaders: options.loaders.current(),
        streams: engine.loaded().config.streams,
        catalog: engine.publisher.current(),
      }),
    explain: async (query) => explain(query),
    render: async (query) => render(query),
    sync: ({ streams }) => sync(streams),
    async verify() {
      const report = await scrub({
        store: engine.storage.blobs,
        fetcher: engine.fetcher,
        onGood: (blob) => engine.storage.blobIndex.add(blob),
        async onBad({ sha256 }) {
          options.onBadBlob()
          await engine.recheck(sha256)
        },
      })
      return report
    },
    async gc({ dryRun }) {
      const plan = dryRun ? engine.garbage.plan() : await engine.garbage.run()
      return {
        dryRun,
        removed: plan.remove,
        freedBytes: plan.remove.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
        kept: plan.keep.length,
        ...(plan.postponedUntil === undefined
          ? {}
          : {
              postponed: `boots that began before the last start may still go on; nothing is removed before ${new Date(plan.postponedUntil).toISOString()}`,
            }),
      }
    },
    importDocument: (request) => importDocument(engine, request, clock),
    reload: options.reload,
    ...options.webhooks,
  }
}

/** What lies in the data directory and is not as it was verified is not served before it was read. */
function readingAgain(progress: ProvingProgress | undefined) {
  if (progress === undefined) return undefined
  const { done, total } = progress
  return {
    part: 'artifacts',
    ready: true,
    reason: `checking files again after a restart, ${done} of ${total} are done`,
  }
}

function outcomeOf(
  outcome: RefreshOutcome | undefined,
): Pick<SyncReport['streams'][number], 'outcome' | 'message' | 'code'> {
  switch (outcome?.kind) {
    case 'document':
      return { outcome: 'updated' }
    case 'unchanged':
      return { outcome: 'unchanged' }
    case 'failed':
      return { outcome: 'failed', message: outcome.failure.message, code: outcome.failure.code }
    default:
      return { outcome: 'failed', message: 'stopped before it was done', code: 'METADATA_UNAVAILABLE' }
  }
}

/** What a stream's machines need: current, target and pinned, each once. */
function wantedRecords(engine: Engine, stream: string) {
  const { ledger } = engine.storage
  const ids = new Set<BootimageId>()
  for (const head of ledger.heads.values()) {
    if (head.stream !== stream) continue
    for (const id of [head.current, head.target]) if (id !== undefined) ids.add(id)
  }
  for (const id of engine.pins.pinned())
    if (ledger.bootimages.get(id)?.bootimage.stream === stream) ids.add(id)
  return [...ids].map((id) => ledger.bootimages.get(id)).filter((record) => record !== undefined)
}
