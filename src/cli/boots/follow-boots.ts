import { isServiceError } from '../../core/errors.ts'
import { parseMac } from '../../core/mac.ts'
import type { BootOperations } from '../../http/admin/boot-operations.ts'
import { type BootQuery, BootSummary } from '../../http/admin/schemas/boots.ts'
import { maxListLimit } from '../../http/admin/schemas/fleet.ts'
import type { Follow } from '../follow.ts'
import type { Reader } from '../read-value.ts'
import { schemaReader } from '../schema-reader.ts'

/** What `boots` is asked for; the same for a list and for what is followed. */
export type BootFilters = Pick<BootQuery, 'host' | 'mac' | 'state' | 'outcome' | 'pattern' | 'since'>

export interface FollowBootsOptions {
  readonly boots: Pick<BootOperations, 'listBoots'>
  readonly follow: Follow
  readonly filters: BootFilters
  readonly signal: AbortSignal
  /** Gets each boot that is wanted, each time it moved. */
  readonly show: (boot: BootSummary) => void
  readonly say: (line: string) => void
  /** What of a boot is news: it is shown again when that changed. */
  readonly newsOf: (boot: BootSummary) => string
}

/** More boots than any service keeps at once; what is too much is shown once more at the worst. */
const mostRemembered = 60_000

/**
 * Shows the boots that go on, and then every one that moves, until the signal aborts. What was missed meanwhile (a
 * restart, too much at once) is looked at anew.
 */
export async function followBoots(options: FollowBootsOptions): Promise<void> {
  const { boots, follow, filters, signal, say } = options
  const told = new Map<string, string>()
  const wanted = matcher(filters)

  function show(boot: BootSummary): void {
    if (!wanted(boot)) return
    const news = options.newsOf(boot)
    if (told.get(boot.id) === news) return
    if (told.size >= mostRemembered) told.clear()
    told.set(boot.id, news)
    options.show(boot)
  }

  let isFirst = true
  /** Something was missed, and could not be looked at yet. */
  let isStale = false

  async function lookAtAll(): Promise<void> {
    isStale = true
    let items: readonly BootSummary[]
    try {
      items = (await boots.listBoots({ ...filters, limit: maxListLimit })).items
    } catch (error) {
      // It went away again: looked at when it is back.
      if (isServiceError(error, 'SERVICE_UNAVAILABLE')) return
      throw error
    }
    // Oldest first, as they would have come; at the beginning what is over already is no news.
    for (const boot of [...items].reverse()) {
      if (!isFirst || boot.state !== 'over') show(boot)
      else told.set(boot.id, options.newsOf(boot))
    }
    isStale = false
    isFirst = false
  }

  for await (const followed of follow({ types: ['boot'], signal })) {
    switch (followed.kind) {
      case 'event':
        show(readBoot(JSON.parse(followed.event.data), 'the event'))
        break
      case 'gap':
        if (!isFirst) say('some events were missed; what moved meanwhile is shown as it is now')
        await lookAtAll()
        break
      case 'lost':
        say(`${followed.why}; going on when the service answers again`)
        break
      case 'resumed':
        say('the service answers again')
        if (isStale) await lookAtAll()
        break
    }
  }
}

const readBoot = schemaReader(BootSummary) as Reader<BootSummary>

function matcher({ host, mac, state, outcome, pattern, since }: BootFilters): (boot: BootSummary) => boolean {
  const card = mac === undefined ? undefined : (parseMac(mac) ?? mac)
  const from = since === undefined ? undefined : Date.parse(since)
  return (boot) =>
    (host === undefined || boot.host === host) &&
    (card === undefined || boot.mac === card || boot.otherMacs?.includes(card) === true) &&
    (state === undefined || boot.state === state) &&
    (outcome === undefined || boot.outcome === outcome) &&
    (pattern === undefined || boot.diagnosis?.code === pattern) &&
    (from === undefined || Date.parse(boot.startedAt) >= from)
}
