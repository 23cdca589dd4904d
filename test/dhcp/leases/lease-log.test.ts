import { mkdtemp, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { toIpv4 } from '../../../src/core/ipv4.ts'
import { silentLog } from '../../../src/core/log.ts'
import type { ClientKey } from '../../../src/dhcp/hardware-address.ts'
import type { LeaseChange } from '../../../src/dhcp/leases/lease.ts'
import { createLeaseLog, type LeaseLogFiles } from '../../../src/dhcp/leases/lease-log.ts'
import { leaseLine, parseLeaseLine } from '../../../src/dhcp/leases/lease-record.ts'
import { leaseChanges, testLeaseStore } from '../../contracts/lease-store.ts'
import { createMemoryLeaseStore } from '../../fakes/memory-lease-store.ts'

const directories: string[] = []
let path = ''

async function newPath(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'pilotlight-leases-'))
  directories.push(directory)
  return join(directory, 'dhcp-leases.log')
}

beforeEach(async () => {
  path = await newPath()
})

afterAll(async () => {
  await Promise.all(directories.map((directory) => rm(directory, { recursive: true, force: true })))
})

const openLog = (files?: LeaseLogFiles) =>
  createLeaseLog({ path, log: silentLog, ...(files ? { files } : {}) })

testLeaseStore('the log', async () => {
  const at = await newPath()
  return { open: () => createLeaseLog({ path: at, log: silentLog }) }
})
testLeaseStore('the fake', async () => {
  const stored: LeaseChange[] = []
  return { open: () => createMemoryLeaseStore(stored) }
})

describe('a line of the log', () => {
  it('is readable, and ends with its checksum', () => {
    expect(leaseLine(leaseChanges[0] as LeaseChange)).toBe(
      'leased 192.0.2.55 52:54:00:ab:cd:ef 1795957200 9bd625bc\n',
    )
  })

  it('reads as it was written', () => {
    const change = fc.record({
      kind: fc.constantFrom('leased' as const, 'released' as const),
      address: fc.integer({ min: 0, max: 0xffffffff }).map(toIpv4),
      key: fc.constantFrom('52:54:00:ab:cd:ef', 'id/00ff', 'hw/6/0102') as fc.Arbitrary<ClientKey>,
      until: fc.integer({ min: 0, max: 0xffffffff }),
    })
    fc.assert(
      fc.property(change, (each) => {
        expect(parseLeaseLine(leaseLine(each).trimEnd())).toEqual(each)
      }),
    )
  })

  it('that lost or changed any byte is none', () => {
    const line = leaseLine(leaseChanges[0] as LeaseChange).trimEnd()
    for (let at = 0; at < line.length; at++) {
      expect(parseLeaseLine(line.slice(0, at))).toBeUndefined()
      expect(
        parseLeaseLine(`${line.slice(0, at)}${line[at] === '0' ? '1' : '0'}${line.slice(at + 1)}`),
      ).toBeUndefined()
    }
  })

  it('of any other text is none', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(parseLeaseLine(text)).toBeUndefined()
      }),
    )
  })
})

describe('after a crash', () => {
  it('at any byte of the last append, what was acknowledged before is there, and the log goes on (G7)', async () => {
    const log = openLog()
    await log.append(leaseChanges.slice(0, 3))
    const acknowledged = (await readFile(path)).length
    await log.append(leaseChanges.slice(3))
    await log.close()
    const whole = await readFile(path)
    for (let cut = acknowledged; cut < whole.length; cut++) {
      await writeFile(path, whole.subarray(0, cut))
      const restarted = openLog()
      // Only the end of the line is missing: the change is whole.
      const found = cut === whole.length - 1 ? leaseChanges : leaseChanges.slice(0, 3)
      expect(await restarted.load()).toEqual(found)
      await restarted.append(leaseChanges.slice(0, 1))
      await restarted.close()
      expect(await openLog().load()).toEqual([...found, leaseChanges[0]])
    }
  })

  it('a damaged line in the middle costs that line alone', async () => {
    const log = openLog()
    await log.append(leaseChanges)
    await log.close()
    const bytes = await readFile(path)
    bytes.fill(0, 60, 64)
    await writeFile(path, bytes)
    expect(await openLog().load()).toHaveLength(leaseChanges.length - 1)
  })

  it('during a rewrite, the old state or the new is there', async () => {
    for (const step of ['open', 'rename'] as const) {
      path = await newPath()
      const log = openLog()
      await log.append(leaseChanges)
      await log.close()
      const broken: LeaseLogFiles = {
        open,
        readFile,
        rename,
        rm,
        [step]: () => Promise.reject(new Error('no space left')),
      }
      await expect(openLog(broken).rewrite([])).rejects.toMatchObject({ code: 'STORAGE_FAILED' })
      expect(await openLog().load()).toEqual(leaseChanges)
    }
  })
})

/** A disk that takes only so many bytes, then fails in the middle of a write. */
function fullDisk(capacity: number): LeaseLogFiles & { free(): void } {
  let left = capacity
  return {
    readFile,
    rename,
    rm,
    free() {
      left = Number.POSITIVE_INFINITY
    },
    async open(...where: Parameters<LeaseLogFiles['open']>) {
      const handle = await open(...where)
      return {
        async write(bytes: Buffer, offset: number, length: number, position: null) {
          const result = await handle.write(bytes, offset, Math.min(length, left), position)
          left -= result.bytesWritten
          if (result.bytesWritten < length) throw new Error('ENOSPC: no space left on device')
          return result
        },
        datasync: () => handle.datasync(),
        sync: () => handle.sync(),
        close: () => handle.close(),
      } as unknown as Awaited<ReturnType<LeaseLogFiles['open']>>
    },
  }
}

describe('a disk that is full', () => {
  it('fails the append with a code; when there is space again, nothing acknowledged is lost', async () => {
    for (let capacity = 0; capacity < 200; capacity += 7) {
      path = await newPath()
      const disk = fullDisk(capacity)
      const log = openLog(disk)
      const acknowledged: LeaseChange[] = []
      for (const change of [...leaseChanges, ...leaseChanges, ...leaseChanges]) {
        try {
          await log.append([change])
          acknowledged.push(change)
        } catch (error) {
          expect(error).toMatchObject({ code: 'STORAGE_FAILED' })
          disk.free()
        }
      }
      await log.close()
      expect(acknowledged.length).toBeGreaterThan(9)
      const found = await openLog().load()
      expect(
        found.filter((change) => acknowledged.some((each) => leaseLine(each) === leaseLine(change))).length,
      ).toBeGreaterThanOrEqual(acknowledged.length)
    }
  })
})

describe('a log that has grown', () => {
  it('asks to be rewritten, and not again before it has grown to several times its size', async () => {
    const log = openLog()
    const many = Array.from({ length: 20_000 }, () => leaseChanges[0] as LeaseChange)
    await log.append(many)
    expect(log.isRewriteDue).toBe(true)
    await log.rewrite(leaseChanges)
    expect(log.isRewriteDue).toBe(false)
    await log.append(leaseChanges)
    expect(log.isRewriteDue).toBe(false)
    await log.close()
  })
})
