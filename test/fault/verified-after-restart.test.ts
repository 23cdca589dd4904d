import {
  appendFile,
  chmod,
  copyFile,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { SampleFile } from '../../src/runtime/demo/sample-release.ts'
import {
  digestOf,
  digestsOfBoot,
  digestsOfSet,
  type RunningService,
  startRunningService,
  untilCurrent,
} from '../fakes/running-service.ts'
import { eventually } from '../fakes/service-process.ts'
import { makeSigner } from '../fakes/signing.ts'
import { makeTemporaryDirectory } from '../fakes/temporary-directory.ts'
import { startUpstreamSite, type UpstreamSite } from '../fakes/upstream-site.ts'

const release = '44.20260601.3.0'
const readAgain = 'files are not as they were when they were verified, they are read again'
let site: UpstreamSite
let service: RunningService

beforeAll(async () => {
  site = await startUpstreamSite({ releases: [release] })
  service = await startRunningService({ site })
})
beforeEach(() => untilCurrent(service, release))
afterAll(async () => {
  await service?.remove()
  await site?.stop()
})

function blobPath({ sha256 }: Pick<SampleFile, 'sha256'>): string {
  return join(service.dataDirectory, 'artifacts/sha256', sha256.slice(0, 2), sha256)
}

/** What an attacker, a bad disk or a bad backup does; size and time are as they were afterwards. */
async function keepingTime(path: string, change: () => Promise<void>): Promise<void> {
  const { atime, mtime } = await stat(path)
  await chmod(path, 0o644)
  await change()
  await utimes(path, atime, mtime)
  await chmod(path, 0o444)
}

async function flipByte(file: SampleFile): Promise<void> {
  const handle = await open(blobPath(file), 'r+')
  try {
    const at = Math.floor(file.bytes.length / 2)
    await handle.write(Buffer.from([(file.bytes[at] ?? 0) ^ 0xff]), 0, 1, at)
  } finally {
    await handle.close()
  }
}

/** Asks for every file of the set until all are served; no body with 200 on the way has another digest. */
async function untilWhole(): Promise<void> {
  const { kernel, initramfs, rootfs } = site.set(release)
  for (const file of [kernel, initramfs, rootfs]) {
    await eventually(
      () => service.get(`/artifacts/${file.sha256}/${file.name}`),
      ({ status, body }) => {
        if (status === 200 && digestOf(body) !== file.sha256) throw new Error('wrong bytes left the service')
        return status === 200
      },
    )
  }
}

/** Over all starts so far. */
const timesRead = () => service.log().filter(({ msg }) => msg === readAgain).length
const fetched = () =>
  (['kernel', 'initramfs', 'rootfs'] as const).map((role) => site.gets(site.pathOf(release, role)))

describe('G1 what happened to verified files while no service ran', () => {
  it('G1 a flipped byte whose time was set back is never served, and is fetched again by itself', async () => {
    const { kernel } = site.set(release)
    const [kernels = 0, ...others] = fetched()
    await service.kill('SIGTERM')
    await keepingTime(blobPath(kernel), () => flipByte(kernel))
    await site.goAway()
    await service.start()

    const { status, headers } = await service.get(`/artifacts/${kernel.sha256}/kernel`)
    expect([status, headers.has('Retry-After')]).toEqual([503, true])
    expect(await service.script('52:54:00:00:00:01')).toContain('Pilotlight: wait sample')
    await eventually(
      () => readdir(join(service.dataDirectory, 'quarantine')),
      (names) => names.includes(kernel.sha256),
    )
    await site.comeBack()
    expect(digestsOfBoot(await service.boot())).toEqual(digestsOfSet(site.set(release)))
    expect(fetched()).toEqual([kernels + 1, ...others])
  })

  it.each<[string, (file: SampleFile, other: SampleFile) => Promise<void>]>([
    ['was cut', ({ sha256, bytes }) => truncate(blobPath({ sha256 }), bytes.length - 1)],
    ['grew', (file) => appendFile(blobPath(file), 'x')],
    ['is a directory', (file) => replaceByDirectory(blobPath(file))],
    ['was swapped with another', (file, other) => swap(blobPath(file), blobPath(other))],
  ])('G1 a file that %s is not served, and is fetched again by itself', async (_what, change) => {
    const { rootfs, initramfs } = site.set(release)
    await service.kill('SIGTERM')
    await change(rootfs, initramfs)
    await service.start()
    await untilWhole()
    expect(digestsOfBoot(await service.boot())).toEqual(digestsOfSet(site.set(release)))
  })

  it('G1 G4 a directory moved to another disk is read again once, and nothing is fetched', async () => {
    const before = fetched()
    const readings = timesRead()
    await service.kill('SIGTERM')
    for (const sha256 of digestsOfSet(site.set(release))) {
      const path = blobPath({ sha256: sha256 as SampleFile['sha256'] })
      await copyLikeRsync(path)
    }
    await site.goAway()
    await service.start()
    await untilWhole()
    await site.comeBack()
    expect(fetched()).toEqual(before)
    expect(timesRead()).toBe(readings + 1)
  })

  it('G7 an untouched directory is believed at once', async () => {
    const readings = timesRead()
    await service.restart('SIGKILL')
    expect((await service.readiness()).status).toBe(200)
    expect(timesRead()).toBe(readings)
  })
})

describe('G1 what happened to signatures while no service ran', () => {
  it('G1 one that is another now is not handed out, its set waits, and a good one is fetched by itself', async () => {
    const keys = await makeTemporaryDirectory()
    const signer = await makeSigner()
    await writeFile(join(keys.path, 'key.asc'), signer.publicKey)
    const signed = await startUpstreamSite({ releases: [release] })
    const { kernel, initramfs, rootfs } = signed.set(release)
    for (const [role, { bytes }] of Object.entries({ kernel, initramfs, rootfs })) {
      const path = signed.pathOf(release, role as 'kernel')
      signed.publish(`${path}.sig`, Buffer.from(await signer.sign(bytes)))
    }
    const strict = await startRunningService({
      site: signed,
      stream: { signatures: 'required', keys: [join(keys.path, 'key.asc')] },
    })
    try {
      await untilCurrent(strict, release)
      const good = (await strict.get(`/artifacts/${kernel.sha256}/kernel.sig`)).body
      await strict.kill('SIGTERM')
      const path = join(strict.dataDirectory, 'artifacts/signatures', `${kernel.sha256}.sig`)
      const { atime, mtime } = await stat(path)
      await writeFile(path, Buffer.alloc(good.length, 1))
      await utimes(path, atime, mtime)
      await signed.goAway()
      await strict.start()
      expect((await strict.get(`/artifacts/${kernel.sha256}/kernel.sig`)).status).not.toBe(200)
      expect(await strict.script('52:54:00:00:00:01')).toContain('Pilotlight: wait sample')
      await signed.comeBack()
      expect(digestsOfBoot(await strict.boot())).toEqual(digestsOfSet(signed.set(release)))
      const { status, body } = await strict.get(`/artifacts/${kernel.sha256}/kernel.sig`)
      expect([status, body.equals(good)]).toEqual([200, true])
      expect(signed.gets(signed.pathOf(release, 'kernel'))).toBe(1)
    } finally {
      await strict.remove()
      await signed.stop()
      await keys.remove()
    }
  })
})

async function replaceByDirectory(path: string): Promise<void> {
  await rm(path)
  await mkdir(path)
  await writeFile(join(path, 'something'), 'in the way')
}

async function swap(one: string, other: string): Promise<void> {
  await rename(one, `${one}.moved`)
  await rename(other, one)
  await rename(`${one}.moved`, other)
}

/** Content, mode and times are the same; inode and change time are new. */
async function copyLikeRsync(path: string): Promise<void> {
  const { atime, mtime } = await stat(path)
  await copyFile(path, `${path}.copy`)
  await utimes(`${path}.copy`, atime, mtime)
  await rename(`${path}.copy`, path)
}
