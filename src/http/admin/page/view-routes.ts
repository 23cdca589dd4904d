import type { Clock } from '../../../core/clock.ts'
import { type ErrorCode, isServiceError } from '../../../core/errors.ts'
import type { AdminApp } from '../create-admin-app.ts'
import type { Page } from '../fleet-operations.ts'
import type { AdminOperations } from '../operations.ts'
import type { PageFrame } from './page-frame.ts'
import { linesOf } from './read-form.ts'
import { bootView } from './views/boot.ts'
import { bootQueryProblem, bootsView, readBootQuery } from './views/boots.ts'
import { doctorView } from './views/doctor.ts'
import { eventsView, newestEvents, readAuditQuery } from './views/events.ts'
import { fleetProblem, fleetView, isEmptyFleet, readFleetQuery, rowsOfPage, rowsView } from './views/fleet.ts'
import { streamsView } from './views/streams.ts'

export interface ViewOptions {
  readonly operations: AdminOperations
  readonly frame: PageFrame
  readonly clock: Clock
}

const mostKeys = 200

/** Views of the whole service; those of one machine are in `machine-routes.ts`. */
export function addViewRoutes(app: AdminApp, { operations, frame, clock }: ViewOptions): void {
  const { boots, fleet, events } = operations
  const hidden = { schema: { hide: true } }

  app.get('/', hidden, async (request, reply) => {
    const query = readFleetQuery(request.query)
    const machines = await boots.listMachines({ ...query, limit: rowsOfPage })
    // What the page tells to type works as it stands: with a profile that there is.
    const profiles = isEmptyFleet(machines, query) ? await fleet.listRecords('profile') : []
    return frame.show(
      request,
      reply,
      'fleet',
      { title: 'Fleet', view: 'fleet' },
      {
        ...fleetView(machines, query, clock.now(), frame.writeRows),
        problem: fleetProblem(request.query),
        profile: profiles[0]?.name,
      },
    )
  })

  app.get('/rows', hidden, async (request, reply) => {
    const query = readFleetQuery(request.query)
    const keys = linesOf(request.query, 'keys', mostKeys)
    const machines = await boots.listMachines({ keys: [...keys], limit: mostKeys })
    return frame.show(
      request,
      reply,
      'rows',
      { title: 'Rows' },
      rowsView(machines, query, clock.now(), frame.writeRows),
    )
  })

  app.get('/boots', hidden, async (request, reply) => {
    const query = readBootQuery(request.query)
    const { page, problem } = await unlessTyped(boots.listBoots(query))
    return frame.show(
      request,
      reply,
      'boots',
      { title: 'Boots', view: 'boots' },
      {
        ...bootsView(page, query, clock.now()),
        problem: problem ?? bootQueryProblem(request.query),
      },
    )
  })

  app.get('/boots/:id', hidden, async (request, reply) => {
    const { id } = request.params as { readonly id: string }
    const boot = await boots.showBoot(id)
    const title = `Boot of ${boot.host ?? boot.mac ?? boot.id}`
    return frame.show(request, reply, 'boot', { title, view: 'boots' }, bootView(boot, clock.now()))
  })

  app.get('/streams', hidden, async (request, reply) => {
    const [streams, bootimages] = await Promise.all([operations.streams(), operations.bootimages({})])
    return frame.show(
      request,
      reply,
      'streams',
      { title: 'Streams', view: 'streams' },
      streamsView(streams, bootimages, clock.now()),
    )
  })

  app.get('/events', hidden, async (request, reply) => {
    const query = readAuditQuery(request.query)
    const { page, problem } = await unlessTyped(fleet.listAudit(query))
    const view = eventsView(newestEvents(events), page, query, clock.now())
    return frame.show(request, reply, 'events', { title: 'Events', view: 'events' }, { ...view, problem })
  })

  app.get('/doctor', hidden, async (request, reply) => {
    const [report, patterns] = await Promise.all([boots.diagnose(), boots.listPatterns()])
    return frame.show(
      request,
      reply,
      'doctor',
      { title: 'Doctor', view: 'doctor' },
      doctorView(report, patterns, clock.now()),
    )
  })
}

const typed: readonly ErrorCode[] = ['USAGE', 'NOT_FOUND']

/** A list, or nothing and what is wrong with its filter. */
async function unlessTyped<Item>(
  list: Promise<Page<Item>>,
): Promise<{ readonly page: Page<Item>; readonly problem?: string }> {
  try {
    return { page: await list }
  } catch (error) {
    return { page: { items: [], total: 0 }, problem: filterProblem(error) }
  }
}

/** What was typed into a filter is told beside it; everything else is not the filter's fault. */
function filterProblem(error: unknown): string {
  if (!isServiceError(error) || !typed.includes(error.code)) throw error
  const { hint } = error.details
  return typeof hint === 'string' ? `${error.message}: ${hint}` : error.message
}
