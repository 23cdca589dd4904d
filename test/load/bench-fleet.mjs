import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { decideBoot } from '../../dist/core/decide-boot.js'
import { armInstall } from '../../dist/core/install.js'
import { buildInventory } from '../../dist/core/inventory.js'
import { wantedPins } from '../../dist/rollout/wanted-pins.js'
import { createFleetView } from '../../dist/runtime/fleet/fleet-view.js'
import { microsecondsEach, sampleCatalog } from './bench-decide.mjs'
import { spread } from './measure.mjs'
import { macOf } from './seed.mjs'

const hostCount = 100_000
const changes = 2_000
const mebibyte = 2 ** 20

/**
 * What an admin's word costs where there are many hosts: all of them taken up at a start, one change and the decision
 * that sees it, in this thread and without the disk.
 */
export function benchFleet({ rounds, report }) {
  const catalog = sampleCatalog()
  const files = buildInventory({
    hosts: [],
    groups: [],
    profiles: [
      { name: 'worker', stream: 'sample', mode: 'live', origin: { kind: 'profile', name: 'worker' } },
    ],
    unknown: { kind: 'ignore' },
  })
  const records = Array.from({ length: hostCount }, (_, index) => recordOf(index))
  const settings = Array.from({ length: hostCount / 10 }, (_, index) => pinOf(index * 10 + 5, 'old'))
  const figures = { loading: [], changing: [], deciding: [], wanting: [], memory: [] }
  for (let round = 0; round < rounds; round += 1) measure(figures, { files, catalog, records, settings })
  console.log(
    `\n${hostCount.toLocaleString('en')} hosts of the API, ${settings.length.toLocaleString('en')} pins: taken up in ${spread(figures.loading, 0)} ms, ${spread(figures.memory, 0)} MiB; ${spread(figures.changing, 1)} µs a change and the decision that sees it`,
  )
  report.add('100,000 hosts of the API taken up, ms', { value: figures.loading, target: '< 3000', digits: 0 })
  report.add('memory of 100,000 hosts of the API, MiB', { value: figures.memory, digits: 0 })
  report.add('a change at 100,000 hosts and the decision that sees it, µs', {
    value: figures.changing,
    target: '< 1000',
    digits: 1,
  })
  report.add('a decision at 100,000 hosts of the API, µs', {
    value: figures.deciding,
    target: '< 20',
    digits: 1,
  })
  report.add('all pins in force found, ms', { value: figures.wanting, digits: 0 })
}

function measure(figures, { files, catalog, records, settings }) {
  const heapBefore = heapAfterCollection()
  const view = createFleetView()
  figures.loading.push(
    milliseconds(() => {
      view.takeFiles(files)
      view.load({ records, settings, installs: [], revocations: [] })
      view.inventory()
    }),
  )
  figures.memory.push((heapAfterCollection() - heapBefore) / mebibyte)
  let wrong = 0
  const elapsed = milliseconds(() => {
    for (let change = 0; change < changes; change += 1) {
      const index = (change * 7919) % hostCount
      view.apply([changeOf(change, index)])
      const decision = decideBoot(clientOf(index), { catalog, inventory: view.inventory(), now: 1 })
      if (decision.kind !== expected[change % expected.length]) wrong += 1
    }
  })
  if (wrong > 0) throw new Error(`${wrong} decisions did not see the change before them`)
  figures.changing.push((elapsed * 1000) / changes)
  const inventory = view.inventory()
  const clients = Array.from({ length: 20_000 }, (_, index) => clientOf((index * 7919) % hostCount))
  figures.deciding.push(
    microsecondsEach(clients, (client) => decideBoot(client, { catalog, inventory, now: 1 })),
  )
  figures.wanting.push(milliseconds(() => wantedPins(inventory, () => ['x86_64'], 1)))
}

const collectGarbage = (() => {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc')
})()

function heapAfterCollection() {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

/** By turns: a pin, a hold, an install, another record. */
const expected = ['wait', 'hold', 'install', 'local']

function changeOf(number, index) {
  switch (number % 4) {
    case 0:
      return { put: 'setting', setting: pinOf(index, 'unheard-of') }
    case 1:
      return {
        put: 'setting',
        setting: {
          kind: 'mode',
          mode: 'hold',
          target: targetOf(index),
          by: 'bench',
          at: 1,
          until: 10 + number,
        },
      }
    case 2:
      return {
        put: 'install',
        install: armInstall(undefined, 1, { host: idOf(index), by: 'bench', at: 0, device: '/dev/sda' }),
      }
    default:
      return {
        put: 'record',
        record: { ...recordOf(index), spec: { ...recordOf(index).spec, mode: 'local' } },
      }
  }
}

function milliseconds(work) {
  const before = performance.now()
  work()
  return performance.now() - before
}

const idOf = (index) => `host-${index}`
const targetOf = (index) => ({ kind: 'host', name: idOf(index) })

function recordOf(index) {
  return {
    kind: 'host',
    name: idOf(index),
    spec: { macs: [macOf(index)], labels: { rack: String(index % 40) }, profile: 'worker' },
    revision: 1,
    createdAt: 0,
    createdBy: 'bench',
    changedAt: 0,
    changedBy: 'bench',
  }
}

function pinOf(index, release) {
  return { kind: 'pin', target: targetOf(index), release, by: 'bench', at: 1, macs: [macOf(index)] }
}

function clientOf(index) {
  return { macs: [macOf(index)], arch: 'x86_64', firmware: 'uefi', loader: 'ipxe', address: '192.0.2.50' }
}
