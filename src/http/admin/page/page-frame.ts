import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../../core/clock.ts'
import type { ServiceEventFeed } from '../../../core/service-event.ts'
import { securityHeaders } from '../plugins/security-headers.ts'
import type { PageAssets } from './page-assets.ts'
import type { PageTemplates, PageView } from './page-templates.ts'
import { createRowWriter, type RowWriter } from './row-writer.ts'
import type { Visitor } from './sessions.ts'

/** Nothing but our own files, forms and events; no script and no style inside of a document. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** Of every answer of the page. A form tells its origin to its own listener alone (and would not with `no-referrer`). */
export const pageHeaders: Readonly<Record<string, string>> = {
  ...securityHeaders,
  'content-security-policy': policy,
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'same-origin',
}

/** The header by which our script asks for a view without what is around it. */
export const partHeader = 'pilotlight-part'

const views = [
  { name: 'fleet', word: 'Fleet', href: '/' },
  { name: 'boots', word: 'Boots', href: '/boots' },
  { name: 'streams', word: 'Streams', href: '/streams' },
  { name: 'events', word: 'Events', href: '/events' },
  { name: 'doctor', word: 'Doctor', href: '/doctor' },
] as const
export type ViewName = (typeof views)[number]['name']

/** What is around each view. */
export interface Shown {
  readonly title: string
  /** The view that it belongs to. */
  readonly view?: ViewName
  readonly status?: number
}

export interface PageFrame {
  /** Answers with a view as HTML. */
  show(
    request: FastifyRequest,
    reply: FastifyReply,
    template: PageView,
    shown: Shown,
    values: object,
  ): FastifyReply
  /** Rows of the fleet, as HTML. */
  readonly writeRows: RowWriter
}

export interface FrameOptions {
  readonly templates: PageTemplates
  readonly assets: PageAssets
  readonly version: string
  readonly clock: Clock
  readonly feed: Pick<ServiceEventFeed, 'lastId'>
}

export function createPageFrame({ templates, assets, version, clock, feed }: FrameOptions): PageFrame {
  return {
    writeRows: createRowWriter(templates),
    show(request, reply, template, { title, view, status = 200 }, values) {
      const visitor = request.visitor
      const isPart = request.headers[partHeader] !== undefined
      const html = templates.render(template, {
        ...values,
        frame: isPart ? '_part' : '_layout',
        title,
        version,
        assets: assets.base,
        now: new Date(clock.now()).toISOString(),
        lastEvent: feed.lastId,
        views: views.map(({ name, ...item }) => ({ ...item, isCurrent: name === view })),
        visitor: visitor && visitorOf(visitor),
        notice: isPart ? undefined : visitor?.notice.take(),
      })
      return reply.code(status).type('text/html; charset=utf-8').send(html)
    },
  }
}

function visitorOf({ actor, role, formToken }: Visitor) {
  return { by: actor.by, role, formToken }
}
