import type { FastifyReply, FastifyRequest } from 'fastify'
import { isServiceError, ServiceError } from '../../../core/errors.ts'
import { parseMac } from '../../../core/mac.ts'
import { toApiFailure } from '../api-error.ts'
import type { BootOperations } from '../boot-operations.ts'
import type { AdminApp } from '../create-admin-app.ts'
import type { HostDetail } from '../schemas/fleet.ts'
import { formFields, type HostAction, hostActionOf, hostActions } from './host-actions.ts'
import { hostPath, machinePath } from './page-links.ts'
import { formLine, given, lineOf, typedLine } from './read-form.ts'
import type { ViewOptions } from './view-routes.ts'
import { decisionWord } from './views/boot-parts.ts'
import { machineView } from './views/machine.ts'

const hidden = { schema: { hide: true } }
const changing = { ...hidden, config: { role: 'write' as const } }
const bootsShown = 20
const cardsShown = 8

/** One machine, and what can be done to it. */
export function addMachineRoutes(app: AdminApp, { operations, frame, clock }: ViewOptions): void {
  const { boots, fleet } = operations

  app.get('/hosts/:id', hidden, async (request, reply) => {
    const { id } = request.params as { readonly id: string }
    const host = await fleet.showHost(id)
    const [boot, page, rows, captured] = await Promise.all([
      orNothing(boots.showBoot(id)),
      boots.listBoots({ host: id, limit: bootsShown }),
      boots.listMachines({ keys: [id], limit: 1 }),
      capturedOf(boots, host.macs),
    ])
    const actions = canWrite(request)
      ? hostActions
          .filter(({ fits }) => fits?.(host) !== false)
          .map(({ name, word, isGrave }) => ({ word, href: `${hostPath(id)}/${name}`, isGrave }))
      : []
    const view = machineView(
      { host, boot, boots: page.items, row: rows.items[0], captured, actions },
      clock.now(),
    )
    return frame.show(request, reply, 'machine', { title: id, view: 'fleet' }, view)
  })

  app.get('/machines/:mac', hidden, async (request, reply) => {
    const mac = macIn(request)
    const [boot, page, rows, captured] = await Promise.all([
      orNothing(boots.showBoot(mac)),
      boots.listBoots({ mac, limit: bootsShown }),
      boots.listMachines({ keys: [mac], limit: 1 }),
      capturedOf(boots, [mac]),
    ])
    const [row] = rows.items
    // Somebody made a host of it since the link was shown.
    const host = row?.host ?? boot?.host
    if (host !== undefined && (await orNothing(fleet.showHost(host))) !== undefined) {
      return reply.redirect(hostPath(host), 303)
    }
    if (row === undefined && boot === undefined && page.items.length === 0) throw unseen(mac)
    const actions = canWrite(request)
      ? [{ word: 'Adopt', href: `${machinePath(mac)}/adopt`, isGrave: false }]
      : []
    const view = machineView({ mac, boot, boots: page.items, row, captured, actions }, clock.now())
    return frame.show(request, reply, 'machine', { title: mac, view: 'fleet' }, view)
  })

  app.get('/machines/:mac/capture.pcap', hidden, async (request, reply) => {
    const mac = macIn(request)
    const { packets, pcap } = await boots.capture({ mac })
    if (packets === 0) throw uncaptured(mac)
    return reply
      .type('application/vnd.tcpdump.pcap')
      .header('content-disposition', `attachment; filename="${mac.replaceAll(':', '-')}.pcap"`)
      .send(Buffer.from(pcap, 'base64'))
  })

  app.get('/machines/:mac/adopt', hidden, async (request, reply) => showAdoption(request, reply))

  app.post('/machines/:mac/adopt', changing, async (request, reply) => {
    const mac = macIn(request)
    const { body } = request
    try {
      const fields = given({ id: formLine(body, 'id', 63), reason: formLine(body, 'reason') })
      const { id } = await fleet.adoptHost({ mac, ...fields }, { actor: actorOf(request) })
      request.visitor?.notice.leave(`${mac} is host ${id} now.`)
      return reply.redirect(hostPath(id), 303)
    } catch (error) {
      if (!isServiceError(error)) throw error
      return showAdoption(request, reply, error)
    }
  })

  app.get('/hosts/:id/:action', hidden, async (request, reply) => {
    const { host, action } = await actionIn(request)
    return showAction(request, reply, host, action)
  })

  app.post('/hosts/:id/:action', changing, async (request, reply) => {
    const { host, action } = await actionIn(request)
    const { body } = request
    try {
      if (action.fields.includes('confirm') && lineOf(body, 'confirm', 63) !== host.id) {
        throw new ServiceError('USAGE', `nothing was changed: type ${host.id} to confirm`)
      }
      const done = await action.run(fleet, host.id, body, { actor: actorOf(request) })
      request.visitor?.notice.leave(done)
      return reply.redirect(hostPath(host.id), 303)
    } catch (error) {
      if (!isServiceError(error)) throw error
      return showAction(request, reply, host, action, error)
    }
  })

  async function actionIn(request: FastifyRequest): Promise<{ host: HostDetail; action: HostAction }> {
    const { id, action: name } = request.params as { readonly id: string; readonly action: string }
    const action = hostActionOf(name)
    if (action === undefined) throw new ServiceError('NOT_FOUND', 'there is no such page')
    return { host: await fleet.showHost(id), action }
  }

  async function showAction(
    request: FastifyRequest,
    reply: FastifyReply,
    host: HostDetail,
    action: HostAction,
    error?: unknown,
  ): Promise<FastifyReply> {
    if (!canWrite(request)) throw readsOnly()
    const releases = action.fields.includes('release') ? await fleet.pinnable({ host: host.id }) : []
    const forecast = await action
      .forecast?.(fleet, host.id, { actor: actorOf(request) })
      .catch((problem: unknown) => (isServiceError(problem) ? problem.message : undefined))
    const now = `Now: ${decisionWord(host.decision)}${host.release === undefined ? '' : ` ${host.release}`}; ${host.reason}`
    const failure = error === undefined ? undefined : toApiFailure(error)
    const title = action.title(host.id)
    return frame.show(
      request,
      reply,
      'action',
      { title, view: 'fleet', ...(failure !== undefined && { status: failure.status }) },
      {
        title,
        host: host.id,
        back: hostPath(host.id),
        action: `${hostPath(host.id)}/${action.name}`,
        text: action.text,
        facts: [now, ...(forecast === undefined ? [] : [forecast])],
        fields: formFields(action, request.body, { host, releases }),
        button: action.title(host.id),
        isGrave: action.isGrave,
        problem: failure?.body,
      },
    )
  }

  function showAdoption(request: FastifyRequest, reply: FastifyReply, error?: unknown): FastifyReply {
    if (!canWrite(request)) throw readsOnly()
    const mac = macIn(request)
    const failure = error === undefined ? undefined : toApiFailure(error)
    const title = `Make a host of ${mac}`
    return frame.show(
      request,
      reply,
      'action',
      { title, view: 'fleet', ...(failure !== undefined && { status: failure.status }) },
      {
        title,
        host: mac,
        back: machinePath(mac),
        action: `${machinePath(mac)}/adopt`,
        text: 'It gets a record of its own, and keeps the profile of unknown machines where nothing gives it another. From then on it can be pinned, installed and held.',
        facts: [],
        fields: [
          {
            name: 'id',
            word: 'Id',
            value: typedLine(request.body, 'id') ?? '',
            most: 63,
            isRequired: false,
            hint: 'For example rack1-n01. Empty: made from its MAC.',
          },
          {
            name: 'reason',
            word: 'Reason',
            value: typedLine(request.body, 'reason') ?? '',
            most: 200,
            isRequired: false,
            hint: 'For those who ask later; it stands in the list of changes.',
          },
        ],
        button: title,
        isGrave: false,
        problem: failure?.body,
      },
    )
  }
}

