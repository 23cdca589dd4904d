import Type, { type Static, type TSchema } from 'typebox'
import { architectures } from '../../../core/arch.ts'
import { loaderKinds, loaderPlatforms } from '../../../core/loader.ts'
import { webhookEventTypes } from '../../../core/webhook.ts'
import type { DeepReadonly } from './deep-readonly.ts'
import { word } from './text.ts'

/**
 * What the rest of the API takes and gives: streams, files, loaders, decisions and the work on them. Times are
 * ISO 8601 in UTC.
 */

const strict = { additionalProperties: false } as const
const optional = Type.Optional
const text = (description?: string) => Type.String(description === undefined ? {} : { description })
const count = (description?: string) => Type.Number(description === undefined ? {} : { description })
const short = (description: string) => word(description, 256)
const Arch = Type.Enum([...architectures])
const object = <Properties extends Record<string, TSchema>>(properties: Properties) =>
  Type.Object(properties, strict)

/** Characters of a metadata document; real ones have below 2 MiB. */
export const maxDocumentLength = 16 * 1024 * 1024

// ---- health

/** One part of the service and whether it can do its work. */
export const PartReadiness = object({
  part: text('`boot-http`, `state`, `artifacts`, `config`, `stream:<name>` …'),
  ready: Type.Boolean(),
  reason: optional(text('Also of parts that are ready but limp (upstream gone, cache good).')),
})
export const Readiness = object({ ready: Type.Boolean(), parts: Type.Array(PartReadiness) })
export const Liveness = object({ alive: Type.Boolean(), version: text() })

// ---- streams and bootimages

export const BootimageSummary = object({
  id: text(),
  stream: text(),
  arch: Arch,
  release: text(),
  kind: Type.Enum(['live', 'legacy-installer']),
  state: text('With bytes while it is being fetched.'),
  roles: Type.Array(Type.Enum(['current', 'previous', 'target', 'pinned', 'leased', 'held'])),
  setDigest: text('SHA-256 over the digests of its files.'),
  sizeBytes: optional(count()),
  doneBytes: optional(count()),
  totalBytes: optional(count()),
  bytesPerSecond: optional(count()),
  failure: optional(object({ code: text(), message: text(), at: text() })),
  artifacts: Type.Array(object({ role: text(), name: text(), sha256: text() })),
})

export const StreamArchSummary = object({
  arch: Arch,
  current: optional(text('The release that is handed out.')),
  previous: Type.Array(text()),
  target: optional(
    object({
      release: text(),
      state: text(),
      failure: optional(text()),
      doneBytes: optional(count('While it is being fetched.')),
      totalBytes: optional(count()),
      bytesPerSecond: optional(count()),
    }),
  ),
  pending: optional(
    object({
      change: text(),
      release: optional(text()),
      policy: text(),
      seen: count(),
      decides: text('What it waits for, with the line of the configuration that decides.'),
    }),
  ),
  damaged: optional(
    object({
      release: text('Current, and not whole.'),
      text: text(),
      standIn: optional(text('The release that boots meanwhile, where there is one.')),
    }),
  ),
  lastChange: optional(text()),
  problem: optional(text()),
})

export const StreamSummary = object({
  name: text(),
  source: text('For people; without credentials.'),
  label: optional(text()),
  lastModified: optional(text()),
  lastSuccessAt: optional(text()),
  lastAttemptAt: optional(text()),
  failingSince: optional(text()),
  error: optional(object({ code: text(), message: text() })),
  architectures: Type.Array(StreamArchSummary),
})

export const BootimageQuery = object({
  stream: optional(word('Of this stream.')),
  arch: optional(word('Of this architecture, in any spelling.', 32)),
})

// ---- loaders

export const LoaderSummary = object({
  name: text('Under which it is served; with `set`, below the name of that set.'),
  set: optional(text()),
  file: text('Where it was found.'),
  platform: optional(Type.Enum([...loaderPlatforms])),
  kind: Type.Enum([...loaderKinds]),
  version: optional(text()),
  features: optional(Type.Array(text())),
  sizeBytes: count(),
  sha256: text(),
  signer: optional(object({ name: text(), issuer: text() })),
})

/** A stream that names a loader set, and whether the set starts its current kernel under Secure Boot. */
export const LoaderSetStream = object({
  stream: text(),
  arch: Arch,
  release: text(),
  problem: optional(text()),
})

export const LoadersReport = object({
  loaders: Type.Array(LoaderSummary),
  refused: Type.Array(object({ name: text(), set: optional(text()), file: text(), reason: text() })),
  missing: Type.Array(object({ name: text(), platform: Type.Enum([...loaderPlatforms]), remedy: text() })),
  sets: Type.Array(
    object({
      name: text(),
      directory: text(),
      architectures: Type.Array(Arch),
      problems: Type.Array(text()),
      streams: Type.Array(LoaderSetStream),
    }),
  ),
})

// ---- decisions

/** What a machine says, as an admin types it; `host` instead of what it would say. */
export const ExplainQuery = object({
  mac: optional(short('In any spelling.')),
  uuid: optional(short('SMBIOS UUID.')),
  serial: optional(short('Serial number.')),
  host: optional(short('Id of a host.')),
  arch: optional(short('In any spelling.')),
  platform: optional(Type.Enum(['pcbios', 'efi'])),
})

