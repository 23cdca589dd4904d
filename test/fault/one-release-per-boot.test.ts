import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { NodeFetch } from '../../src/runtime/demo/simulated-node.ts'
import {
  digestsOfBoot,
  digestsOfSet,
  type RunningService,
  startRunningService,
  unknownMac,
  untilCurrent,
} from '../fakes/running-service.ts'
import { eventually } from '../fakes/service-process.ts'
import { startUpstreamSite, type UpstreamSite } from '../fakes/upstream-site.ts'

const releases = ['44.20260601.3.0', '44.20260622.3.0', '44.20260707.3.1'] as const
const [first, second, third] = releases
let site: UpstreamSite
let service: RunningService

beforeAll(async () => {
  site = await startUpstreamSite({ releases })
  service = await startRunningService({ site })
  await untilCurrent(service, first)
})
afterAll(async () => {
  await service?.remove()
  await site?.stop()
})

/** Does something once, right after the node has fetched its first file of this kind. */
function once(what: NodeFetch['what'], action: () => Promise<void>) {
  let isDone = false
  return async (fetch: NodeFetch) => {
    if (isDone || fetch.what !== what) return
    isDone = true
    await action()
  }
}

/** The digests in the URLs of a script: kernel, initramfs and rootfs of what it boots. */
function digestsIn(script: string): readonly string[] {
  return [
    ...new Set([...script.matchAll(/\/artifacts\/([0-9a-f]{64})\//g)].map(([, digest]) => digest ?? '')),
  ]
}

/** One short word for a set of files, whatever their order. */
function nameOf(digests: readonly string[]): string {
  return [...digests]
    .sort()
    .map((digest) => digest.slice(0, 8))
    .join()
}

describe('G2 a node that holds a script finishes with the files of that one release', () => {
  it('G2 when the stream moves on after its kernel', async () => {
    const boot = await service.boot({
      onFetched: once('kernel', async () => {
        site.moveTo(second)
        await service.sync()
        await untilCurrent(service, second)
      }),
    })
    expect(digestsOfBoot(boot)).toEqual(digestsOfSet(site.set(first)))
    expect(digestsOfBoot(await service.boot())).toEqual(digestsOfSet(site.set(second)))
  })

  it('G2 when its stream leaves the configuration, and comes back for the next boot', async () => {
    const other = {
      streams: { other: { source: { url: site.streamUrl }, refresh: '1h', signatures: 'off' } },
      profiles: { worker: { stream: 'other', mode: 'live' } },
    }
    const namesOf = async () => (await service.streams()).map(({ name }) => name)
    const boot = await service.boot({
      onFetched: once('script', async () => {
        await service.writeConfig(other)
        service.hangUp()
        await eventually(namesOf, (names) => names.join() === 'other')
      }),
    })
    expect(boot.script).toContain(`sample ${second}`)
    expect(digestsOfBoot(boot)).toEqual(digestsOfSet(site.set(second)))

    await service.writeConfig({})
    service.hangUp()
    await eventually(namesOf, (names) => names.join() === 'sample')
    expect(digestsOfBoot(await service.boot())).toEqual(digestsOfSet(site.set(second)))
  })

  it.each(['SIGKILL', 'SIGTERM'] as const)(
    'G2 G7 when the service is ended by %s between two files, with upstream gone and nobody at hand',
    async (signal) => {
      await site.goAway()
      const boot = await service.boot({
        onFetched: once('initrd', () => service.restart(signal)),
      })
      expect(digestsOfBoot(boot)).toEqual(digestsOfSet(site.set(second)))
      expect(digestsOfBoot(await service.boot())).toEqual(digestsOfSet(site.set(second)))
      await site.comeBack()
    },
  )

  it('G2 G3 every script handed out while the stream moves is all of the old release or all of the new one', async () => {
    const known = [second, third].map((release) => nameOf(digestsOfSet(site.set(release))))
    const seen: string[] = []
    let isOver = false
    const asking = Array.from({ length: 4 }, async () => {
      while (!isOver) seen.push(nameOf(digestsIn(await service.script(unknownMac))))
    })
    site.moveTo(third)
    await service.sync()
    await untilCurrent(service, third)
    isOver = true
    await Promise.all(asking)
    const after = nameOf(digestsIn(await service.script(unknownMac)))
    expect(seen[0]).toBe(known[0])
    expect(seen.filter((name) => !known.includes(name))).toEqual([])
    expect(after).toBe(known[1])
  })
})
