import type { WebhookEvent } from '../../core/webhook.ts'
import type { StreamArchSummary, StreamSummary } from '../../http/admin/operations.ts'

type News = Pick<WebhookEvent, 'type' | 'data'>

/** What of a stream's change is worth to be told to a receiver; progress of a fetch is not. */
export function streamNews(before: StreamSummary | undefined, now: StreamSummary): readonly News[] {
  const ofArchitectures = now.architectures.flatMap((entry) => {
    const was = before?.architectures.find(({ arch }) => arch === entry.arch)
    return [...handedOut(now.name, was, entry), ...held(now.name, was, entry)]
  })
  return [...ofArchitectures, ...failing(before, now)]
}

function handedOut(
  stream: string,
  was: StreamArchSummary | undefined,
  { arch, current, lastChange }: StreamArchSummary,
): readonly News[] {
  if (current === was?.current) return []
  return [
    {
      type: 'stream.changed',
      data: {
        stream,
        arch,
        ...(current !== undefined && { current }),
        ...(was?.current !== undefined && { before: was.current }),
        ...(lastChange !== undefined && { change: lastChange }),
      },
    },
  ]
}

/** Seen once more is no news; another release, or another kind of change, is. */
function held(
  stream: string,
  was: StreamArchSummary | undefined,
  { arch, pending }: StreamArchSummary,
): readonly News[] {
  const same = was?.pending
  if (pending === undefined) return []
  const isKnown =
    same?.change === pending.change && same.release === pending.release && same.policy === pending.policy
  if (isKnown) return []
  const { change, release, policy, decides } = pending
  return [
    {
      type: 'stream.held',
      data: { stream, arch, change, ...(release !== undefined && { release }), policy, decides },
    },
  ]
}

function failing(before: StreamSummary | undefined, now: StreamSummary): readonly News[] {
  if (now.failingSince === undefined || before?.failingSince !== undefined) return []
  const { name, failingSince, error } = now
  return [{ type: 'stream.failing', data: { stream: name, since: failingSince, ...(error && { error }) } }]
}
