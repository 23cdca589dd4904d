import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createControlClient } from '../../src/cli/control-client.ts'
import { ServiceError } from '../../src/core/errors.ts'
import { silentLog } from '../../src/core/log.ts'
import { listenControlSocket } from '../../src/http/admin/control-socket.ts'
import { createAdminApp } from '../../src/http/admin/create-admin-app.ts'
import type { ChangeOptions, FleetOperations } from '../../src/http/admin/fleet-operations.ts'
import { HostSummary } from '../../src/http/admin/schemas/fleet.ts'
import { createMetrics } from '../../src/telemetry/create-metrics.ts'
import { createFakeOperations } from '../fakes/admin-operations.ts'
import { createFakeFleet, sampleHost } from '../fakes/fleet-operations.ts'
import { createManualTime } from '../fakes/manual-time.ts'

let directory: string
let path: string
const closers: (() => Promise<unknown>)[] = []

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pilotlight-fleet-client-'))
  path = join(directory, 'control.sock')
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
  await rm(directory, { recursive: true, force: true })
})

function connect(): FleetOperations {
  const client = createControlClient({ path })
  closers.push(() => client.close())
  return client.operations.fleet
}

async function serve(answers: Partial<FleetOperations> = {}) {
  const operations = createFakeOperations({ fleet: answers })
  const metrics = createMetrics({ version: '1', clock: { now: () => 0 }, withProcess: false })
  const clock = { now: () => 0 }
  const app = createAdminApp({
    operations,
    metrics,
    log: silentLog,
    version: '1',
    clock,
    timers: createManualTime(),
    access: 'control',
  })
  const socket = await listenControlSocket({ app, path })
  closers.push(() => socket.close())
  return { fleet: operations.fleet, client: connect() }
}

const change: ChangeOptions = { actor: { by: 'Zoë ☃', via: 'control' } }
const dryRun: ChangeOptions = { ...change, dryRun: true }
const host = { kind: 'host', name: 'rack1-n01' } as const
const edge = { kind: 'group', name: 'edge' } as const
const spec = { macs: ['52:54:00:00:00:07'], labels: { note: 'a "quoted" ü' } }
const reason = 'because: 100 % / ?&#'

/** Every operation, with every field that it can have at least once. */
const questions: readonly (readonly [string, (fleet: FleetOperations) => Promise<unknown>])[] = [
  [
    'listHosts',
    (fleet) =>
      fleet.listHosts({
        search: 'a b&c',
        label: 'site=edge',
        group: 'edge',
        profile: 'w',
        stream: 's',
        mode: 'live',
        source: 'api',
        limit: 10,
        after: 'n1/x',
      }),
  ],
  ['showHost', (fleet) => fleet.showHost('rack1-n01')],
  ['putHost', (fleet) => fleet.putHost('n7', { spec, reason }, { ...change, ifRevision: 0 })],
  ['putHost again', (fleet) => fleet.putHost('n7', { spec }, { ...dryRun, ifRevision: 7 })],
  ['removeHost', (fleet) => fleet.removeHost('n7', { ...dryRun, ifRevision: 3, reason })],
  [
    'importRecords',
    (fleet) =>
      fleet.importRecords({ text: 'a: "\u2028"\n', name: 'f.yaml', mode: 'replace', reason }, dryRun),
  ],
  ['exportRecords', (fleet) => fleet.exportRecords({ all: true })],
  ['listSeen', (fleet) => fleet.listSeen({ limit: 1000 })],
  ['adoptHost', (fleet) => fleet.adoptHost({ mac: '52-54-00-00-00-01', id: 'n7', spec, reason }, change)],
  ['listRecords of groups', (fleet) => fleet.listRecords('group')],
  ['listRecords of profiles', (fleet) => fleet.listRecords('profile')],
  ['showRecord', (fleet) => fleet.showRecord('profile', 'worker')],
  ['putRecord', (fleet) => fleet.putRecord('group', 'edge', { spec, reason }, { ...change, ifRevision: 2 })],
  ['removeRecord', (fleet) => fleet.removeRecord('profile', 'old', { ...change, reason })],
  ['listPins', (fleet) => fleet.listPins({ host: 'a', group: 'b', stream: 's', release: '44.1' })],
  [
    'setPin',
    (fleet) =>
      fleet.setPin(
        { target: host, release: '44.1', stream: 's', arch: 'aarch64', reason, until: '48h' },
        dryRun,
      ),
  ],
  ['removePin', (fleet) => fleet.removePin({ target: edge, arch: 'x86_64', reason }, change)],
  ['pinnable', (fleet) => fleet.pinnable({ host: 'rack1-n01', stream: 's' })],
  ['setMode', (fleet) => fleet.setMode({ target: edge, mode: 'hold', reason, until: '4h' }, change)],
  ['releaseMode', (fleet) => fleet.releaseMode({ target: host, reason }, dryRun)],
  ['listInstalls', (fleet) => fleet.listInstalls()],
  [
    'armInstall',
    (fleet) =>
      fleet.armInstall({ host: 'a', device: '/dev/sda', mostServes: 3, until: '4h', reason }, change),
  ],
  ['endInstall', (fleet) => fleet.endInstall({ host: 'a', as: 'disarm', reason }, change)],
  ['listReports', (fleet) => fleet.listReports({ host: 'a', boot: 'AAAAAAAAAAAAAAAAAAAAAA' })],
  ['revokeBootTokens', (fleet) => fleet.revokeBootTokens({ host: 'a', reason }, change)],
  ['listTokens', (fleet) => fleet.listTokens()],
  ['createToken', (fleet) => fleet.createToken({ name: 'ci', role: 'write', until: '30d', reason }, change)],
  ['revokeToken', (fleet) => fleet.revokeToken('writer000001', { ...change, reason })],
  [
    'listAudit',
    (fleet) =>
      fleet.listAudit({ target: 'host/a', by: 'x', action: 'pin.set', since: '2026-12-31', limit: 5 }),
  ],
  ['backup', (fleet) => fleet.backup({ file: '/b.db' })],
  ['restore', (fleet) => fleet.restore({ file: '/b.db' }, dryRun)],
]

