import type { BootEvent } from '../core/boot-event.ts'
import type { MacAddress } from '../core/mac.ts'

/** A machine that asks again and again although each script sends it to its own disk (field case 123). */
export interface LocalReturn {
  readonly host?: string
  readonly mac?: MacAddress
  readonly returns: number
}

export interface LocalReturns {
  note(event: BootEvent): void
  /** Whether this host is one of them now. */
  isReturning(host: string, now: number): boolean
}

interface Track {
  /** When it came, the oldest first; no more than are needed. */
  times: readonly number[]
  toldAt?: number
}

const fewestReturns = 3
const withinMs = 10 * 60_000
/** Scripts that follow each other faster are asked for by one and the same boot. */
const sameBootMs = 3_000
/** After this long without a return it has got on somehow. */
const forgottenAfterMs = 60 * 60_000
const tellEveryMs = 60 * 60_000

/**
 * Firmware that takes the end of a network boot for a failure begins it again, for ever. Three scripts in ten minutes
 * are told once an hour; any other script, and an hour of silence, ends it. Beyond `maximum` machines the one that was
 * silent for longest is forgotten.
 */
export function createLocalReturns({
  onReturning,
  maximum = 10_000,
}: {
  readonly onReturning: (found: LocalReturn) => void
  readonly maximum?: number
}): LocalReturns {
  /** The longest silent first. */
  const tracks = new Map<string, Track>()

  function isReturning(track: Track | undefined, now: number): boolean {
    const last = track?.times.at(-1)
    return track?.times.length === fewestReturns && last !== undefined && now - last < forgottenAfterMs
  }

  return {
    note(event) {
      if (event.type !== 'decided') return
      const { host, mac, at, kind } = event
      const key = host ?? mac
      if (key === undefined) return
      const before = tracks.get(key)
      tracks.delete(key)
      if (kind !== 'local') return
      const last = before?.times.at(-1)
      const isSameBoot = last !== undefined && at - last < sameBootMs
      const times = isSameBoot ? (before?.times ?? []) : [...recent(before, at), at].slice(-fewestReturns)
      const track: Track = { ...before, times }
      tracks.set(key, track)
      if (tracks.size > maximum) {
        const [oldest] = tracks.keys()
        if (oldest !== undefined) tracks.delete(oldest)
      }
      if (!isReturning(track, at) || at - (track.toldAt ?? Number.NEGATIVE_INFINITY) < tellEveryMs) return
      track.toldAt = at
      onReturning({ host, mac, returns: times.length })
    },
    isReturning: (host, now) => isReturning(tracks.get(host), now),
  }
}

/** What lies further back says nothing of a machine that is told to boot from its disk once a day. */
function recent(track: Track | undefined, now: number): readonly number[] {
  return track?.times.filter((time) => now - time < withinMs) ?? []
}
