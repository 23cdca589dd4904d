import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { FetchEvent } from '../artifacts/fetcher.ts'
import type { BootEvent } from '../core/boot-event.ts'
import { type ChangeClass, changeClasses, hasPolicy } from '../core/change.ts'
import type { Clock } from '../core/clock.ts'
import { decidingReasons } from '../core/deciding-reasons.ts'
import { type TokenRefusal, tokenRefusals } from '../core/token-refusal.ts'
import { type DhcpFigures, observeDhcp, observeTftp, type TftpFigures } from './network-metrics.ts'

export const listeners = ['boot', 'admin', 'control'] as const
export type ListenerName = (typeof listeners)[number]

/** Which check a file failed: while it came in (`digest`, `size`, `signature`) or lying in the cache (`scrub`). */
export const verifyChecks = ['digest', 'size', 'signature', 'scrub'] as const
export type VerifyCheck = (typeof verifyChecks)[number]

/** Why the API did not listen to somebody; `limited`: too many from that address. */
export const loginRefusals = ['missing', 'invalid', 'role', 'limited'] as const
export type LoginRefusal = (typeof loginRefusals)[number]

/** How a stream is doing, as far as a monitoring system wants to know. */
export interface StreamFreshness {
  /** Ms since the epoch of the last refresh that worked. */
  readonly lastSuccessAt?: number
}

/** Figures of the service; every label comes from a closed set, so none can hold a MAC, a URL or a file name. */
export interface Metrics {
  onBootEvent(event: BootEvent): void
  onFetchEvent(event: FetchEvent): void
  /** For checks that are not a fetch: the scrubber, or one bad mirror of several. */
  onVerifyFailure(check: VerifyCheck): void
  /** A refresh brought what was not followed: a change that is held or waits, or a part that cannot be used. */
  onRefused(change: ChangeClass): void
  onRefusedLogin(reason: LoginRefusal): void
  /** A machine, or somebody, showed a boot token that does not count. */
  onRefusedToken(refusal: TokenRefusal): void
  /** `route` is the route's pattern, never its URL; `undefined` when no route matched. */
  onRequest(
    listener: ListenerName,
    route: string | undefined,
    method: string,
    status: number,
    seconds: number,
  ): void
  /** Makes a route's series exist before its first request. */
  declareRoute(route: string, method: string): void
  setStream(stream: string, freshness: StreamFreshness): void
  /** For a stream that the configuration no longer has. */
  forgetStream(stream: string): void
  setCacheBytes(bytes: number): void
  /** Where DHCP is on: its figures, asked for by each scrape. */
  observeDhcp(figures: () => DhcpFigures): void
  observeTftp(figures: () => TftpFigures): void
  /** The text that a scrape gets. */
  text(): Promise<string>
  readonly contentType: string
}

export interface MetricsOptions {
  readonly version: string
  readonly clock: Clock
  /** Also the process's and the event loop's own figures; default true. */
  readonly withProcess?: boolean
}

type DownloadOutcome = Extract<FetchEvent, { type: 'finished' }>['outcome']
const downloadOutcomes = Object.keys({
  fetched: true,
  present: true,
  failed: true,
  aborted: true,
} satisfies Record<DownloadOutcome, true>) as DownloadOutcome[]
const stepNames = {
  'dhcp-answered': 'dhcp',
  'tftp-ended': 'tftp',
  'entry-sent': 'entry',
  decided: 'decision',
  'artifact-sent': 'artifact',
  'ignition-sent': 'ignition',
  reported: 'report',
} as const satisfies Partial<Record<BootEvent['type'], string>>
const sentRoles = ['kernel', 'initramfs', 'rootfs', 'disk', 'other'] as const
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE'])

const failedChecks: ReadonlyMap<string, VerifyCheck> = new Map([
  ['ARTIFACT_DIGEST_MISMATCH', 'digest'],
  ['ARTIFACT_EMPTY', 'size'],
  ['ARTIFACT_TRUNCATED', 'size'],
  ['ARTIFACT_TOO_LONG', 'size'],
  ['SIGNATURE_MISSING', 'signature'],
  ['SIGNATURE_INVALID', 'signature'],
  ['SIGNATURE_KEY_EXPIRED', 'signature'],
])

function mayBeRefused(change: ChangeClass): boolean {
  return hasPolicy(change) || change === 'withdrawn' || change === 'partial'
}

/**
 * A registry of its own with every counter at zero, so that an alert on `increase()` sees the very first event.
 * Requests last from microseconds (a script) to minutes (a rootfs over a slow link), hence the wide buckets.
 */
