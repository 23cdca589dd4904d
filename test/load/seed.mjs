import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { stringify } from 'yaml'
import { createFetchEngine } from '../../dist/artifacts/fetch-engine.js'
import { layoutOf } from '../../dist/artifacts/layout.js'
import { artifactsOf } from '../../dist/core/bootimage.js'
import { silentLog } from '../../dist/core/log.js'
import { sampleStreamDocument } from '../../dist/runtime/demo/sample-documents.js'
import { makeSampleRelease } from '../../dist/runtime/demo/sample-release.js'
import { realClock } from '../../dist/runtime/real-time.js'
import { openStorage } from '../../dist/runtime/storage.js'
import { documentRow } from '../../dist/state/rows.js'
import { openSqlite } from '../../dist/state/sqlite.js'
import { parseMetadata } from '../../dist/streams/parse-document.js'
import { resolveBootimages } from '../../dist/streams/resolve.js'

const stream = 'sample'
/** Nobody answers there, and nobody is asked: every file is in the data directory. */
const upstreamUrl = 'http://192.0.2.1'
const dayMs = 24 * 60 * 60 * 1000
const hostsPerFile = 100

/**
 * Makes a data directory and a configuration as a service has them that follows its stream for years: `releases`
 * bootimages that are all there, `documents` in the archive, `hosts` in `hosts.d`. Only the newest kernel and
 * initramfs are large. Everything goes through the service's own parsers and store.
 */
export async function seedService({
  directory,
  kernelBytes = 1 << 20,
  initramfsBytes = 1 << 20,
  releases = 3,
  documents = releases,
  hosts = 0,
  allowedUpstreams = [],
}) {
  const dataDir = join(directory, 'data')
  const documentFile = join(directory, 'stream.json')
  const now = Date.now()
  const storage = await openStorage({ dataDirectory: dataDir, clock: realClock, log: silentLog })
  const layout = layoutOf(dataDir)
  const engine = createFetchEngine({
    dataDirectory: dataDir,
    upstream: { allowedOrigins: [] },
    trustedKeys: [],
  })
  const archived = []
  const records = []
  let newest
  for (let index = 0; index < releases; index += 1) {
    const isNewest = index === releases - 1
    const at = now - (releases - index) * dayMs
    const small = { kernelBytes: 1024, initramfsBytes: 1024, rootfsBytes: 1024 }
    const large = { kernelBytes, initramfsBytes, rootfsBytes: 1 << 20 }
    const release = makeSampleRelease(releaseName(at), ['x86_64'], isNewest ? large : small)
    const kept = Math.floor(documents / releases) + (index < documents % releases ? 1 : 0)
    for (let edition = 0; edition < kept; edition += 1) {
      const editedAt = at + edition * 60_000
      const text = sampleStreamDocument(release, upstreamUrl, new Date(editedAt).toISOString())
      newest = archive(text, editedAt)
    }
    const [set] = release.sets
    for (const { sha256, bytes } of [set.kernel, set.initramfs, set.rootfs]) await storeBlob(sha256, bytes)
    const { bootimages } = resolveBootimages(parseMetadata(Buffer.from(newest.text)), stream)
    for (const bootimage of bootimages) {
      records.push({ bootimage, document: newest.row.digest, state: 'ready', firstSeenAt: at, readyAt: at })
    }
  }

  function archive(text, at) {
    const digest = createHash('sha256').update(text).digest('hex')
    writeFileSync(join(dataDir, 'metadata', `${digest}.json`), text)
    const row = {
      digest,
      stream,
      format: 'stream',
      source: pathToFileURL(documentFile).href,
      label: stream,
      sizeBytes: Buffer.byteLength(text),
      firstSeenAt: at,
      lastSeenAt: at,
    }
    const document = { text, row }
    archived.push(row)
    return document
  }

  /** Read and recorded as after a download: the service would read anything else before it believes it. */
  async function storeBlob(sha256, bytes) {
    const path = layout.blob(sha256)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, bytes, { mode: 0o444 })
    const { digest, blob } = await engine.hash(sha256, {}, new AbortController().signal)
    if (digest !== sha256) throw new Error(`${path} is not what was written`)
    await storage.blobIndex.add(blob)
  }

  const ids = records.map(({ bootimage }) => bootimage.id).reverse()
  const [current, ...previous] = ids
  await storage.store.recordRefresh({
    document: newest.row,
    bootimages: records,
    heads: [
      {
        stream,
        arch: 'x86_64',
        current,
        previous: previous.slice(0, 2),
        target: current,
        changedAt: now - dayMs,
      },
    ],
  })
  await engine.close()
  await storage.close()
  await insertDocuments(join(dataDir, 'state.db'), archived)
  writeFileSync(documentFile, newest.text)
  return {
    directory,
    dataDir,
    documentFile,
    hosts,
    configFile: writeConfiguration({ directory, dataDir, documentFile, hosts, allowedUpstreams }),
    artifacts: artifactsOf(records.at(-1).bootimage),
    blobPath: (sha256) => layout.blob(sha256),
  }
}

