import type { BootimageSummary, StreamArchSummary, StreamSummary } from '../../schemas/service.ts'
import { shownBytes } from '../shown-bytes.ts'
import { shownProgress } from '../shown-progress.ts'
import { shownSince, shownTime } from '../shown-time.ts'

/** What is current where, what is on its way, what is held and why, and what lies on the disk. */
export function streamsView(
  streams: readonly StreamSummary[],
  bootimages: readonly BootimageSummary[],
  now: number,
): object {
  return {
    summary: summaryOf(streams),
    streams: streams.map((stream) => ({
      name: stream.name,
      source: stream.source,
      readAt: stream.lastSuccessAt,
      read: stream.lastSuccessAt === undefined ? undefined : shownSince(stream.lastSuccessAt, now),
      error: errorOf(stream, now),
      architectures: stream.architectures.map((arch) => archOf(stream.name, arch, bootimages)),
    })),
    bootimages: bootimages.map(imageOf),
    disk: diskOf(bootimages),
  }
}

function summaryOf(streams: readonly StreamSummary[]): string {
  const arches = streams.flatMap(({ architectures }) => architectures)
  const held = arches.filter(({ pending }) => pending !== undefined).length
  const empty = arches.filter(({ current }) => current === undefined).length
  const failing = streams.filter(({ failingSince }) => failingSince !== undefined).length
  return [
    empty > 0 ? `${empty} without a release to hand out.` : '',
    held > 0 ? `${held} held or to be confirmed.` : '',
    failing > 0 ? `${failing} cannot be read.` : '',
  ]
    .filter((sentence) => sentence !== '')
    .join(' ')
}

function errorOf({ error, failingSince, lastSuccessAt }: StreamSummary, now: number): string | undefined {
  if (error === undefined) return undefined
  const since = failingSince === undefined ? '' : ` since ${shownTime(failingSince, now)}`
  const meanwhile = lastSuccessAt === undefined ? '' : ' What was read last is served meanwhile.'
  return `Not read${since}: ${error.message}.${meanwhile}`
}

function archOf(stream: string, summary: StreamArchSummary, bootimages: readonly BootimageSummary[]) {
  const { arch, current, previous, target, pending, damaged, lastChange, problem } = summary
  const image = bootimages.find(
    (candidate) =>
      candidate.stream === stream &&
      candidate.arch === arch &&
      candidate.release === target?.release &&
      candidate.state !== 'ready',
  )
  return {
    arch,
    current,
    previous: previous.join(', '),
    change: lastChange,
    damaged:
      damaged &&
      `${damaged.text}${damaged.standIn === undefined ? '' : `; ${damaged.standIn} boots meanwhile`}`,
    target: target && {
      release: target.release,
      state: target.state,
      failure: target.failure,
      progress: image && progressOf(image),
    },
    pending: pending && {
      word: pending.policy === 'hold' ? `Held: ${pending.change}` : `To be confirmed: ${pending.change}`,
      release: pending.release,
      decides: pending.decides,
    },
    problem,
  }
}

function imageOf(image: BootimageSummary) {
  const { release, stream, arch, state, roles, sizeBytes, failure } = image
  const isFailed = failure !== undefined || state === 'failed'
  const shape = isFailed
    ? { tone: 'bad', icon: 'failed' }
    : state === 'ready'
      ? { tone: 'good', icon: 'good' }
      : { tone: 'busy', icon: 'waiting' }
  return {
    release,
    stream,
    arch,
    state,
    ...shape,
    roles: roles.join(', '),
    size: sizeBytes === undefined ? '' : shownBytes(sizeBytes),
    failure: failure?.message,
    progress: state === 'ready' ? undefined : progressOf(image),
  }
}

function progressOf({ release, arch, doneBytes, totalBytes, bytesPerSecond }: BootimageSummary) {
  if (doneBytes === undefined || totalBytes === undefined) return undefined
  return shownProgress({
    label: `fetching ${release} for ${arch}`,
    done: doneBytes,
    total: totalBytes,
    bytesPerSecond,
  })
}

function diskOf(bootimages: readonly BootimageSummary[]): string {
  const here = bootimages.filter(({ sizeBytes }) => sizeBytes !== undefined)
  const bytes = here.reduce((sum, { sizeBytes = 0 }) => sum + sizeBytes, 0)
  const what = here.length === 1 ? '1 bootimage' : `${here.length} bootimages`
  return `${what}, ${shownBytes(bytes)} of verified files. What nothing needs any more is removed by itself.`
}