export function createMetrics({ version, clock, withProcess = true }: MetricsOptions): Metrics {
  const registry = new Registry()
  const registers = [registry]
  if (withProcess) collectDefaultMetrics({ register: registry })

  new Gauge({
    name: 'pilotlight_build_info',
    help: 'Always 1; the labels say what is running.',
    labelNames: ['version', 'node_version'],
    registers,
  }).set({ version, node_version: process.version }, 1)

  const decisions = new Counter({
    name: 'pilotlight_boot_decisions_total',
    help: 'Boot decisions by kind and by the reason that decided.',
    labelNames: ['kind', 'reason'],
    registers,
  })
  for (const [kind, reasons] of Object.entries(decidingReasons)) {
    for (const reason of reasons) decisions.inc({ kind, reason }, 0)
  }

  const downloads = new Counter({
    name: 'pilotlight_artifact_downloads_total',
    help: 'Artifacts that were wanted, by outcome; present: nothing had to be fetched.',
    labelNames: ['outcome'],
    registers,
  })
  for (const outcome of downloadOutcomes) downloads.inc({ outcome }, 0)

  const verifyFailures = new Counter({
    name: 'pilotlight_artifact_verify_failures_total',
    help: 'Files that failed a check and were not served.',
    labelNames: ['check'],
    registers,
  })
  for (const check of verifyChecks) verifyFailures.inc({ check }, 0)

  const refusedTokens = new Counter({
    name: 'pilotlight_boot_tokens_refused_total',
    help: 'Tokens for Ignition configs and reports that did not count, by the reason.',
    labelNames: ['reason'],
    registers,
  })
  for (const reason of tokenRefusals) refusedTokens.inc({ reason }, 0)

  const refused = new Counter({
    name: 'pilotlight_stream_refused_total',
    help: 'What refreshes brought and was not followed, for each architecture, by the class of the change.',
    labelNames: ['reason'],
    registers,
  })
  for (const reason of changeClasses) if (mayBeRefused(reason)) refused.inc({ reason }, 0)

  const refusedLogins = new Counter({
    name: 'pilotlight_admin_refused_logins_total',
    help: 'Requests to the API without a token, with one that does not count, or with one that may not do that.',
    labelNames: ['reason'],
    registers,
  })
  for (const reason of loginRefusals) refusedLogins.inc({ reason }, 0)

  const sentBytes = new Counter({
    name: 'pilotlight_artifact_sent_bytes_total',
    help: 'Bytes of artifacts sent to nodes.',
    labelNames: ['role'],
    registers,
  })
  for (const role of sentRoles) sentBytes.inc({ role }, 0)

  // Plain numbers until a scrape asks: a labelled counter costs as much as an answer of DHCP.
  const steps: Partial<Record<BootEvent['type'], number>> = {}
  new Counter({
    name: 'pilotlight_boot_steps_total',
    help: 'Steps of boots; where the numbers fall from one step to the next, machines get stuck.',
    labelNames: ['step'],
    registers,
    collect() {
      this.reset()
      for (const [type, step] of Object.entries(stepNames)) {
        this.inc({ step }, steps[type as BootEvent['type']] ?? 0)
      }
    },
  })

  const cacheBytes = new Gauge({
    name: 'pilotlight_cache_used_bytes',
    help: 'Bytes of verified artifacts in the data directory.',
    registers,
  })

  const lastSuccess = new Map<string, number | undefined>()
  const knownSince = new Map<string, number>()
  new Gauge({
    name: 'pilotlight_stream_refresh_timestamp_seconds',
    help: 'When the metadata of the stream was last read successfully (Unix time); 0: never.',
    labelNames: ['stream'],
    registers,
    collect() {
      this.reset()
      for (const [stream, at] of lastSuccess) this.set({ stream }, (at ?? 0) / 1000)
    },
  })
  new Gauge({
    name: 'pilotlight_stream_age_seconds',
    help: 'Time since the metadata of the stream was last read successfully, or since it is followed without success.',
    labelNames: ['stream'],
    registers,
    collect() {
      this.reset()
      const now = clock.now()
      for (const [stream, at] of lastSuccess) {
        const since = at ?? knownSince.get(stream) ?? now
        this.set({ stream }, Math.max(0, now - since) / 1000)
      }
    },
  })

  const requests = new Histogram({
    name: 'pilotlight_http_request_duration_seconds',
    help: 'Time from a request to the last byte of its answer.',
    labelNames: ['route', 'method', 'status'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 300],
    registers,
  })

  return {
    onBootEvent(event) {
      steps[event.type] = (steps[event.type] ?? 0) + 1
      if (event.type === 'decided') {
        decisions.inc({ kind: event.kind, reason: event.reason })
      } else if (event.type === 'artifact-sent' && event.method === 'GET') {
        const role = sentRoles.find((known) => known === event.role) ?? 'other'
        sentBytes.inc({ role }, event.sentBytes)
      }
    },
    onFetchEvent(event) {
      if (event.type !== 'finished') return
      downloads.inc({ outcome: event.outcome })
      const check = event.outcome === 'failed' ? failedChecks.get(event.code ?? '') : undefined
      if (check !== undefined) verifyFailures.inc({ check })
    },
    onVerifyFailure(check) {
      verifyFailures.inc({ check })
    },
    onRefused(change) {
      refused.inc({ reason: change })
    },
    onRefusedToken(refusal) {
      refusedTokens.inc({ reason: refusal })
    },
    onRefusedLogin(reason) {
      refusedLogins.inc({ reason })
    },
    onRequest(listener, route, method, status, seconds) {
      requests.observe(
        {
          // Patterns of the listeners differ, so only what matched none needs its listener's name.
          route: route ?? `${listener}:unmatched`,
          method: methods.has(method) ? method : 'other',
          status: String(status),
        },
        seconds,
      )
    },
    declareRoute(route, method) {
      // Every route has its GET; what probes ask by HEAD would double the figures, and is there from the first one on.
      if (method === 'HEAD') return
      requests.zero({ route, method, status: '200' })
    },
    setStream(stream, { lastSuccessAt }) {
      if (!knownSince.has(stream)) knownSince.set(stream, clock.now())
      lastSuccess.set(stream, lastSuccessAt)
    },
    forgetStream(stream) {
      lastSuccess.delete(stream)
      knownSince.delete(stream)
    },
    setCacheBytes(bytes) {
      cacheBytes.set(bytes)
    },
    observeDhcp: (figures) => observeDhcp(registry, figures),
    observeTftp: (figures) => observeTftp(registry, figures),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}