function macIn(request: FastifyRequest) {
  const { mac: text } = request.params as { readonly mac: string }
  const mac = parseMac(text)
  if (mac === undefined)
    throw new ServiceError('NOT_FOUND', 'this is no MAC address', { hint: 'for example 52:54:00:ab:cd:ef' })
  return mac
}

/** Those of the cards that packets are kept of: a link to nothing helps nobody. */
async function capturedOf(
  boots: Pick<BootOperations, 'capture'>,
  macs: readonly string[],
): Promise<readonly string[]> {
  const kept = await Promise.all(macs.slice(0, cardsShown).map((mac) => orNothing(boots.capture({ mac }))))
  return kept.flatMap((capture) => (capture === undefined || capture.packets === 0 ? [] : [capture.mac]))
}

function uncaptured(mac: string): ServiceError {
  return new ServiceError('NOT_FOUND', `no packets of ${mac} are kept`, {
    hint: 'they are kept while it boots by DHCP or TFTP, until newer ones need the room',
  })
}

function unseen(mac: string): ServiceError {
  return new ServiceError('NOT_FOUND', `nothing was seen of ${mac}`, {
    hint: 'it shows up here with its first DHCP packet or request',
  })
}

function readsOnly(): ServiceError {
  return new ServiceError('FORBIDDEN', 'this needs a token of role write, and yours may only read', {
    hint: 'log in with one of: pilotlight token create NAME --role write',
  })
}

function canWrite({ visitor }: FastifyRequest): boolean {
  return visitor?.role === 'write'
}

function actorOf({ visitor }: FastifyRequest) {
  if (visitor === undefined) throw new Error('a route of the page without a session')
  return visitor.actor
}

/** A machine may be known and never have booted. */
async function orNothing<Value>(asked: Promise<Value>): Promise<Value | undefined> {
  try {
    return await asked
  } catch (error) {
    if (isServiceError(error, 'NOT_FOUND')) return undefined
    throw error
  }
}