/** A list tells less than `showHost`. */
const summary = Object.fromEntries(
  Object.entries(sampleHost).filter(([name]) => name in HostSummary.properties),
) as unknown as HostSummary

test('no operation is forgotten', () => {
  const asked = new Set(questions.map(([name]) => name.split(' ')[0]))
  const { calls: _, authenticate: __, ...operations } = createFakeFleet()
  expect([...asked].sort()).toEqual(Object.keys(operations).sort())
})

test.each(questions)('%s arrives with its arguments and comes back as it was', async (_, ask) => {
  const answers = { listHosts: async () => ({ items: [summary], total: 1 }) }
  const { fleet, client } = await serve(answers)
  const local = createFakeFleet(answers)
  expect(await ask(client)).toEqual(await ask(local))
  expect(fleet.calls).toEqual(local.calls)
})

test('a name is no path', async () => {
  const { fleet, client } = await serve()
  await client.showHost('a/../b?c#d%2f')
  expect(fleet.calls).toEqual([{ name: 'showHost', arguments: ['a/../b?c#d%2f'] }])
})

test('an error arrives as the ServiceError it was, with field and hint', async () => {
  const details = { field: 'release', hint: 'did you mean "44.1"?' }
  const { client } = await serve({
    setPin: () => Promise.reject(new ServiceError('USAGE', 'no release 44.l', details)),
  })
  await expect(client.setPin({ target: host, release: '44.l' }, change)).rejects.toMatchObject({
    code: 'USAGE',
    message: 'no release 44.l',
    details,
  })
})

describe('something else at the socket', () => {
  async function answered(answer: unknown): Promise<FleetOperations> {
    const server = createServer((_, response) => response.end(JSON.stringify(answer)))
    await new Promise<void>((resolve) => server.listen(path, resolve))
    closers.push(() => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    })
    return connect()
  }

  // These have no answer besides that it is done.
  const silent = /^(?:remove|setMode|releaseMode|revokeBootTokens)/

  test.each(questions.filter(([name]) => !silent.test(name)))(
    'that answers %s with another shape is told as a stranger',
    async (_, ask) => {
      const strange = await answered({ items: 7, text: [], host: {}, token: 'x', files: null })
      await expect(ask(strange)).rejects.toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
        message: expect.stringContaining('is no pilotlight that this command understands'),
      })
    },
  )

  test('what an answer says beyond what we know is left out', async () => {
    const [pin] = (await createFakeFleet().listPins({})).items
    const more = { items: [{ ...pin, newer: 1, __proto__: null }], total: 1, newer: { a: 1 } }
    expect(await (await answered(more)).listPins({})).toEqual({ items: [pin], total: 1 })
  })
})
