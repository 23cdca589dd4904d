import { expect, test } from 'vitest'
import type { BootEvent } from '../../src/core/boot-event.ts'
import type { Sha256 } from '../../src/core/digest.ts'
import { createMetrics } from '../../src/telemetry/create-metrics.ts'

function createTestMetrics(now = { at: 0 }) {
  return createMetrics({ version: '1.2.3', clock: { now: () => now.at }, withProcess: false })
}

/** Sample lines (no comments) that start with `name`. */
async function samples(metrics: { text(): Promise<string> }, name: string): Promise<string[]> {
  const text = await metrics.text()
  return text.split('\n').filter((line) => line.startsWith(name) && !line.startsWith('#'))
}

test('every name exists from the start and every counter stands at zero', async () => {
  const metrics = createTestMetrics()
  metrics.setStream('fcos-stable', {})
  metrics.declareRoute('/readyz', 'GET')
  const text = await metrics.text()
  for (const name of [
    'pilotlight_build_info',
    'pilotlight_boot_decisions_total',
    'pilotlight_artifact_downloads_total',
    'pilotlight_artifact_verify_failures_total',
    'pilotlight_artifact_sent_bytes_total',
    'pilotlight_cache_used_bytes',
    'pilotlight_stream_refresh_timestamp_seconds',
    'pilotlight_stream_age_seconds',
    'pilotlight_stream_held',
    'pilotlight_stream_failed',
    'pilotlight_boot_attempts_total',
    'pilotlight_boot_diagnoses_total',
    'pilotlight_boot_phase_duration_seconds_count',
    'pilotlight_webhook_deliveries_total',
    'pilotlight_http_request_duration_seconds_count',
  ]) {
    expect(text).toMatch(new RegExp(`^${name}(\\{|\\s)`, 'm'))
  }
  const counters = text.split('\n').filter((line) => /^pilotlight_\w+_total\{/.test(line))
  expect(counters.length).toBeGreaterThan(50)
  for (const line of counters) expect(line).toMatch(/ 0$/)
  expect(text).toContain('pilotlight_boot_decisions_total{kind="wait",reason="pin-being-fetched"} 0')
  // What no decision can be is not there, so that a scrape stays small.
  expect(text).not.toContain('kind="live",reason="mode-hold"')
  expect(text).toMatch(/pilotlight_build_info\{version="1\.2\.3",node_version="v\d+/)
})

test('process and event loop have the names of the ecosystem', async () => {
  const metrics = createMetrics({ version: '1.2.3', clock: { now: () => 0 } })
  const text = await metrics.text()
  expect(text).toMatch(/^process_cpu_seconds_total /m)
  expect(text).toMatch(/^process_resident_memory_bytes /m)
  expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m)
})

test('a decision is counted by kind and reason, and no MAC or host becomes a label', async () => {
  const metrics = createTestMetrics()
  metrics.onBootEvent({
    type: 'decided',
    at: 0,
    bootId: 'AAAAAAAAAAAAAAAAAAAAAA',
    kind: 'live',
    reason: 'follows-current',
    mac: '52:54:00:ab:cd:ef',
    host: 'rack1-n01',
  } as BootEvent)
  expect(
    await samples(metrics, 'pilotlight_boot_decisions_total{kind="live",reason="follows-current"}'),
  ).toEqual(['pilotlight_boot_decisions_total{kind="live",reason="follows-current"} 1'])
  expect(await metrics.text()).not.toMatch(/52:54|rack1/)
})

test('sent bytes are counted by role; HEAD sends none and an unknown role is other', async () => {
  const metrics = createTestMetrics()
  const event = { type: 'artifact-sent', at: 0, method: 'GET', status: 200, completed: true } as const
  metrics.onBootEvent({ ...event, role: 'rootfs', sentBytes: 100 })
  metrics.onBootEvent({ ...event, role: 'rootfs', sentBytes: 5, completed: false })
  metrics.onBootEvent({ ...event, role: 'rootfs', sentBytes: 7, method: 'HEAD' })
  metrics.onBootEvent({ ...event, role: '../../etc', sentBytes: 1 })
  expect(await samples(metrics, 'pilotlight_artifact_sent_bytes_total')).toEqual([
    'pilotlight_artifact_sent_bytes_total{role="kernel"} 0',
    'pilotlight_artifact_sent_bytes_total{role="initramfs"} 0',
    'pilotlight_artifact_sent_bytes_total{role="rootfs"} 105',
    'pilotlight_artifact_sent_bytes_total{role="disk"} 0',
    'pilotlight_artifact_sent_bytes_total{role="other"} 1',
  ])
})

test('a finished fetch counts its outcome, and the check that it failed', async () => {
  const metrics = createTestMetrics()
  const sha256 = 'a'.repeat(64) as Sha256
  metrics.onFetchEvent({ type: 'started', sha256, url: 'http://x/', resumedAtBytes: 0 })
  metrics.onFetchEvent({ type: 'finished', sha256, outcome: 'fetched', sizeBytes: 1 })
  metrics.onFetchEvent({ type: 'finished', sha256, outcome: 'failed', code: 'ARTIFACT_DIGEST_MISMATCH' })
  metrics.onFetchEvent({ type: 'finished', sha256, outcome: 'failed', code: 'SIGNATURE_MISSING' })
  metrics.onFetchEvent({ type: 'finished', sha256, outcome: 'failed', code: 'UPSTREAM_UNREACHABLE' })
  metrics.onVerifyFailure('scrub')
  expect(await samples(metrics, 'pilotlight_artifact_downloads_total')).toEqual([
    'pilotlight_artifact_downloads_total{outcome="fetched"} 1',
    'pilotlight_artifact_downloads_total{outcome="present"} 0',
    'pilotlight_artifact_downloads_total{outcome="failed"} 3',
    'pilotlight_artifact_downloads_total{outcome="aborted"} 0',
  ])
  expect(await samples(metrics, 'pilotlight_artifact_verify_failures_total')).toEqual([
    'pilotlight_artifact_verify_failures_total{check="digest"} 1',
    'pilotlight_artifact_verify_failures_total{check="size"} 0',
    'pilotlight_artifact_verify_failures_total{check="signature"} 1',
    'pilotlight_artifact_verify_failures_total{check="scrub"} 1',
  ])
})

test('G4 the age of a stream grows while its upstream is gone, also when it was never read', async () => {
  const now = { at: 1_000_000 }
  const metrics = createTestMetrics(now)
  metrics.setStream('read', { lastSuccessAt: 990_000 })
  metrics.setStream('never', {})
  now.at += 60_000
  metrics.setStream('never', {})
  expect(await samples(metrics, 'pilotlight_stream_age_seconds')).toEqual([
    'pilotlight_stream_age_seconds{stream="read"} 70',
    'pilotlight_stream_age_seconds{stream="never"} 60',
  ])
  expect(await samples(metrics, 'pilotlight_stream_refresh_timestamp_seconds')).toEqual([
    'pilotlight_stream_refresh_timestamp_seconds{stream="read"} 990',
    'pilotlight_stream_refresh_timestamp_seconds{stream="never"} 0',
  ])
})

test('a stream that left the configuration leaves the figures', async () => {
  const metrics = createTestMetrics()
  metrics.setStream('gone', { lastSuccessAt: 1 })
  metrics.forgetStream('gone')
  const lines = await samples(metrics, 'pilotlight_stream_')
  expect(lines.filter((line) => line.includes('stream='))).toEqual([])
})

test('G10 what is not followed is counted by its change, from zero on', async () => {
  const metrics = createTestMetrics()
  metrics.onRefused('partial')
  expect(await samples(metrics, 'pilotlight_stream_refused_total')).toEqual(
    expect.arrayContaining([
      'pilotlight_stream_refused_total{reason="partial"} 1',
      'pilotlight_stream_refused_total{reason="withdrawn"} 0',
      'pilotlight_stream_refused_total{reason="republished"} 0',
    ]),
  )
})

test('requests are labelled by route pattern; odd methods and unmatched routes stay in closed sets', async () => {
  const metrics = createTestMetrics()
  metrics.onRequest('boot', '/ipxe', 'GET', 200, 0.0004)
  metrics.onRequest('boot', undefined, 'PROPFIND', 405, 0.0001)
  const counts = await samples(metrics, 'pilotlight_http_request_duration_seconds_count')
  expect(counts).toEqual([
    'pilotlight_http_request_duration_seconds_count{route="/ipxe",method="GET",status="200"} 1',
    'pilotlight_http_request_duration_seconds_count{route="boot:unmatched",method="other",status="405"} 1',
  ])
})

test('the cache gauge shows what was set last', async () => {
  const metrics = createTestMetrics()
  metrics.setCacheBytes(10)
  metrics.setCacheBytes(7)
  expect(await samples(metrics, 'pilotlight_cache_used_bytes')).toEqual(['pilotlight_cache_used_bytes 7'])
})

test('a boot that is over is counted by its outcome, and its phases by how long they took', async () => {
  const metrics = createTestMetrics()
  metrics.onAttemptOver({
    outcome: 'booted',
    phases: [
      { phase: 'dhcp', startedAt: 1_000, endedAt: 3_000 },
      { phase: 'kernel', startedAt: 3_000, endedAt: 2_000 },
      { phase: 'system', startedAt: 3_000 },
    ],
  })
  metrics.onAttemptOver({ outcome: 'lost', phases: [] })
  expect(await samples(metrics, 'pilotlight_boot_attempts_total')).toEqual([
    'pilotlight_boot_attempts_total{outcome="booted"} 1',
    ...['installed', 'failed', 'served', 'local', 'held', 'superseded'].map(
      (outcome) => `pilotlight_boot_attempts_total{outcome="${outcome}"} 0`,
    ),
    'pilotlight_boot_attempts_total{outcome="lost"} 1',
  ])
  const durations = (kind: string) => samples(metrics, `pilotlight_boot_phase_duration_seconds_${kind}`)
  expect((await durations('sum')).filter((line) => !line.endsWith(' 0'))).toEqual([
    'pilotlight_boot_phase_duration_seconds_sum{phase="dhcp"} 2',
  ])
  expect((await durations('count')).filter((line) => !line.endsWith(' 0'))).toEqual([
    'pilotlight_boot_phase_duration_seconds_count{phase="dhcp"} 1',
    'pilotlight_boot_phase_duration_seconds_count{phase="kernel"} 1',
  ])
})

test('boots of this moment are a gauge by state; what is wrong with them is counted by pattern', async () => {
  const metrics = createTestMetrics()
  const counts = { running: 2, waiting: 0, stuck: 1, over: 7 }
  metrics.observeAttempts(() => counts)
  metrics.onDiagnosis('loader-loop')
  expect(await samples(metrics, 'pilotlight_boot_attempts{')).toEqual([
    'pilotlight_boot_attempts{state="running"} 2',
    'pilotlight_boot_attempts{state="waiting"} 0',
    'pilotlight_boot_attempts{state="stuck"} 1',
    'pilotlight_boot_attempts{state="over"} 7',
  ])
  counts.running = 3
  expect(await samples(metrics, 'pilotlight_boot_attempts{state="running"}')).toEqual([
    'pilotlight_boot_attempts{state="running"} 3',
  ])
  expect(await samples(metrics, 'pilotlight_boot_diagnoses_total{pattern="loader-loop"}')).toEqual([
    'pilotlight_boot_diagnoses_total{pattern="loader-loop"} 1',
  ])
})

test('what a stream holds back and cannot have are gauges of its architectures', async () => {
  const metrics = createTestMetrics()
  metrics.setStream('fcos-stable', { held: 1, failed: 2 })
  expect(await samples(metrics, 'pilotlight_stream_held')).toEqual([
    'pilotlight_stream_held{stream="fcos-stable"} 1',
  ])
  metrics.setStream('fcos-stable', {})
  expect(await samples(metrics, 'pilotlight_stream_failed')).toEqual([
    'pilotlight_stream_failed{stream="fcos-stable"} 0',
  ])
})

test('webhooks are counted by what came of them, event streams are asked for', async () => {
  const metrics = createTestMetrics()
  metrics.onWebhook('retried')
  metrics.onWebhook('delivered')
  metrics.observeEventStreams(() => 3)
  expect(await samples(metrics, 'pilotlight_webhook_deliveries_total')).toEqual([
    'pilotlight_webhook_deliveries_total{outcome="delivered"} 1',
    'pilotlight_webhook_deliveries_total{outcome="retried"} 1',
    'pilotlight_webhook_deliveries_total{outcome="rejected"} 0',
    'pilotlight_webhook_deliveries_total{outcome="expired"} 0',
    'pilotlight_webhook_deliveries_total{outcome="dropped"} 0',
  ])
  expect(await samples(metrics, 'pilotlight_event_streams')).toEqual(['pilotlight_event_streams 3'])
})

test('parts that are ready, in trouble and not ready are told apart', async () => {
  const metrics = createTestMetrics()
  metrics.observeParts(() => [
    { part: 'boot-http', ready: true },
    { part: 'state', ready: true, reason: 'the disk is full' },
    { part: 'dhcp', ready: false, reason: 'port taken' },
  ])
  expect(await samples(metrics, 'pilotlight_part_')).toEqual([
    'pilotlight_part_ready{part="boot-http"} 1',
    'pilotlight_part_ready{part="state"} 1',
    'pilotlight_part_ready{part="dhcp"} 0',
    'pilotlight_part_troubled{part="boot-http"} 0',
    'pilotlight_part_troubled{part="state"} 1',
    'pilotlight_part_troubled{part="dhcp"} 0',
  ])
})
