import type { TraceId } from './boot-event.ts'

/** "pilotlight" in ASCII. */
const prefix = '70696c6f746c69676874'

/**
 * The trace of what `pilotlight doctor` fetches by HTTP, to see what machines get. Whatever carries it is answered like
 * any other request, and is no step of a boot (as with `probeMac`).
 * @param tail 12 hex digits
 */
export function probeTrace(tail: string): TraceId {
  return `${prefix}${tail}`
}

export function isProbeTrace(trace: TraceId | undefined): boolean {
  return trace?.startsWith(prefix) === true
}

/** The same for TFTP: an option that no server grants (RFC 2347 has it ignored). */
export const probeOption = 'pilotlight-probe'
