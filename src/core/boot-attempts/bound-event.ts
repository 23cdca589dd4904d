import type { BootEvent } from '../boot-event.ts'

/** A boot file name in DHCP has 127 characters, an URL of ours some 200; a report's message 1,000. */
const longestText = 1024

/**
 * The event as it is kept. Whoever made it has bounded and cleaned what machines said; this only sees to it that a text
 * that was overlooked cannot fill the memory.
 */
export function boundEvent(event: BootEvent): BootEvent {
  // The most frequent ones hold no text that a machine chose.
  if (event.type === 'dhcp-answered' || event.type === 'artifact-progress') return event
  let isBounded = true
  for (const key in event) {
    const value = event[key as keyof BootEvent] as unknown
    if (typeof value === 'string' && value.length > longestText) isBounded = false
  }
  if (isBounded) return event
  const entries = Object.entries(event).map(([key, value]) => [
    key,
    typeof value === 'string' && value.length > longestText ? `${value.slice(0, longestText)}…` : value,
  ])
  return Object.fromEntries(entries) as BootEvent
}
