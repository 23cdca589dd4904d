import type { ServiceEvent, ServiceEventFeed } from '../../../../core/service-event.ts'
import type { Page } from '../../fleet-operations.ts'
import type { AuditQuery, AuditSummary } from '../../schemas/fleet.ts'
import { hostPath, pathWith, subjectPath } from '../page-links.ts'
import { given, lineOf } from '../read-form.ts'
import { shownTime } from '../shown-time.ts'

const mostEvents = 60
const limit = 50

export function readAuditQuery(query: unknown): AuditQuery {
  return {
    limit,
    ...given({
      after: lineOf(query, 'after', 300),
      target: lineOf(query, 'target'),
      by: lineOf(query, 'by'),
      action: lineOf(query, 'action', 64),
      since: lineOf(query, 'since', 64),
    }),
  }
}

/** The newest events of the feed, newest first; ids count up, so those before the last one can be named. */
export function newestEvents(feed: ServiceEventFeed, most = mostEvents): readonly ServiceEvent[] {
  const [, run = '', number = '0'] = /^(.*)-(\d+)$/.exec(feed.lastId) ?? []
  const { events } = feed.read(`${run}-${Math.max(0, Number(number) - most)}`, most)
  return [...events].reverse()
}

/** What happens, and who changed what. */
export function eventsView(
  events: readonly ServiceEvent[],
  { items, total, next }: Page<AuditSummary>,
  query: AuditQuery,
  now: number,
): object {
  const { target, by, action, since } = query
  const filters = { target, by, action, since }
  return {
    events: withoutEchoes(events.map((event) => eventOf(event, now))),
    audit: items.map((entry) => ({
      ...entry,
      time: shownTime(entry.at, now),
      href: targetPath(entry.target),
    })),
    filters: { target: target ?? '', by: by ?? '', action: action ?? '', since: since ?? '' },
    isFiltered: Object.values(filters).some((value) => value !== undefined) || query.after !== undefined,
    total,
    next: next === undefined ? undefined : pathWith('/events', { ...filters, after: next }),
  }
}

/** What is told of one thing twice in a row is shown once, the newest: an event says what is so when it is read. */
function withoutEchoes<Shown extends { readonly subject: string; readonly text: string }>(
  events: readonly Shown[],
): readonly Shown[] {
  const told = new Map<string, string>()
  return events.filter(({ subject, text }) => {
    const isEcho = told.get(subject) === text
    told.set(subject, text)
    return !isEcho
  })
}

function targetPath(target: string): string | undefined {
  const [kind, id] = target.split('/', 2)
  return kind === 'host' && id !== undefined ? hostPath(id) : undefined
}

/** Ways in which a boot stands that its last step does not tell. */
const tellingEnds: ReadonlySet<string> = new Set(['stuck', 'failed', 'held', 'superseded', 'lost'])
const typeWords = { boot: 'boot', stream: 'stream', change: 'change' } as const

function eventOf({ id, type, at, about, data }: ServiceEvent, now: number) {
  const told = readData(data)
  const iso = new Date(at).toISOString()
  const shown = { id, at: iso, time: shownTime(iso, now), type: typeWords[type] }
  const word = (name: string) => (typeof told[name] === 'string' ? told[name] : undefined)
  if (type === 'boot') {
    const subject = { ...given({ host: about?.host ?? word('host'), mac: about?.mac ?? word('mac') }) }
    const { host, mac } = subject
    const end = word('outcome') ?? word('state') ?? ''
    const text = `${tellingEnds.has(end) ? `${end}: ` : ''}${word('step') ?? ''}`
    return { ...shown, subject: host ?? mac ?? word('address') ?? '', href: subjectPath(subject), text }
  }
  if (type === 'stream')
    return { ...shown, subject: word('name') ?? '', href: '/streams', text: streamText(told) }
  const target = word('target') ?? ''
  const text = `${word('action') ?? ''} by ${word('by') ?? ''}: ${word('summary') ?? ''}`
  return { ...shown, subject: target, href: targetPath(target), text }
}

function streamText({ architectures, error }: Readonly<Record<string, unknown>>): string {
  if (typeof error === 'object' && error !== null && 'message' in error)
    return `not read: ${String(error.message)}`
  if (!Array.isArray(architectures)) return ''
  return architectures
    .map(({ arch, current, target, pending }: StreamEventArch) => {
      if (pending !== undefined)
        return `${arch}: ${pending.change} ${pending.release ?? ''} is not followed yet`
      if (target !== undefined && target.release !== current)
        return `${arch}: ${target.release} ${target.state}`
      return `${arch}: ${current ?? 'nothing'} is handed out`
    })
    .join('; ')
}

interface StreamEventArch {
  readonly arch: string
  readonly current?: string
  readonly target?: { readonly release: string; readonly state: string }
  readonly pending?: { readonly change: string; readonly release?: string }
}

function readData(data: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(data)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
