import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { makeSampleRelease } from '../../src/runtime/demo/sample-release.ts'
import { type SampleUpstream, startSampleUpstream } from '../../src/runtime/demo/sample-upstream.ts'
import { bootSimulatedNode } from '../../src/runtime/demo/simulated-node.ts'
import { askControl } from '../fakes/running-service.ts'
import { eventually, type ServiceProcess, startServiceProcess } from '../fakes/service-process.ts'

const rounds = process.env.SOAK === undefined ? 20 : 100
const sizes = { kernelBytes: 1 << 20, initramfsBytes: 4 << 20, rootfsBytes: 24 << 20 }
const releaseOf = (round: number) => `44.2026${String(1000 + round).slice(-4)}.3.0`

let directory: string
let config: string
let upstream: SampleUpstream
let service: ServiceProcess | undefined

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pilotlight-crash-'))
  // A few sets of bytes under many names: each round has something to fetch, and the test's memory stays small.
  const made = Array.from({ length: 4 }, (_, index) =>
    makeSampleRelease(`44.2026000${index}.3.0`, ['x86_64'], sizes),
  )
  const releases = Array.from({ length: rounds + 1 }, (_, round) => ({
    release: releaseOf(round),
    sets: made[round % made.length]?.sets ?? [],
  }))
  upstream = await startSampleUpstream({
    releases,
    current: releaseOf(0),
    lastModified: '2026-07-08T12:00:00Z',
  })
  config = join(directory, 'pilotlight.yaml')
  await writeFile(join(directory, 'key.asc'), upstream.publicKey)
  await writeFile(
    config,
    stringify({
      version: 1,
      dataDir: join(directory, 'data'),
      boot: { http: { listen: '127.0.0.1:0' } },
      admin: { listen: '127.0.0.1:0' },
      streams: {
        sample: {
          source: { url: upstream.streamUrl },
          keep: 0,
          signatures: 'required',
          keys: ['key.asc'],
          changes: { rolledBack: 'follow', republished: 'follow' },
        },
      },
      profiles: { worker: { stream: 'sample', mode: 'live' } },
      unknown: { profile: 'worker' },
    }),
  )
}, 120_000)

afterAll(async () => {
  await service?.kill()
  await upstream?.stop()
  await rm(directory, { recursive: true, force: true })
})

/** Every name in the blob store is the digest of what is in the file. */
async function expectWholeBlobs(): Promise<number> {
  const blobs = join(directory, 'data/artifacts/sha256')
  let count = 0
  for (const shard of await readdir(blobs)) {
    for (const name of await readdir(join(blobs, shard))) {
      const found = createHash('sha256')
        .update(await readFile(join(blobs, shard, name)))
        .digest('hex')
      expect(found).toBe(name)
      count += 1
    }
  }
  return count
}

it(`G7 killed ${rounds} times at random points, the service never shows a half file and needs no hand`, async () => {
  let seed = 20261129
  const random = () => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31
    return seed / 2 ** 31
  }
  for (let round = 0; round < rounds; round += 1) {
    upstream.moveTo(releaseOf(round))
    service = await startServiceProcess(config)
    await new Promise((resolve) => setTimeout(resolve, random() * 600))
    await service.kill()
    await expectWholeBlobs()
  }

  upstream.moveTo(releaseOf(rounds))
  service = await startServiceProcess(config)
  const { bootUrl } = service
  await eventually(
    () => askControl(join(directory, 'data/control.sock'), 'GET', '/api/v1/streams'),
    (answer) => JSON.stringify(answer).includes(`"current":"${releaseOf(rounds)}"`),
  )
  const boot = await bootSimulatedNode({
    baseUrl: bootUrl,
    mac: '52:54:00:00:00:01',
    buildArch: 'x86_64',
    platform: 'efi',
    sleep: async () => {},
  })
  expect(boot.fetches.map(({ what }) => what)).toEqual(['entry', 'script', 'kernel', 'initrd', 'rootfs'])
  expect(boot.script).toContain(releaseOf(rounds))
  expect(await expectWholeBlobs()).toBeGreaterThanOrEqual(3)
  await service.kill('SIGTERM')
  // What a superseded release left is kept for a day, because it can be continued; nothing else stays behind.
  const incoming = await readdir(join(directory, 'data/incoming'))
  const notes = incoming.filter((name) => name.endsWith('.resume'))
  expect(incoming.filter((name) => !name.endsWith('.resume')).sort()).toEqual(
    notes.map((name) => name.slice(0, -'.resume'.length)).sort(),
  )
}, 600_000)
