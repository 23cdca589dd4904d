import type { Bootimage, BootimageId } from '../core/bootimage.ts'
import type { Clock, Timers } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { BootimageRecord, DocumentRecord } from '../state/store.ts'
import type { Ledger } from './ledger.ts'
import type { WantedPin } from './wanted-pins.ts'

/** Where a release that no document here names was found. */
export type FoundRelease =
  | { readonly kind: 'found'; readonly bootimage: Bootimage; readonly document: DocumentRecord }
  /** `isUpstreamSilent`: where it may be could not be asked. */
  | { readonly kind: 'not-found'; readonly reason: string; readonly isUpstreamSilent?: true }

export interface PinResolverOptions {
  readonly ledger: Ledger
  /** Looks in archived documents and in the stream's release index. */
  readonly findRelease: (pin: WantedPin) => Promise<FoundRelease>
  readonly recordDocument: (document: DocumentRecord) => Promise<void>
  /** Starts the fetch. */
  readonly ensure: (id: BootimageId) => void
  readonly onChanged: () => void
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Log
}

export interface PinResolver {
  /** The pins of the current configuration; all that are not resolved yet are looked for before it resolves. */
  setWanted(pins: readonly WantedPin[]): Promise<void>
  /** Pins that came into force beside those that are: looked for at once, and kept from garbage collection. */
  want(pins: readonly WantedPin[]): Promise<void>
  /**
   * A machine waits for this now; single flight, and not more often than every half minute. What no pin in force names
   * is not looked for; one that does may be asked for another architecture than was foreseen.
   */
  request(pin: WantedPin): void
  /** Looks again for what could not be found, because a new document is here. */
  retry(): Promise<void>
  /** The bootimages of all pins in force that are resolved, for every architecture that was asked for. */
  pinned(): ReadonlySet<BootimageId>
  /** Why a pin is not resolved, by `<stream>/<arch>/<release>`. */
  unresolved(): ReadonlyMap<string, string>
  stop(): Promise<void>
}

const pauseAfterMissMs = 30_000
const longestPauseMs = 15 * 60_000
/** Requests by machines are remembered up to this number; what the configuration names always is. */
const mostRequested = 1000

/**
 * Fixes pins to bootimages: once resolved, a pin means exactly these digests (G5), unless nothing of them could ever be
 * had and another document names the release with others. A pin is resolved from what is
 * known here, then from archived documents, then from the release index.
 */
