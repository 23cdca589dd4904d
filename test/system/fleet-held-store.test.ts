import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createControlClient } from '../../src/cli/control-client.ts'
import type { ChangeOptions, FleetOperations } from '../../src/http/admin/fleet-operations.ts'
import { type RunningService, startRunningService, untilCurrent } from '../fakes/running-service.ts'
import { eventually } from '../fakes/service-process.ts'
import { startUpstreamSite, type UpstreamSite } from '../fakes/upstream-site.ts'

const releases = ['44.20260622.3.0', '44.20260707.3.1'] as const
const mac = '52:54:00:00:03:01'
const change: ChangeOptions = { actor: { by: 'tester', via: 'control' } }
const node = { kind: 'host', name: 'node' } as const
const heldMs = 30_000

let site: UpstreamSite
let service: RunningService
let fleet: FleetOperations

beforeAll(async () => {
  site = await startUpstreamSite({ releases, current: releases[1] })
  service = await startRunningService({ site, hosts: [{ id: 'node', macs: [mac], profile: 'worker' }] })
  fleet = createControlClient({ path: join(service.dataDirectory, 'control.sock') }).operations.fleet
  await untilCurrent(service, releases[1])
  await fleet.setPin({ target: node, release: releases[0] }, change)
  await eventually(
    () => service.script(mac),
    (script) => script.includes(`sample ${releases[0]}`),
  )
})
afterAll(async () => {
  await service?.remove()
  await site?.stop()
})

it('G4 the store is held for half a minute: boots go on, changes are refused, and nothing that was said is lost', async () => {
  const holder = spawn(process.execPath, [
    join(import.meta.dirname, 'hold-database.mjs'),
    join(service.dataDirectory, 'state.db'),
  ])
  await once(holder.stdout, 'data')
  const heldSince = Date.now()
  const refusals: unknown[] = []
  let slowestMs = 0
  const asking = (async () => {
    while (Date.now() - heldSince < heldMs) {
      const asked = performance.now()
      expect(await service.script(mac)).toContain(`sample ${releases[0]}`)
      slowestMs = Math.max(slowestMs, performance.now() - asked)
    }
  })()
  while (Date.now() - heldSince < heldMs) {
    await fleet.removePin({ target: node }, change).catch((error: unknown) => refusals.push(error))
  }
  await asking
  expect(refusals.length).toBeGreaterThan(0)
  for (const refusal of refusals) expect(refusal).toMatchObject({ code: 'STATE_UNAVAILABLE' })
  expect(slowestMs).toBeLessThan(2_000)
  holder.stdin.end()
  await once(holder, 'exit')
  await eventually(
    () => fleet.setMode({ target: node, mode: 'hold', reason: 'after it' }, change).then(() => true),
    Boolean,
  )
  expect((await fleet.listPins({})).items).toMatchObject([{ release: releases[0] }])
  await service.restart('SIGKILL')
  expect((await fleet.listPins({})).items).toMatchObject([{ release: releases[0] }])
  expect(await service.script(mac)).toContain('after it')
})
