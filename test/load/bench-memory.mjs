import { createHash, randomBytes } from 'node:crypto'
import { closeSync, createReadStream, openSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { createServer, get } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { samplePath, sampleStreamDocument } from '../../dist/runtime/demo/sample-documents.js'
import { makeSampleRelease } from '../../dist/runtime/demo/sample-release.js'
import { rssBytesOf, watchRss } from './measure.mjs'
import { freePort } from './peers.mjs'
import { seedService } from './seed.mjs'
import { startService } from './service.mjs'

const release = '99.20261129.3.0'
const arch = 'x86_64'
const mebibyte = 2 ** 20

/** The running service follows its stream to a release with a huge rootfs: how much memory does that take? */
export async function benchMemory({ directory, sizeBytes, report }) {
  const upstream = await startUpstream(directory, sizeBytes)
  const seeded = await seedService({ directory, allowedUpstreams: [upstream.origin] })
  const service = await startService(seeded)
  try {
    const before = rssBytesOf(service.pid)
    const rss = watchRss(service.pid)
    const startedAt = performance.now()
    publish(seeded.documentFile, upstream.document)
    await untilCurrent(seeded)
    const seconds = (performance.now() - startedAt) / 1000
    const grownMib = (rss.stop() - before) / mebibyte
    console.log(
      `\n${sizeBytes / mebibyte} MiB fetched, checked and current after ${seconds.toFixed(1)} s; ` +
        `RSS ${Math.round(before / mebibyte)} MiB before, +${Math.round(grownMib)} MiB at most`,
    )
    report.add(`RSS growth of the service while ${sizeBytes / mebibyte} MiB are fetched, MiB`, {
      value: [grownMib],
      target: '< 64',
      digits: 0,
    })
  } finally {
    await service.stop()
    upstream.stop()
  }
}

async function startUpstream(directory, sizeBytes) {
  const sizes = { kernelBytes: mebibyte, initramfsBytes: mebibyte, rootfsBytes: mebibyte }
  const sample = makeSampleRelease(release, [arch], sizes)
  const [set] = sample.sets
  const path = join(directory, 'rootfs.img')
  const rootfs = { ...set.rootfs, sha256: writeNoise(path, sizeBytes) }
  const named = { ...sample, sets: [{ ...set, rootfs }] }
  const small = new Map(
    [set.kernel, set.initramfs].map((file) => [samplePath(release, arch, file.name), file.bytes]),
  )
  const server = createServer((request, response) => {
    const bytes = small.get(request.url)
    if (bytes !== undefined) response.end(bytes)
    else if (request.url === samplePath(release, arch, rootfs.name)) {
      response.writeHead(200, { 'content-length': sizeBytes })
      createReadStream(path, { highWaterMark: mebibyte }).pipe(response)
    } else response.writeHead(404).end()
  })
  const port = await freePort()
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${port}`
  return {
    origin,
    document: sampleStreamDocument(named, origin, '2026-11-29T00:00:00Z'),
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function writeNoise(path, sizeBytes) {
  const hash = createHash('sha256')
  const block = randomBytes(mebibyte)
  const output = openSync(path, 'w')
  for (let written = 0; written < sizeBytes; written += block.length) {
    block.writeUInt32LE(written / block.length, 0)
    hash.update(block)
    writeSync(output, block)
  }
  closeSync(output)
  return hash.digest('hex')
}

/** GET over the control socket, whose file is the credential. */
function ask(socketPath, path) {
  return new Promise((resolve, reject) => {
    get({ socketPath, path }, async (response) => {
      let text = ''
      for await (const chunk of response.setEncoding('utf8')) text += chunk
      resolve(text)
    }).on('error', reject)
  })
}

/** As a mirror job would: whole or not at all. */
function publish(documentFile, text) {
  writeFileSync(`${documentFile}.new`, text)
  renameSync(`${documentFile}.new`, documentFile)
}

async function untilCurrent({ dataDir }) {
  const until = performance.now() + 120_000
  for (;;) {
    const text = await ask(join(dataDir, 'control.sock'), '/api/v1/streams')
    const { streams } = JSON.parse(text)
    const current = streams[0]?.architectures?.find((entry) => entry.arch === arch)?.current
    if (JSON.stringify(current ?? '').includes(release)) return
    if (performance.now() > until) throw new Error(`the release did not become current: ${text}`)
    await sleep(50)
  }
}
