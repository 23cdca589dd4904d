import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { runCommand } from '../fakes/command-line.ts'
import {
  digestsOfBoot,
  digestsOfSet,
  type RunningService,
  startRunningService,
  untilCurrent,
} from '../fakes/running-service.ts'
import { eventually } from '../fakes/service-process.ts'
import { releaseIndexPath, startUpstreamSite, type UpstreamSite } from '../fakes/upstream-site.ts'

const oldest = '44.20260601.3.0'
const older = '44.20260622.3.0'
const newest = '44.20260707.3.1'
const broken = '44.20260501.3.0'
const never = '43.20251111.3.0'
const [pinnedMac, lostMac, laterMac] = ['52:54:00:00:00:02', '52:54:00:00:00:03', '52:54:00:00:00:04']

function host(id: string, mac: string, release: string) {
  return { id, macs: [mac], profile: 'worker', pin: { release, reason: 'the test says so' } }
}

describe('G5 a pin is exact', () => {
  let site: UpstreamSite
  let service: RunningService

  beforeAll(async () => {
    site = await startUpstreamSite({ releases: [oldest, older, newest], current: newest })
    service = await startRunningService({
      site,
      stream: { keep: 0 },
      hosts: [host('pinned', pinnedMac, oldest), host('lost', lostMac, never)],
    })
    await untilCurrent(service, newest)
  })
  afterAll(async () => {
    await service?.remove()
    await site?.stop()
  })

  it('G5 to a release that only the release index has: fetched when pinned, and booted to the byte', async () => {
    const boot = await service.boot({ mac: pinnedMac })
    expect(digestsOfBoot(boot)).toEqual(digestsOfSet(site.set(oldest)))
    expect(boot.script).toMatch(
      new RegExp(`^# Reason: pinned to ${oldest} by host pinned \\(\\S*hosts\\.d/hosts\\.yaml:3\\)`, 'm'),
    )
    expect((await service.boot()).script).toContain(`sample ${newest}`)
    const pinned = (await service.bootimages()).find(({ release }) => release === oldest)
    expect(pinned).toMatchObject({ state: 'ready', roles: expect.arrayContaining(['pinned']) })
  })

  it('G5 G11 to a release that is nowhere: a script that names it and waits, never another release', async () => {
    for (const script of [await service.script(lostMac), await service.script(lostMac)]) {
      expect(script).toContain(`# Pilotlight: wait sample ${never} x86_64`)
      expect(script).toContain(`# Reason: pinned release ${never} of sample is in no document known here`)
      expect(script).not.toMatch(/\/artifacts\/|^kernel |^boot\b/m)
      for (const other of [oldest, older, newest]) expect(script).not.toContain(other)
    }
    const explained = await service.explain({ host: 'lost', arch: 'x86_64' })
    expect(explained).toMatchObject({ decision: 'wait', release: never })
    expect(service.log()).toContainEqual(expect.objectContaining({ msg: 'pin not resolved', release: never }))
  })

  it('G5 while its files cannot be had, says so, and boots by itself when they can', async () => {
    const rootfs = site.pathOf(older, 'rootfs')
    site.publish(rootfs, undefined)
    const hosts = [host('pinned', pinnedMac, oldest), host('later', laterMac, older)]
    await service.write('hosts.d/hosts.yaml', stringify({ version: 1, hosts }))
    const script = await eventually(
      () => service.script(laterMac),
      (text) => text.includes('could not be fetched'),
    )
    expect(script).toContain(`# Pilotlight: wait sample ${older} x86_64`)
    expect(script).toContain(`# Reason: pinned release ${older} could not be fetched: `)
    expect(script).not.toContain('/artifacts/')

    site.publish(rootfs, site.set(older).rootfs.bytes)
    await service.sync()
    expect(digestsOfBoot(await service.boot({ mac: laterMac }))).toEqual(digestsOfSet(site.set(older)))
  })

  it('G5 field case 136: boots after a kill with upstream gone, its old builds deleted and the index empty', async () => {
    site.publish(releaseIndexPath, JSON.stringify({ stream: 'sample', metadata: {}, releases: [] }))
    for (const role of ['kernel', 'initramfs', 'rootfs'] as const)
      site.publish(site.pathOf(oldest, role), undefined)
    await service.sync()
    await site.goAway()
    await service.restart('SIGKILL')
    expect(digestsOfBoot(await service.boot({ mac: pinnedMac }))).toEqual(digestsOfSet(site.set(oldest)))
    expect((await service.readiness()).ready).toBe(true)
  })

  it('G5 G6 is never evicted: garbage collection without a service removes what no pin, head or boot holds, and nothing else', async () => {
    await service.write(
      'hosts.d/hosts.yaml',
      stringify({ version: 1, hosts: [host('pinned', pinnedMac, oldest)] }),
    )
    await service.restart('SIGTERM')
    await service.kill('SIGTERM')
    const dry = await runCommand('gc', '--dry-run', '--config', service.configFile, '--output', 'json')
    expect(dry.code, dry.stderr).toBe(0)
    const removable = (JSON.parse(dry.stdout) as { removed: { sha256: string }[] }).removed
    const held = [...digestsOfSet(site.set(oldest)), ...digestsOfSet(site.set(newest))]
    expect(removable.map(({ sha256 }) => sha256).filter((sha256) => held.includes(sha256))).toEqual([])
    await service.start()
    expect(digestsOfBoot(await service.boot({ mac: pinnedMac }))).toEqual(digestsOfSet(site.set(oldest)))
  })
})

