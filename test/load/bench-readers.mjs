import { mkdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { askControl } from './control.mjs'
import { median, rssBytesOf, spread, table } from './measure.mjs'
import { measureClient } from './rounds.mjs'
import { bootQueryOf, seedService } from './seed.mjs'
import { startService } from './service.mjs'

const mebibyte = 2 ** 20
const openings = 10_000
const openedAtOnce = 20
const idleReaders = 30
const askedHosts = 500
const comparedRounds = 5

/** Event streams that are opened and dropped, and readers that do not read, beside machines that boot. */
export async function benchReaders({ directory, seconds, report }) {
  mkdirSync(directory, { recursive: true })
  const seeded = await seedService({ directory, hosts: 1_000 })
  const service = await startService(seeded)
  const socketPath = join(seeded.dataDir, 'control.sock')
  try {
    const { secret } = await askControl(socketPath, '/api/v1/tokens', {
      method: 'POST',
      body: { name: 'readers', role: 'read' },
    })
    await benchOpenings({ service, secret, report })
    await benchIdleReaders({ service, secret, seconds, report })
  } finally {
    await service.stop()
  }
}

async function benchOpenings({ service, secret, report }) {
  const statuses = new Map()
  const probes = []
  const before = rssBytesOf(service.pid)
  const startedAt = performance.now()
  let left = openings
  async function openAndDrop() {
    while (left > 0) {
      left -= 1
      const { status, socket } = await openStream(service.adminUrl, secret)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      socket.destroy()
    }
  }
  let isOver = false
  async function probe() {
    while (!isOver) {
      const askedAt = performance.now()
      await (await fetch(`${service.origin}/boot.ipxe`)).text()
      probes.push(performance.now() - askedAt)
      await sleep(10)
    }
  }
  const probing = probe()
  await Promise.all(Array.from({ length: openedAtOnce }, openAndDrop))
  isOver = true
  await probing
  const took = (performance.now() - startedAt) / 1000
  const open = await untilNoStreams(service.adminUrl)
  await sleep(1_000)
  const grownMib = (rssBytesOf(service.pid) - before) / mebibyte
  const answered = [...statuses].map(([status, count]) => `${count} with ${status}`).join(', ')
  console.log(
    `\n${openings} event streams opened and dropped in ${took.toFixed(1)} s: ${answered}; open afterwards: ${open}; ` +
      `RSS +${grownMib.toFixed(0)} MiB; /boot.ipxe meanwhile: median ${median(probes).toFixed(1)} ms, longest ${Math.max(...probes).toFixed(1)} ms`,
  )
  report.add('event streams open after 10,000 were dropped', { value: [open], target: '<= 0', digits: 0 })
  report.add('memory on top after 10,000 event streams, MiB', {
    value: [grownMib],
    target: '< 50',
    digits: 0,
  })
}

/** What a request costs with readers that stopped reading, against what it costs without. */
async function benchIdleReaders({ service, secret, seconds, report }) {
  const paths = Array.from({ length: askedHosts }, (_, index) => `/ipxe?${bootQueryOf(index)}`)
  const ask = () => measureClient(service, 'script-client.mjs', [service.origin, 32, seconds, ...paths])
  await ask()
  const before = rssBytesOf(service.pid)
  const [withReaders, without] = [[], []]
  let peak = before
  for (let round = 0; round < comparedRounds; round += 1) {
    without.push(await ask())
    const readers = await Promise.all(
      Array.from({ length: idleReaders }, () => openStream(service.adminUrl, secret)),
    )
    const refused = readers.find(({ status }) => status !== 200)
    if (refused !== undefined) throw new Error(`an event stream answered ${refused.status}`)
    for (const { socket } of readers) socket.pause()
    withReaders.push(await ask())
    peak = Math.max(peak, rssBytesOf(service.pid))
    for (const { socket } of readers) socket.destroy()
    await untilNoStreams(service.adminUrl)
  }
  const cpu = ({ serverCpuSeconds, requests }) => (serverCpuSeconds / requests) * 1e6
  const row = (what, of) => [
    what,
    spread(of.map(cpu), 1),
    spread(
      of.map(({ p99Ms }) => p99Ms),
      1,
    ),
  ]
  console.log(
    `\n${table(
      ['/ipxe', 'CPU µs each', 'p99 ms'],
      [row('nobody follows', without), row(`${idleReaders} followers that do not read`, withReaders)],
    )}\nRSS ${Math.round(before / mebibyte)} MiB before, ${Math.round(peak / mebibyte)} MiB at most`,
  )
  report.add(`/ipxe with ${idleReaders} followers that do not read, CPU against none`, {
    value: withReaders.map((result, round) => cpu(result) / cpu(without[round])),
    target: '<= 1.1',
  })
}

/** Resolves with the status when the head has come. */
function openStream(adminUrl, secret) {
  const { hostname, port, host } = new URL(adminUrl)
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) })
    socket.once('error', reject)
    socket.once('data', (bytes) => {
      socket.on('error', () => {})
      resolve({ socket, status: Number(/^HTTP\/1\.1 (\d+)/.exec(bytes.toString('latin1'))?.[1]) })
    })
    socket.write(`GET /api/v1/events HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${secret}\r\n\r\n`)
  })
}

async function untilNoStreams(adminUrl) {
  const until = performance.now() + 10_000
  for (;;) {
    const text = await (await fetch(`${adminUrl}/metrics`)).text()
    const open = Number(/^pilotlight_event_streams (\d+)/m.exec(text)?.[1])
    if (open === 0 || performance.now() > until) return open
    await sleep(50)
  }
}
