import { buildCatalog } from '../../dist/catalog/build-catalog.js'
import { decideBoot } from '../../dist/core/decide-boot.js'
import { buildInventory } from '../../dist/core/inventory.js'
import { createRenderer } from '../../dist/render/create-renderer.js'
import { sampleStreamDocument } from '../../dist/runtime/demo/sample-documents.js'
import { makeSampleRelease } from '../../dist/runtime/demo/sample-release.js'
import { shippedTemplates } from '../../dist/runtime/shipped-templates.js'
import { parseMetadata } from '../../dist/streams/parse-document.js'
import { resolveBootimages } from '../../dist/streams/resolve.js'
import { spread } from './measure.mjs'
import { macOf } from './seed.mjs'

const hostCount = 100_000
const asks = 20_000
const origin = { kind: 'host', name: 'rack', file: 'hosts.d/rack.yaml', line: 3 }

/** A decision and its script, in this thread, for hosts picked all over the inventory. */
export function benchDecide({ rounds, report }) {
  const catalog = sampleCatalog()
  const view = { catalog, inventory: sampleInventory(2), now: Date.now() }
  const crowded = { ...view, inventory: sampleInventory(1_000) }
  const clients = Array.from({ length: asks }, (_, index) => clientOf((index * 7919) % hostCount))
  const deciding = []
  const decidingAmongGroups = []
  const rendering = []
  for (let round = 0; round < rounds; round += 1) {
    const renderer = createRenderer({
      templatesDirectory: shippedTemplates,
      catalog: { current: () => catalog },
    })
    const context = { baseUrl: 'http://192.0.2.10', bootId: 'A'.repeat(22) }
    const decisions = []
    deciding.push(microsecondsEach(clients, (client) => decisions.push(decideBoot(client, view))))
    decidingAmongGroups.push(microsecondsEach(clients, (client) => decideBoot(client, crowded)))
    rendering.push(
      microsecondsEach(clients, (client, index) => renderer.ipxe(decisions[index], client, context)),
    )
  }
  console.log(
    `\n${hostCount.toLocaleString('en')} hosts: ${spread(deciding, 1)} µs a decision, ${spread(rendering, 1)} µs its script; ${spread(decidingAmongGroups, 1)} µs a decision among 1,000 groups`,
  )
  report.add('a decision at 100,000 hosts, µs', { value: deciding, target: '< 20', digits: 1 })
  report.add('a decision at 100,000 hosts and 1,000 groups, µs', {
    value: decidingAmongGroups,
    target: '< 20',
    digits: 1,
  })
}

/** CPU time, garbage collection included, because others may use the same cores. */
export function microsecondsEach(items, work) {
  const before = process.cpuUsage()
  for (const [index, item] of items.entries()) work(item, index)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / items.length
}

function sampleInventory(groupCount) {
  const hosts = Array.from({ length: hostCount }, (_, index) => ({
    id: `host-${index}`,
    macs: [macOf(index)],
    labels: { site: 'edge', rack: String(index % 40) },
    origin,
  }))
  const group = (name, labels) => ({
    name,
    labels,
    profile: 'worker',
    origin: { ...origin, kind: 'group', name },
  })
  const worker = {
    name: 'worker',
    stream: 'sample',
    mode: 'live',
    kernelArguments: ['console=tty0', 'console=ttyS0,115200n8'],
    origin: { ...origin, kind: 'profile', name: 'worker' },
  }
  return buildInventory({
    hosts,
    groups: Array.from({ length: groupCount }, (_, index) =>
      index === 0
        ? group('edge', { site: 'edge' })
        : group(`rack${index}`, { site: 'edge', rack: String(index) }),
    ),
    profiles: [worker],
    unknown: { kind: 'profile', profile: 'worker' },
  })
}

export function sampleCatalog() {
  const sizes = { kernelBytes: 1024, initramfsBytes: 1024, rootfsBytes: 1024 }
  const release = makeSampleRelease('44.20261129.3.0', ['x86_64'], sizes)
  const text = sampleStreamDocument(release, 'http://192.0.2.1', '2026-11-29T00:00:00Z')
  const [bootimage] = resolveBootimages(parseMetadata(Buffer.from(text)), 'sample').bootimages
  const [set] = release.sets
  const blob = ({ sha256 }) => [
    sha256,
    { sizeBytes: 1024, modifiedAt: 0, path: `/nowhere/${sha256}`, identity: '' },
  ]
  return buildCatalog({
    revision: 1,
    streams: [{ name: 'sample', architectures: ['x86_64'], health: { lastSuccessAt: 1, problems: [] } }],
    bootimages: [{ bootimage, document: '', state: 'ready', firstSeenAt: 0, readyAt: 0 }],
    heads: [{ stream: 'sample', arch: 'x86_64', current: bootimage.id, previous: [] }],
    pins: [],
    blobs: new Map([set.kernel, set.initramfs, set.rootfs].map(blob)),
  })
}

function clientOf(index) {
  return { macs: [macOf(index)], arch: 'x86_64', firmware: 'uefi', loader: 'ipxe', address: '192.0.2.50' }
}
