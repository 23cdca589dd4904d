// Owns a data directory and writes one refresh and one change of an admin after another, both at once; each line on
// stdout is a pair that was acknowledged.
// Usage: node state-writer.mjs DIST DIRECTORY
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [, , dist, directory] = process.argv
const load = (path) => import(pathToFileURL(join(dist, path)).href)
const { openDataDirectory } = await load('state/data-directory.js')
const { openStateStore } = await load('state/open-state-store.js')
const { bootimageId } = await load('core/bootimage.js')

const data = openDataDirectory({ directory, clock: Date, pid: process.pid })
const store = await openStateStore({ file: data.stateFile })
const sha256 = (text) => createHash('sha256').update(text).digest('hex')
const file = (role, number) => ({
  role,
  name: role,
  sha256: sha256(`${role} ${number}`),
  location: `https://builds.example/${number}/${role}`,
})

/** Everything of it carries the number, so that half of it would show. */
function changeOf(number) {
  const stamp = { target: { kind: 'host', name: 'n' }, by: 'writer', at: number }
  const changes = [
    {
      put: 'record',
      record: {
        ...{ kind: 'host', name: 'n', spec: { number }, revision: number },
        ...{ createdAt: 1, createdBy: 'writer', changedAt: number, changedBy: 'writer' },
      },
    },
    { put: 'setting', setting: { ...stamp, kind: 'pin', release: `44.${number}` } },
    {
      put: 'install',
      install: {
        ...{ host: 'n', source: 'admin', state: 'armed', generation: number, fileGeneration: 0 },
        ...{ armedAt: 1, armedBy: 'writer', serves: 0, mostServes: 1, until: 2 },
        ...{ changedAt: number, changedBy: 'writer' },
      },
    },
    { put: 'report', report: { bootId: String(number).padStart(22, 'A'), status: 'installed', at: number } },
  ]
  const entry = { by: 'writer', via: 'control', action: 'host.put', target: 'host/n', summary: `${number}` }
  return { changes, audit: [{ ...entry, at: number }] }
}

function refreshOf(number) {
  const release = `44.${number}`
  const setDigest = sha256(`set ${number}`)
  const id = bootimageId('stable', 'x86_64', release, setDigest)
  return {
    document: {
      digest: sha256(`document ${number}`),
      stream: 'stable',
      format: 'stream',
      source: 'https://builds.example/stable.json',
      sizeBytes: 1,
      firstSeenAt: number,
      lastSeenAt: number,
    },
    bootimages: [
      {
        bootimage: {
          id,
          stream: 'stable',
          arch: 'x86_64',
          release,
          kind: 'live',
          setDigest,
          kernel: file('kernel', number),
          initramfs: file('initramfs', number),
          rootfs: file('rootfs', number),
          disks: [],
        },
        document: sha256(`document ${number}`),
        state: 'queued',
        firstSeenAt: number,
      },
    ],
    heads: [{ stream: 'stable', arch: 'x86_64', target: id, previous: [], changedAt: number }],
  }
}

// Of a pair one may be there without the other, when its writer was killed in between.
const refreshed = (await store.listDocuments({ limit: 1 }))[0]?.lastSeenAt ?? 0
const changed = (await store.loadFleet()).records[0]?.revision ?? 0
for (let number = Math.min(refreshed, changed) + 1; ; number++) {
  const writes = []
  if (number > refreshed) writes.push(store.recordRefresh(refreshOf(number)))
  if (number > changed) writes.push(store.writeFleet(changeOf(number)))
  await Promise.all(writes)
  process.stdout.write(`${number}\n`)
}
