import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createControlClient } from '../../src/cli/control-client.ts'
import type { ChangeOptions, FleetOperations } from '../../src/http/admin/fleet-operations.ts'
import { fetchIgnition, ignitionUrlOf, sendReport } from '../../src/runtime/demo/simulated-report.ts'
import { type RunningService, startRunningService, untilCurrent } from '../fakes/running-service.ts'
import { startUpstreamSite, type UpstreamSite } from '../fakes/upstream-site.ts'

const releases = ['44.20260622.3.0', '44.20260707.3.1'] as const
const rounds = process.env.SOAK === undefined ? 20 : 200
const clients = 8
const change: ChangeOptions = { actor: { by: 'crash test', via: 'control' } }

/** What one client was told, and what it had asked for when the service died. */
interface Client {
  readonly host: string
  readonly mac: string
  /** Each pin carries a number of its own in its reason. */
  acknowledged: number
  asked: number
  /** Boots whose report was acknowledged. */
  readonly reported: string[]
}

const hosts: readonly Client[] = Array.from({ length: clients }, (_, index) => ({
  host: `n0${index}`,
  mac: `52:54:00:00:02:0${index}`,
  acknowledged: 0,
  asked: 0,
  reported: [],
}))

/** Whoever waits for so many answers is told at once when they are there. */
const acknowledgements = {
  count: 0,
  wanted: Infinity,
  tell: () => {},
  add() {
    this.count += 1
    if (this.count >= this.wanted) this.tell()
  },
  reach(wanted: number): Promise<void> {
    this.wanted = wanted
    return new Promise((resolve) => {
      this.tell = resolve
    })
  },
}

describe('the service is killed while admins and nodes write', () => {
  let site: UpstreamSite
  let service: RunningService
  let fleet: FleetOperations

  beforeAll(async () => {
    site = await startUpstreamSite({ releases, current: releases[1] })
    service = await startRunningService({
      site,
      config: { hosts: { directory: 'hosts.d' } },
      hosts: hosts.map(({ host, mac }) => ({ id: host, macs: [mac], profile: 'worker', report: true })),
    })
    fleet = createControlClient({ path: join(service.dataDirectory, 'control.sock') }).operations.fleet
    await untilCurrent(service, releases[1])
  })
  afterAll(async () => {
    await service?.remove()
    await site?.stop()
  })

  async function pinUntilItDies(client: Client, state: { isOver: boolean }): Promise<void> {
    while (!state.isOver) {
      client.asked += 1
      const release = releases[client.asked % releases.length] ?? releases[0]
      const target = { kind: 'host', name: client.host } as const
      try {
        await fleet.setPin({ target, release, reason: String(client.asked) }, change)
      } catch {
        return
      }
      client.acknowledged = client.asked
      acknowledgements.add()
    }
  }

  async function reportUntilItDies(client: Client, state: { isOver: boolean }): Promise<void> {
    while (!state.isOver) {
      try {
        const script = await service.script(client.mac)
        const url = ignitionUrlOf({ kernelArguments: script.split(/\s+/) })
        const boot = /boot=([\w-]{22})/.exec(script)?.[1]
        const config = url === undefined ? 404 : await fetchIgnition(url)
        if (typeof config === 'number' || boot === undefined) continue
        const status = await sendReport(config, { status: 'booted', osVersion: releases[1] })
        if (status !== 200) continue
        client.reported.push(boot)
        acknowledgements.add()
      } catch {
        return
      }
    }
  }

  it(`G7 ${rounds} times: whatever was acknowledged is there afterwards`, {
    timeout: rounds * 30_000,
  }, async () => {
    let pins = 0
    for (let round = 0; round < rounds; round += 1) {
      const state = { isOver: false }
      acknowledgements.count = 0
      const work = hosts.flatMap((client) => [
        pinUntilItDies(client, state),
        reportUntilItDies(client, state),
      ])
      // In the middle of whatever follows, which differs from round to round.
      await acknowledgements.reach(3 + ((round * 7) % 40))
      await service.kill('SIGKILL')
      state.isOver = true
      await Promise.all(work)
      await service.start()
      const { items } = await fleet.listPins({})
      for (const client of hosts) {
        const pin = items.find(({ target }) => target.name === client.host)
        const kept = Number(pin?.reason ?? 0)
        // What was on its way may have been written or not.
        expect([client.acknowledged, client.asked]).toContain(kept)
        expect(pin?.release ?? releases[0]).toBe(kept === 0 ? releases[0] : releases[kept % releases.length])
        if (kept > 0) pins += 1
        client.acknowledged = kept
        client.asked = kept
        const reports = await fleet.listReports({ host: client.host, limit: 1000 })
        const known = new Set(reports.items.map(({ bootId }) => bootId))
        expect(client.reported.filter((boot) => !known.has(boot))).toEqual([])
      }
    }
    expect(pins).toBeGreaterThan(rounds)
    expect(hosts.flatMap(({ reported }) => reported).length).toBeGreaterThan(rounds)
  })
})
