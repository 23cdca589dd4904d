import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { DiskFile } from '../../src/tftp/files.ts'
import type { TftpServerOptions } from '../../src/tftp/server.ts'
import { loadKernelUdp } from '../../src/udp/kernel-udp.ts'
import { type ClientOptions, readByTftp } from '../fakes/tftp-client.ts'
import { patterned, type ServiceUnderTest, sha256, startService } from '../fakes/tftp-service.ts'

const mebibyte = 1024 * 1024

const kernel = await loadKernelUdp()
if (kernel === undefined) console.log('koffi is not installed: the kernel interface is not tried here')
/** The kernel interface where it is there. */
const best = kernel === undefined ? {} : { kernel }

let folder: string
let service: ServiceUnderTest | undefined

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tftp-large-'))
})
afterAll(async () => {
  await rm(folder, { recursive: true })
})
afterEach(async () => {
  await service?.server.stop()
  service = undefined
})

async function onDisk(name: string, sizeBytes: number): Promise<{ file: DiskFile; digest: string }> {
  const bytes = patterned(sizeBytes)
  const path = join(folder, name)
  await writeFile(path, bytes)
  return { file: { kind: 'disk', path, sizeBytes, id: path }, digest: sha256(bytes) }
}

function read(from: ServiceUnderTest, name: string, more: Partial<ClientOptions> = {}) {
  return readByTftp({
    server: { address: from.address, port: from.port },
    name,
    giveUpAfterMs: 60_000,
    ...more,
  })
}

describe('more blocks than numbers (case 67)', () => {
  it('70 MiB at 512 bytes, in lock-step', { timeout: 60_000 }, async () => {
    const { file, digest } = await onDisk('kernel', 70 * mebibyte)
    service = await startService({ kernel: file })
    // A busy machine must not make the timer speak in between.
    const result = await read(service, 'kernel', { options: { timeout: 10 } })
    expect(result).toMatchObject({
      outcome: 'complete',
      sizeBytes: file.sizeBytes,
      sha256: digest,
      packets: 143_362,
    })
  })

  it('in windows of sixteen over the wrap, with losses around it', { timeout: 60_000 }, async () => {
    const { file, digest } = await onDisk('small-blocks', 1_200_000)
    service = await startService({ kernel: file }, best)
    const result = await read(service, 'kernel', {
      options: { blksize: 16, windowsize: 16 },
      isLost: (packet) =>
        packet % 9_973 === 5_000 || (packet > 65_500 && packet < 65_600 && packet % 7 === 0),
    })
    expect(result).toMatchObject({ outcome: 'complete', sizeBytes: 1_200_000, sha256: digest })
  })

  it('with 1 after 65535, where the operator wants it', { timeout: 60_000 }, async () => {
    const { file, digest } = await onDisk('wrap-to-one', 600_000)
    service = await startService({ kernel: file }, { ...best, wrap: 1 })
    const options = { blksize: 8, windowsize: 64 }
    const result = await read(service, 'kernel', { options, wrapToOne: true })
    expect(result).toMatchObject({ outcome: 'complete', sizeBytes: 600_000, sha256: digest })
  })
})

describe('many at once', () => {
  it('a cache smaller than the file, clients at different places', { timeout: 60_000 }, async () => {
    const { file, digest } = await onDisk('initramfs', 12 * mebibyte)
    service = await startService({ initramfs: file }, { ...best, cacheBytes: mebibyte })
    const from = service
    const results = await Promise.all(
      [512, 1024, 1468, 1024].map((blksize) =>
        read(from, 'initramfs', { options: { blksize, windowsize: 16 } }),
      ),
    )
    expect(results.map(({ sha256: found }) => found)).toEqual(Array(4).fill(digest))
  })

  const ways: readonly (Pick<TftpServerOptions, 'kernel' | 'ports'> & { readonly how: string })[] = [
    { how: 'by plain sends' },
    ...(kernel === undefined
      ? []
      : [
          { how: 'by the kernel, few ports', kernel },
          { how: 'by the kernel, one port', kernel, ports: { mode: 'single' } as const },
        ]),
  ]

  it.each(ways)(
    '500 machines read 1 MiB each, and the file is in memory once, $how (case 78)',
    { timeout: 60_000 },
    async ({ how: _, ...way }) => {
      const { file, digest } = await onDisk('ipxe.efi', mebibyte)
      service = await startService({ 'ipxe.efi': file }, { mtuOf: () => 9000, ...way })
      const from = service
      const options = { tsize: 0, blksize: 8968, windowsize: 4 }
      await read(from, 'ipxe.efi', { options })
      const before = process.memoryUsage().rss
      const results = await Promise.all(
        Array.from({ length: 500 }, () => read(from, 'ipxe.efi', { options, repeatAfterMs: 5_000 })),
      )
      const grownBytes = process.memoryUsage().rss - before
      expect(results.filter(({ sha256: found }) => found === digest)).toHaveLength(500)
      expect(results.reduce((sum, { repeats }) => sum + repeats, 0)).toBe(0)
      // The clients are in this process, too; a copy for each transfer would be 500 MiB.
      expect(grownBytes).toBeLessThan(200 * mebibyte)
      const troubles = ['ignored', 'refused', 'segmentation-failed']
      expect(from.events.filter(({ type }) => troubles.includes(type))).toEqual([])
    },
  )
})
