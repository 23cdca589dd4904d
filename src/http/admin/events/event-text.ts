import type { ServiceEvent } from '../../../core/service-event.ts'

/** A client that lost us comes back after so long. */
const retryMs = 2_000

/** One event as it goes over the wire (WHATWG HTML §9.2.6). Its data is JSON in one line, so it needs one field. */
export function eventText({ id, type, data }: ServiceEvent): string {
  return `id: ${id}\nevent: ${type}\ndata: ${data}\n\n`
}

/**
 * The beginning: how soon to come back.
 * @param id the place to come back to when nothing happens until then
 */
export function openingText(id: string | undefined): string {
  return id === undefined ? `retry: ${retryMs}\n\n` : `retry: ${retryMs}\nid: ${id}\n\n`
}

/**
 * Some events are not there any more: whoever keeps a state by them asks for all of it anew. It has no id, so that
 * whoever loses us right after it is told again.
 */
export const gapText = `event: gap\ndata: {"hint":"events before this are lost: ask for the state anew"}\n\n`

/** A comment that keeps what lies between from closing a quiet connection, with the place that was reached. */
export function heartbeatText(id: string): string {
  return `: still here\nid: ${id}\n\n`
}

/** A comment for a person who reads the stream by hand; the connection ends after it. */
export function endingText(why: string): string {
  return `: ${why}\n\n`
}
