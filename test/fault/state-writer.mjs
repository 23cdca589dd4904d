// Owns a data directory and records one refresh after another; each line on stdout is a refresh that was acknowledged.
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

let number = (await store.listDocuments({ limit: 1 }))[0]?.lastSeenAt ?? 0
for (;;) {
  number++
  const release = `44.${number}`
  const setDigest = sha256(`set ${number}`)
  const id = bootimageId('stable', 'x86_64', release, setDigest)
  await store.recordRefresh({
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
  })
  process.stdout.write(`${number}\n`)
}
