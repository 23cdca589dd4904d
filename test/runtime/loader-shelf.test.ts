import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createLoaderShelf } from '../../src/runtime/loader-shelf.ts'
import { makeIpxe } from '../fakes/loader-images.ts'
import { createManualTime } from '../fakes/manual-time.ts'
import { createRecordingLog } from '../fakes/recording-log.ts'
import { makeTemporaryDirectory, type TemporaryDirectory } from '../fakes/temporary-directory.ts'

let folder: TemporaryDirectory
const at = (name: string) => join(folder.path, name)

beforeEach(async () => {
  folder = await makeTemporaryDirectory()
  for (const name of ['a', 'b']) mkdirSync(at(name))
  writeFileSync(at('a/ipxe.efi'), makeIpxe())
})
afterEach(() => folder.remove())

it('is read at the start, with the configuration, and when a file is not as it was, but not all the time', async () => {
  const time = createManualTime(0)
  const log = createRecordingLog()
  const from = (name: string) => ({ directories: [at(name)], defaults: [], sets: new Map() })
  const shelf = createLoaderShelf({ directories: from('a'), clock: time, log })
  const digest = () => shelf.current().loaders.get('ipxe.efi')?.sha256
  const first = digest()
  expect(first).toBeDefined()

  writeFileSync(at('a/ipxe.efi'), makeIpxe({ words: ['https'] }))
  expect(digest()).toBe(first)
  shelf.refresh()
  const second = digest()
  expect(second).not.toBe(first)

  writeFileSync(at('a/ipxe.efi'), makeIpxe({ words: ['vcreate'] }))
  shelf.refresh()
  expect(digest()).toBe(second)
  await time.advance(5_000)
  shelf.refresh()
  expect(digest()).not.toBe(second)

  shelf.configure(from('b'))
  expect(digest()).toBeUndefined()
})

it('is read again when a file is not as it was, though the clock was set back', () => {
  let now = Date.UTC(2046, 10, 30)
  const directories = { directories: [at('a')], defaults: [], sets: new Map() }
  const shelf = createLoaderShelf({ directories, clock: { now: () => now }, log: createRecordingLog() })
  const digest = () => shelf.current().loaders.get('ipxe.efi')?.sha256
  shelf.refresh()
  const first = digest()
  now = Date.UTC(2026, 10, 30)
  writeFileSync(at('a/ipxe.efi'), makeIpxe({ words: ['https'] }))
  shelf.refresh()
  expect(digest()).not.toBe(first)
})

it('says once what of it cannot be served', () => {
  writeFileSync(at('a/snponly-arm64.efi'), makeIpxe())
  const log = createRecordingLog()
  createLoaderShelf({
    directories: { directories: [at('a')], defaults: [], sets: new Map([['empty', at('b')]]) },
    clock: createManualTime(0),
    log,
  })
  expect(log.lines.map(({ level, message }) => [level, message])).toEqual([
    ['warn', 'loader not served'],
    ['warn', 'loader set cannot boot'],
  ])
})
