import type { ServiceEvent } from '../../../core/service-event.ts'

/**
 * Events that come together, as the page wants them: which kinds, and the keys of the rows that moved. What they look
 * like by now the page asks for, as far as somebody sees it.
 */
export function liveText(events: readonly ServiceEvent[]): string {
  const types = new Set<string>()
  const keys = new Set<string>()
  for (const { type, about } of events) {
    types.add(type)
    const key = about?.host ?? about?.mac
    if (key !== undefined) keys.add(key)
  }
  const id = events.at(-1)?.id
  if (id === undefined) return ''
  return `id: ${id}\nevent: moved\ndata: ${JSON.stringify({ types: [...types], keys: [...keys] })}\n\n`
}
