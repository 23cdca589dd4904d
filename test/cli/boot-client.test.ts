import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createControlClient } from '../../src/cli/control-client.ts'
import { silentLog } from '../../src/core/log.ts'
import type { BootOperations } from '../../src/http/admin/boot-operations.ts'
import { listenControlSocket } from '../../src/http/admin/control-socket.ts'
import { createAdminApp } from '../../src/http/admin/create-admin-app.ts'
import { createMetrics } from '../../src/telemetry/create-metrics.ts'
import { createFakeOperations } from '../fakes/admin-operations.ts'
import { createFakeBoots } from '../fakes/boot-operations.ts'
import { createManualTime } from '../fakes/manual-time.ts'

let directory: string
let path: string
const closers: (() => Promise<unknown>)[] = []

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pilotlight-boot-client-'))
  path = join(directory, 'control.sock')
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
  await rm(directory, { recursive: true, force: true })
})

async function serve() {
  const operations = createFakeOperations()
  const time = createManualTime()
  const metrics = createMetrics({ version: '1', clock: time, withProcess: false })
  const shared = { operations, metrics, log: silentLog, version: '1', clock: time, timers: time }
  const socket = await listenControlSocket({ app: createAdminApp({ ...shared, access: 'control' }), path })
  closers.push(() => socket.close())
  const client = createControlClient({ path })
  closers.push(() => client.close())
  return { asked: operations.boots, boots: client.operations.boots }
}

/** Every operation, with every field that it can have. */
const questions: readonly (readonly [string, (boots: BootOperations) => Promise<unknown>])[] = [
  [
    'listBoots',
    (boots) =>
      boots.listBoots({
        limit: 7,
        after: 'a/b&c',
        host: 'rack1-n01',
        mac: '52:54:00:ab:cd:ef',
        state: 'over',
        outcome: 'failed',
        pattern: 'no-report',
        since: '2026-11-29',
      }),
  ],
  ['showBoot', (boots) => boots.showBoot('rack1-n01')],
  [
    'listMachines',
    (boots) =>
      boots.listMachines({
        limit: 200,
        page: 3,
        keys: ['rack1-n01', '52:54:00:ab:cd:f0'],
        search: 'a b?',
        state: 'stuck',
        stream: 's',
        release: '44.1',
        group: 'edge',
        sort: 'host',
      }),
  ],
  ['listMachines', (boots) => boots.listMachines({ keys: ['one'] })],
  ['listPatterns', (boots) => boots.listPatterns()],
  ['capture', (boots) => boots.capture({ mac: '52:54:00:ab:cd:ef' })],
  ['diagnose', (boots) => boots.diagnose()],
]

test.each(questions)(
  '%s is asked over the socket as it is asked here, and answered the same',
  async (_, ask) => {
    const { asked, boots } = await serve()
    const here = createFakeBoots()
    expect(await ask(boots)).toEqual(await ask(here))
    expect(asked.calls).toEqual(here.calls)
  },
)

test('a boot that is not known is the error that it was', async () => {
  const { boots } = await serve()
  await expect(boots.showBoot('nothing')).rejects.toMatchObject({
    code: 'NOT_FOUND',
    message: 'no boot "nothing" is known',
  })
})
