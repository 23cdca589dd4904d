/** Somebody who holds a place. */
export interface PlaceHolder {
  readonly clientAddress: string
  /** Monotonic milliseconds. */
  readonly admittedAt: number
  /** Gives up the place, without a word. */
  evict(): void
}

export interface AdmissionLimits {
  readonly total: number
  readonly perClient: number
}

export type AdmissionResult = 'admitted' | 'limit-total' | 'limit-per-client'

/**
 * Who may have a transfer. At a limit the oldest that was never heard from makes room, because forged requests are
 * never followed by anything; if there is none, the request is dropped, and the client asks again (field case 78).
 */
export interface Admission {
  admit(holder: PlaceHolder): AdmissionResult
  /** The holder's client has been heard: it is no forgery, and keeps its place. */
  confirm(holder: PlaceHolder): void
  release(holder: PlaceHolder): void
  readonly held: number
}

/** Anybody who is there answers sooner. */
const evictableAfterMs = 500

interface Places {
  held: number
  /** In order of admission. */
  readonly unheard: Set<PlaceHolder>
}

function createPlaces(): Places {
  return { held: 0, unheard: new Set() }
}

export function createAdmission({ total, perClient }: AdmissionLimits): Admission {
  const all = createPlaces()
  const byClient = new Map<string, Places>()

  function release(holder: PlaceHolder): void {
    const client = byClient.get(holder.clientAddress)
    if (client === undefined) return
    client.held -= 1
    client.unheard.delete(holder)
    if (client.held === 0) byClient.delete(holder.clientAddress)
    all.held -= 1
    all.unheard.delete(holder)
  }

  /** Whether a place is free, or could be freed, for somebody who comes at `nowMs`. */
  function hasRoom(places: Places, limit: number, nowMs: number): boolean {
    if (places.held < limit) return true
    const [oldest] = places.unheard
    if (oldest === undefined || nowMs - oldest.admittedAt < evictableAfterMs) return false
    oldest.evict()
    return places.held < limit
  }

  return {
    get held() {
      return all.held
    },
    admit(holder) {
      const { clientAddress, admittedAt } = holder
      const known = byClient.get(clientAddress)
      if (known !== undefined && !hasRoom(known, perClient, admittedAt)) return 'limit-per-client'
      if (!hasRoom(all, total, admittedAt)) return 'limit-total'
      const client = byClient.get(clientAddress) ?? createPlaces()
      byClient.set(clientAddress, client)
      for (const places of [client, all]) {
        places.held += 1
        places.unheard.add(holder)
      }
      return 'admitted'
    },
    confirm(holder) {
      byClient.get(holder.clientAddress)?.unheard.delete(holder)
      all.unheard.delete(holder)
    },
    release,
  }
}