export const Explanation = object({
  decision: text(),
  host: optional(text()),
  arch: optional(text()),
  release: optional(text()),
  bootimage: optional(text()),
  reasons: Type.Array(object({ code: text(), text: text() })),
  values: Type.Array(object({ field: text(), value: text(), origin: text('The place that says so.') })),
})

/**
 * What `render` can be asked for instead of the machine's own decision: `entry` is the script that firmware loads
 * first, the others are the machine's values as if that had been decided. Nothing is served by it.
 */
export const renderTemplates = ['entry', 'live', 'install', 'local', 'wait', 'hold'] as const
/** Languages of loaders; only iPXE and GRUB load an entry script first. */
export const renderDialects = ['ipxe', 'grub', 'pxelinux'] as const

export const RenderQuery = object({
  ...ExplainQuery.properties,
  dialect: Type.Enum([...renderDialects]),
  template: optional(
    Type.Enum([...renderTemplates], { description: 'Default: what the machine would get now.' }),
  ),
  baseUrl: optional(short('Default: where machines fetch from.')),
})
export const RenderedScript = object({ script: text() })

// ---- work

export const SyncRequest = object({
  streams: optional(Type.Array(word('A stream.'), { maxItems: 1000, description: 'Default: all.' })),
})
export const SyncReport = object({
  streams: Type.Array(
    object({
      name: text(),
      outcome: Type.Enum(['unchanged', 'updated', 'failed']),
      code: optional(text('Of the error, when it failed.')),
      message: optional(text()),
      notes: Type.Array(
        object({
          arch: Arch,
          kind: Type.Enum(['refused', 'not-followed']),
          text: text('What was not followed, and why. refused: its part of the document cannot be used.'),
        }),
      ),
      bootimages: Type.Array(
        object({ id: text(), state: text(), failure: optional(text()), code: optional(text()) }),
      ),
    }),
  ),
})

export const Nothing = object({})
export const VerifyReport = object({
  checked: count(),
  bytes: count(),
  bad: Type.Array(object({ sha256: text(), reason: text() })),
})

export const GcRequest = object({ dryRun: Type.Boolean() })
export const GcReport = object({
  dryRun: Type.Boolean(),
  removed: Type.Array(object({ sha256: text(), sizeBytes: count(), why: text() })),
  freedBytes: count(),
  kept: count(),
  postponed: optional(text('Why nothing may be removed yet (just after a start).')),
})

export const ImportRequest = object({
  stream: word('A stream of the configuration.'),
  name: word('What problems call it.', 4096),
  text: Type.String({ minLength: 1, maxLength: maxDocumentLength, description: 'A metadata document.' }),
})
export const ImportReport = object({
  format: text(),
  stream: text(),
  digest: text(),
  releases: Type.Array(object({ arch: Arch, release: text(), kind: text() })),
  problems: Type.Array(text()),
})

export const ReloadReport = object({
  changed: Type.Boolean(),
  error: optional(text('Why it was not taken.')),
  needsRestart: optional(Type.Array(text(), { description: 'Keys that count after a restart only.' })),
})

// ---- webhooks

/** One receiver; its URL may hold a secret and is not shown. */
export const WebhookSummary = object({
  name: text(),
  events: Type.Array(Type.Enum([...webhookEventTypes])),
  state: Type.Enum(['good', 'failing', 'refusing', 'gone'], {
    description:
      'failing: not reached, tried again. refusing: it answers, and would not have the last message. gone: its receiver answered 410 and is told nothing until the configuration is read again.',
  }),
  waiting: count('Messages that are not delivered yet.'),
  refused: count('Messages that it would not have, since the start.'),
  dropped: count('Messages that were given up since the start: for newer ones, after a day, or after a 410.'),
  lastDeliveredAt: optional(text()),
  problem: optional(text('Why the last try failed.')),
})
export const WebhookTest = object({
  isDelivered: Type.Boolean(),
  status: optional(count('Of the answer.')),
  problem: optional(text('Why there was no answer.')),
})

export type PartReadiness = DeepReadonly<Static<typeof PartReadiness>>
export type Readiness = DeepReadonly<Static<typeof Readiness>>
export type BootimageSummary = DeepReadonly<Static<typeof BootimageSummary>>
export type StreamArchSummary = DeepReadonly<Static<typeof StreamArchSummary>>
export type StreamSummary = DeepReadonly<Static<typeof StreamSummary>>
export type LoaderSummary = DeepReadonly<Static<typeof LoaderSummary>>
export type LoaderSetStream = DeepReadonly<Static<typeof LoaderSetStream>>
export type LoadersReport = DeepReadonly<Static<typeof LoadersReport>>
export type ExplainQuery = DeepReadonly<Static<typeof ExplainQuery>>
export type Explanation = DeepReadonly<Static<typeof Explanation>>
export type RenderTemplate = (typeof renderTemplates)[number]
export type RenderDialect = (typeof renderDialects)[number]
export type RenderQuery = DeepReadonly<Static<typeof RenderQuery>>
export type SyncReport = DeepReadonly<Static<typeof SyncReport>>
export type VerifyReport = DeepReadonly<Static<typeof VerifyReport>>
export type GcReport = DeepReadonly<Static<typeof GcReport>>
export type ImportReport = DeepReadonly<Static<typeof ImportReport>>
export type ReloadReport = DeepReadonly<Static<typeof ReloadReport>>
export type WebhookSummary = DeepReadonly<Static<typeof WebhookSummary>>
export type WebhookTest = DeepReadonly<Static<typeof WebhookTest>>