/** All in one transaction: the store's own way is one commit, and so one sync of the disk, for each. */
async function insertDocuments(file, documents) {
  const db = openSqlite(file)
  await db.transaction().execute(async (transaction) => {
    for (const document of documents) {
      const insert = transaction.insertInto('document').values(documentRow(document))
      await insert.onConflict((conflict) => conflict.doNothing()).execute()
    }
  })
  await db.destroy()
}

/** Ports are left to the system; `startService` asks which. */
function writeConfiguration({ directory, dataDir, documentFile, hosts, allowedUpstreams }) {
  mkdirSync(join(directory, 'hosts.d'), { recursive: true })
  for (let first = 0; first < hosts; first += hostsPerFile) {
    const rack = Array.from({ length: Math.min(hostsPerFile, hosts - first) }, (_, index) =>
      hostOf(first + index),
    )
    const name = `rack-${String(first / hostsPerFile).padStart(4, '0')}.yaml`
    writeFileSync(join(directory, 'hosts.d', name), stringify({ version: 1, hosts: rack }))
  }
  const configFile = join(directory, 'pilotlight.yaml')
  const config = {
    version: 1,
    dataDir,
    boot: { http: { listen: '127.0.0.1:0' } },
    admin: { listen: '127.0.0.1:0' },
    streams: { [stream]: { source: { file: documentFile }, architectures: ['x86_64'], refresh: '1h' } },
    profiles: {
      worker: {
        stream,
        mode: 'live',
        kernelArguments: ['console=tty0', 'console=ttyS0,115200n8'],
        ignition: { url: 'http://192.0.2.20/worker.ign' },
      },
    },
    groups: {
      edge: { match: { labels: { site: 'edge' } }, profile: 'worker' },
      rack1: { match: { labels: { site: 'edge', rack: '1' } }, profile: 'worker' },
    },
    upstream: { allow: allowedUpstreams },
    unknown: { profile: 'worker' },
    hosts: { directory: 'hosts.d' },
  }
  writeFileSync(configFile, stringify(config))
  return configFile
}

function hostOf(index) {
  return { id: `host-${index}`, macs: [macOf(index)], labels: { site: 'edge', rack: String(index % 40) } }
}

/** The address of host `index`; locally administered. */
export function macOf(index) {
  const digits = index.toString(16).padStart(8, '0')
  return ['52', '54', ...digits.match(/../g)].join(':')
}

/** The query with which host `index` asks for its script. */
export function bootQueryOf(index) {
  return `mac=${macOf(index)}&uuid=&serial=&arch=x86_64&platform=efi`
}

function releaseName(at) {
  const day = new Date(at).toISOString().slice(0, 10).replaceAll('-', '')
  return `44.${day}.3.0`
}