export function createPinResolver(options: PinResolverOptions): PinResolver {
  const { ledger, clock, timers, log } = options
  let configured = new Map<string, WantedPin>()
  /** `<stream>/<release>` of those. */
  let inForce = new Set<string>()
  const requested = new Map<string, WantedPin>()
  const flights = new Map<string, Promise<void>>()
  const misses = new Map<
    string,
    { reason: string; failures: number; notBefore: number; cancel: () => void }
  >()
  let stopped = false

  async function resolve(pin: WantedPin): Promise<void> {
    const fixed = fixedTo(pin)
    if (fixed !== undefined && !isHopeless(fixed)) {
      options.ensure(fixed.bootimage.id)
      return
    }
    const bootimage = knownRelease(pin) ?? (await find(pin))
    if (bootimage === undefined) return
    if (bootimage === fixed?.bootimage.id) {
      options.ensure(bootimage)
      return
    }
    await ledger.savePin({ ...pin, bootimage, resolvedAt: clock.now() })
    forgetMiss(keyOf(pin))
    log.info({ ...pin, bootimage }, 'pin resolved')
    options.ensure(bootimage)
    options.onChanged()
  }

  function fixedTo({ stream, arch, release }: WantedPin): BootimageRecord | undefined {
    const pin = ledger.pinOf(stream, arch, release)
    return pin && ledger.bootimages.get(pin.bootimage)
  }

  /**
   * The same release may have been published twice: what is verified, then what was seen first; never a held one. What
   * nobody could have stands last, because its document may have been wrong and corrected since.
   */
  function knownRelease({ stream, arch, release }: WantedPin): BootimageId | undefined {
    let best: BootimageRecord | undefined
    for (const record of ledger.bootimages.values()) {
      const { bootimage, state } = record
      if (bootimage.stream !== stream || bootimage.arch !== arch || bootimage.release !== release) continue
      if (state === 'held') continue
      const lead = best === undefined ? 1 : rankOf(record) - rankOf(best)
      const isEarlier = best !== undefined && record.firstSeenAt < best.firstSeenAt
      if (lead > 0 || (lead === 0 && isEarlier)) best = record
    }
    return best?.bootimage.id
  }

  async function find(pin: WantedPin): Promise<BootimageId | undefined> {
    const found = await options.findRelease(pin)
    if (found.kind === 'not-found') {
      noteMiss(pin, found.reason)
      return undefined
    }
    await options.recordDocument(found.document)
    const record = await ledger.addBootimage({
      bootimage: found.bootimage,
      document: found.document.digest,
      state: 'known',
      firstSeenAt: clock.now(),
    })
    return record.bootimage.id
  }

  function noteMiss(pin: WantedPin, reason: string): void {
    // Who is asked meanwhile has gone, and nobody is left who would look again.
    if (stopped) return
    const key = keyOf(pin)
    const failures = (misses.get(key)?.failures ?? 0) + 1
    const pauseMs = Math.min(pauseAfterMissMs * 2 ** (failures - 1), longestPauseMs)
    misses.get(key)?.cancel()
    const cancel = timers.after(pauseMs, () => {
      if (isWanted(key)) void start(pin)
    })
    misses.set(key, { reason, failures, notBefore: clock.now() + pauseMs, cancel })
    log.warn({ ...pin, reason, retryInSeconds: pauseMs / 1000 }, 'pin not resolved')
  }

  function forgetMiss(key: string): void {
    misses.get(key)?.cancel()
    misses.delete(key)
  }

  const isWanted = (key: string) => configured.has(key) || requested.has(key)
  const isInForce = ({ stream, release }: { stream: string; release: string }) =>
    inForce.has(`${stream}/${release}`)

  function start(pin: WantedPin): Promise<void> {
    const key = keyOf(pin)
    const running = flights.get(key)
    if (running !== undefined || stopped) return running ?? Promise.resolve()
    const flight = resolve(pin)
      .catch((error: unknown) => noteMiss(pin, error instanceof Error ? error.message : String(error)))
      .finally(() => flights.delete(key))
    flights.set(key, flight)
    return flight
  }

  return {
    async setWanted(pins) {
      configured = new Map(pins.map((pin) => [keyOf(pin), pin]))
      inForce = new Set(pins.map(({ stream, release }) => `${stream}/${release}`))
      for (const [key, pin] of requested) if (!isInForce(pin)) requested.delete(key)
      for (const key of misses.keys()) if (!isWanted(key)) forgetMiss(key)
      await Promise.all(pins.map(start))
    },
    async want(pins) {
      for (const pin of pins) {
        configured.set(keyOf(pin), pin)
        inForce.add(`${pin.stream}/${pin.release}`)
      }
      await Promise.all(pins.map(start))
    },
    request(pin) {
      const key = keyOf(pin)
      if (!isInForce(pin) || flights.has(key) || clock.now() < (misses.get(key)?.notBefore ?? 0)) return
      if (!configured.has(key)) {
        if (requested.size >= mostRequested) return
        requested.set(key, pin)
      }
      void start(pin)
    },
    async retry() {
      const missed = [...misses.keys()].map((key) => configured.get(key) ?? requested.get(key))
      const hopeless = [...configured.values(), ...requested.values()].filter((pin) => {
        const fixed = fixedTo(pin)
        return fixed !== undefined && isHopeless(fixed)
      })
      await Promise.all([...missed, ...hopeless].filter((pin) => pin !== undefined).map(start))
    },
    pinned() {
      return new Set([...ledger.pins.values()].filter(isInForce).map(({ bootimage }) => bootimage))
    },
    unresolved: () => new Map([...misses].map(([key, { reason }]) => [key, reason])),
    async stop() {
      stopped = true
      for (const { cancel } of misses.values()) cancel()
      await Promise.allSettled(flights.values())
    },
  }
}

/** Nothing of it was ever verified, so no machine has booted it, and it could not be had. */
function isHopeless({ state, readyAt }: BootimageRecord): boolean {
  return state === 'failed' && readyAt === undefined
}

function rankOf(record: BootimageRecord): number {
  if (record.state === 'ready') return 2
  return isHopeless(record) ? 0 : 1
}

function keyOf({ stream, arch, release }: WantedPin): string {
  return `${stream}/${arch}/${release}`
}