describe('G5 pin --wait', () => {
  let site: UpstreamSite
  let service: RunningService

  beforeAll(async () => {
    site = await startUpstreamSite({ releases: [broken, oldest, older, newest], current: newest })
    const free = { id: 'free', macs: [pinnedMac], profile: 'worker' }
    service = await startRunningService({ site, stream: { keep: 0 }, hosts: [free] })
    await untilCurrent(service, newest)
  })
  afterAll(async () => {
    await service?.remove()
    await site?.stop()
  })

  const pin = (release: string) =>
    runCommand('pin', 'free', release, '--wait', '--config', service.configFile, '--output', 'json')

  it('ends when a release that must be found and fetched is here', async () => {
    const { code, stdout, stderr } = await pin(oldest)
    expect(code, stderr).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ files: [{ arch: 'x86_64', state: 'ready' }] })
    expect(digestsOfBoot(await service.boot({ mac: pinnedMac }))).toEqual(digestsOfSet(site.set(oldest)))
  })

  it('does the same where no service runs, and says nothing else', async () => {
    await service.kill('SIGTERM')
    const { code, stdout, stderr } = await pin(older)
    expect(code, stderr).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ files: [{ arch: 'x86_64', state: 'ready' }] })
    const unpinned = await runCommand('unpin', 'free', '--config', service.configFile)
    expect(unpinned.stderr).not.toContain('pin not resolved')
  })

  it('ends with 1 when its files cannot be had', async () => {
    site.publish(site.pathOf(broken, 'rootfs'), undefined)
    const { code, stdout } = await pin(broken)
    expect([code, JSON.parse(stdout)]).toMatchObject([1, { files: [{ state: 'failed' }] }])
  })
})

describe('G6 garbage collection', () => {
  it('G6 keeps what a boot in progress holds, takes what nobody needs, and the node finishes', async () => {
    const site = await startUpstreamSite({ releases: [oldest, older, newest] })
    const service = await startRunningService({ site, stream: { keep: 0 } })
    try {
      await untilCurrent(service, oldest)
      const blobStatus = async (release: string) =>
        (await service.get(`/artifacts/${site.set(release).rootfs.sha256}/x`)).status
      let isCollected = false
      const boot = await service.boot({
        async onFetched({ what }) {
          if (what !== 'kernel' || isCollected) return
          isCollected = true
          for (const release of [older, newest]) {
            site.moveTo(release)
            await service.sync()
            await untilCurrent(service, release)
          }
          const running = await service.control<{ removed: unknown[]; postponed?: string }>('/api/v1/gc', {
            dryRun: false,
          })
          // A service that has just started knows too little of boots in progress.
          expect(running.removed).toEqual([])
          expect(running.postponed).toContain('nothing is removed before')

          await service.kill('SIGTERM')
          const { code, stdout, stderr } = await runCommand(
            'gc',
            '--config',
            service.configFile,
            '--output',
            'json',
          )
          expect(code, stderr).toBe(0)
          const { removed } = JSON.parse(stdout) as { removed: { sha256: string }[] }
          const gone = removed.map(({ sha256 }) => sha256).sort()
          expect(gone).toEqual([...digestsOfSet(site.set(older))].sort())
          await service.start()
        },
      })
      expect(digestsOfBoot(boot)).toEqual(digestsOfSet(site.set(oldest)))
      expect(await blobStatus(older)).toBe(404)
      expect(await blobStatus(newest)).toBe(200)
      expect(digestsOfBoot(await service.boot())).toEqual(digestsOfSet(site.set(newest)))
    } finally {
      await service.remove()
      await site.stop()
    }
  })
})
