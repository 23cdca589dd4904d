import { architectures } from '../core/arch.ts'
import { type LoaderSigner, loaderPlatforms } from '../core/loader.ts'
import type {
  BootimageSummary,
  Explanation,
  GcReport,
  ImportReport,
  LoaderSetStream,
  LoaderSummary,
  LoadersReport,
  PartReadiness,
  Readiness,
  ReloadReport,
  StreamArchSummary,
  StreamSummary,
  SyncReport,
  VerifyReport,
} from '../http/admin/operations.ts'
import { list, number, object, optional, type Reader, text, truth, word } from './read-value.ts'

/** What a service answers on its control socket, looked at before anybody shows it. */

const arch = word(architectures)
type Item<List> = List extends readonly (infer T)[] ? T : never
type Present<T> = Exclude<T, undefined>

export const readiness: Reader<Readiness> = object<Readiness>({
  ready: truth,
  parts: list(object<PartReadiness>({ part: text, ready: truth, reason: optional(text) })),
})

export const bootimages: Reader<readonly BootimageSummary[]> = list(
  object<BootimageSummary>({
    id: text,
    stream: text,
    arch,
    release: text,
    kind: word(['live', 'legacy-installer']),
    state: text,
    roles: list(word(['current', 'previous', 'target', 'pinned', 'leased', 'held'])),
    setDigest: text,
    sizeBytes: optional(number),
    doneBytes: optional(number),
    totalBytes: optional(number),
    bytesPerSecond: optional(number),
    failure: optional(object<Present<BootimageSummary['failure']>>({ code: text, message: text, at: text })),
    artifacts: list(object<Item<BootimageSummary['artifacts']>>({ role: text, name: text, sha256: text })),
  }),
)

const streamArch = object<StreamArchSummary>({
  arch,
  current: optional(text),
  previous: list(text),
  target: optional(
    object<Present<StreamArchSummary['target']>>({ release: text, state: text, failure: optional(text) }),
  ),
  pending: optional(
    object<Present<StreamArchSummary['pending']>>({
      change: text,
      release: optional(text),
      policy: text,
      seen: number,
      decides: text,
    }),
  ),
  damaged: optional(
    object<Present<StreamArchSummary['damaged']>>({ release: text, text, standIn: optional(text) }),
  ),
  lastChange: optional(text),
  problem: optional(text),
})

export const streams: Reader<readonly StreamSummary[]> = list(
  object<StreamSummary>({
    name: text,
    source: text,
    label: optional(text),
    lastModified: optional(text),
    lastSuccessAt: optional(text),
    lastAttemptAt: optional(text),
    failingSince: optional(text),
    error: optional(object<Present<StreamSummary['error']>>({ code: text, message: text })),
    architectures: list(streamArch),
  }),
)

export const explanation: Reader<Explanation> = object<Explanation>({
  decision: text,
  host: optional(text),
  arch: optional(text),
  release: optional(text),
  bootimage: optional(text),
  reasons: list(object<Item<Explanation['reasons']>>({ code: text, text })),
  values: list(object<Item<Explanation['values']>>({ field: text, value: text, origin: text })),
})

type SyncedStream = Item<SyncReport['streams']>

export const syncReport: Reader<SyncReport> = object<SyncReport>({
  streams: list(
    object<SyncedStream>({
      name: text,
      outcome: word(['unchanged', 'updated', 'failed']),
      code: optional(text),
      message: optional(text),
      notes: list(
        object<Item<SyncedStream['notes']>>({ arch, kind: word(['refused', 'not-followed']), text }),
      ),
      bootimages: list(
        object<Item<SyncedStream['bootimages']>>({
          id: text,
          state: text,
          failure: optional(text),
          code: optional(text),
        }),
      ),
    }),
  ),
})

export const verifyReport: Reader<VerifyReport> = object<VerifyReport>({
  checked: number,
  bytes: number,
  bad: list(object<Item<VerifyReport['bad']>>({ sha256: text, reason: text })),
})

export const gcReport: Reader<GcReport> = object<GcReport>({
  dryRun: truth,
  removed: list(object<Item<GcReport['removed']>>({ sha256: text, sizeBytes: number, why: text })),
  freedBytes: number,
  kept: number,
  postponed: optional(text),
})

export const importReport: Reader<ImportReport> = object<ImportReport>({
  format: text,
  stream: text,
  digest: text,
  releases: list(object<Item<ImportReport['releases']>>({ arch, release: text, kind: text })),
  problems: list(text),
})

const platform = word(loaderPlatforms)

const loader = object<LoaderSummary>({
  name: text,
  set: optional(text),
  file: text,
  platform: optional(platform),
  kind: word(['ipxe', 'grub', 'shim', 'pxelinux', 'unknown']),
  version: optional(text),
  features: optional(list(text)),
  sizeBytes: number,
  sha256: text,
  signer: optional(object<LoaderSigner>({ name: text, issuer: text })),
})

export const loadersReport: Reader<LoadersReport> = object<LoadersReport>({
  loaders: list(loader),
  refused: list(
    object<Item<LoadersReport['refused']>>({ name: text, set: optional(text), file: text, reason: text }),
  ),
  missing: list(object<Item<LoadersReport['missing']>>({ name: text, platform, remedy: text })),
  sets: list(
    object<Item<LoadersReport['sets']>>({
      name: text,
      directory: text,
      architectures: list(arch),
      problems: list(text),
      streams: list(object<LoaderSetStream>({ stream: text, arch, release: text, problem: optional(text) })),
    }),
  ),
})

export const reloadReport: Reader<ReloadReport> = object<ReloadReport>({
  changed: truth,
  error: optional(text),
  needsRestart: optional(list(text)),
})
