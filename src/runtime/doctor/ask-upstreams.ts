import { setTimeout as delay } from 'node:timers/promises'
import type { Config, StreamConfig } from '../../config/config.ts'
import { silentLog } from '../../core/log.ts'
import type { UpstreamFacts } from '../../doctor/check-upstream.ts'
import type { RefreshOutcome } from '../../streams/refresher.ts'
import { realClock, realTimers } from '../real-time.ts'
import { createStreamSet, type StreamSet } from '../stream-set.ts'

/** Reads each stream once, as the service does, and keeps nothing. Never rejects for a stream that cannot be read. */
export async function askUpstreams(
  { streams, upstream }: Pick<Config, 'streams' | 'upstream'>,
  waitMs: number,
): Promise<readonly UpstreamFacts[]> {
  const nothing = async (): Promise<void> => {}
  const set = createStreamSet({
    clock: realClock,
    timers: realTimers,
    random: Math.random,
    log: silentLog,
    follows: false,
    onDocument: nothing,
    onUnchanged: nothing,
    onFailure: () => {},
  })
  await set.configure(streams, upstream)
  const tooLate = new AbortController()
  try {
    return await Promise.all(
      [...streams.values()].map((stream) => askOne(set, stream, waitMs, tooLate.signal)),
    )
  } finally {
    tooLate.abort()
    await set.stop()
  }
}

async function askOne(
  set: StreamSet,
  stream: StreamConfig,
  waitMs: number,
  signal: AbortSignal,
): Promise<UpstreamFacts> {
  const startedAt = performance.now()
  const { name } = stream
  const asked = Promise.all([set.refresh(name), serverTime(set, stream)])
  const late = delay(waitMs, undefined, { signal, ref: true }).catch(() => undefined)
  const answer = await Promise.race([asked, late])
  const facts = { stream: name, source: set.describe(name) }
  if (answer === undefined)
    return { ...facts, outcome: { kind: 'failed', reason: `no document within ${waitMs / 1000} s` } }
  const [outcome, time] = answer
  return {
    ...facts,
    outcome: outcomeOf(outcome, stream, performance.now() - startedAt),
    ...(time === undefined ? {} : { serverTime: time }),
  }
}

function outcomeOf(
  outcome: RefreshOutcome | undefined,
  { architectures }: StreamConfig,
  milliseconds: number,
): UpstreamFacts['outcome'] {
  if (outcome?.kind === 'failed') return { kind: 'failed', reason: outcome.failure.message }
  if (outcome === undefined || outcome.kind === 'stopped')
    return { kind: 'failed', reason: 'it was not asked' }
  const { bootimages, problems } = outcome.document.resolution
  const followed = bootimages.filter(({ arch }) => architectures.includes(arch))
  return {
    kind: 'read',
    milliseconds,
    releases: [...new Set(followed.map(({ release }) => release))],
    missing: architectures
      .filter((arch) => !followed.some((bootimage) => bootimage.arch === arch))
      .map((arch) => ({
        arch,
        reason: problems.find((problem) => problem.arch === arch)?.message ?? 'the document does not have it',
      })),
  }
}

/** What the server's clock says (RFC 9110 §6.6.1); for sources by URL alone. */
async function serverTime(set: StreamSet, { source }: StreamConfig): Promise<number | undefined> {
  if (source.kind !== 'url') return undefined
  try {
    const response = await set.client().request({ url: source.url, method: 'HEAD' })
    await response.discard()
    const time = Date.parse(response.headers.date ?? '')
    return Number.isNaN(time) ? undefined : time
  } catch {
    // The refresh beside it tells what is wrong there.
    return undefined
  }
}
