import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { FetchEvent } from '../artifacts/fetcher.ts'
import type { Clock } from '../core/clock.ts'
import { type TokenRefusal, tokenRefusals } from '../core/token-refusal.ts'
import { type BootMetrics, createBootMetrics } from './boot-metrics.ts'
import { type DhcpFigures, observeDhcp, observeTftp, type TftpFigures } from './network-metrics.ts'
import { createServiceMetrics, type ServiceMetrics } from './service-metrics.ts'
import { createStreamMetrics, type StreamMetrics } from './stream-metrics.ts'

export const listeners = ['boot', 'admin', 'control'] as const
export type ListenerName = (typeof listeners)[number]

/** Which check a file failed: while it came in (`digest`, `size`, `signature`) or lying in the cache (`scrub`). */
export const verifyChecks = ['digest', 'size', 'signature', 'scrub'] as const
export type VerifyCheck = (typeof verifyChecks)[number]

/** Why the API did not listen to somebody; `limited`: too many from that address. */
export const loginRefusals = ['missing', 'invalid', 'role', 'limited'] as const
export type LoginRefusal = (typeof loginRefusals)[number]

/** Figures of the service; every label comes from a closed set, so none can hold a MAC, a URL or a file name. */
export interface Metrics extends BootMetrics, StreamMetrics, ServiceMetrics {
  onFetchEvent(event: FetchEvent): void
  /** For checks that are not a fetch: the scrubber, or one bad mirror of several. */
  onVerifyFailure(check: VerifyCheck): void
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

  const refusedLogins = new Counter({
    name: 'pilotlight_admin_refused_logins_total',
    help: 'Requests to the API without a token, with one that does not count, or with one that may not do that.',
    labelNames: ['reason'],
    registers,
  })
  for (const reason of loginRefusals) refusedLogins.inc({ reason }, 0)

  const cacheBytes = new Gauge({
    name: 'pilotlight_cache_used_bytes',
    help: 'Bytes of verified artifacts in the data directory.',
    registers,
  })

  const requests = new Histogram({
    name: 'pilotlight_http_request_duration_seconds',
    help: 'Time from a request to the last byte of its answer.',
    labelNames: ['route', 'method', 'status'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 300],
    registers,
  })

  return {
    ...createBootMetrics(registry),
    ...createStreamMetrics(registry, clock),
    ...createServiceMetrics(registry),
    onFetchEvent(event) {
      if (event.type !== 'finished') return
      downloads.inc({ outcome: event.outcome })
      const check = event.outcome === 'failed' ? failedChecks.get(event.code ?? '') : undefined
      if (check !== undefined) verifyFailures.inc({ check })
    },
    onVerifyFailure(check) {
      verifyFailures.inc({ check })
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
    setCacheBytes(bytes) {
      cacheBytes.set(bytes)
    },
    observeDhcp: (figures) => observeDhcp(registry, figures),
    observeTftp: (figures) => observeTftp(registry, figures),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}
