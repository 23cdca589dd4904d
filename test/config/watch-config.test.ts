import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { LoadedConfig } from '../../src/config/load-config.ts'
import { type ReloadOutcome, watchConfig } from '../../src/config/watch-config.ts'
import { ServiceError } from '../../src/core/errors.ts'
import { createManualTime } from '../fakes/manual-time.ts'
import { type ConfigFolder, configFolder } from './config-folder.ts'

const main = (level: string) => `version: 1\nlog: { level: ${level} }\nhosts: { directory: hosts.d }\n`
const hosts = (id: string) => `version: 1\nhosts: [{ id: ${id}, serial: S }]\n`

function watched(
  folder: ConfigFolder,
  load: (before: LoadedConfig) => LoadedConfig = (before) => folder.load({ before }),
) {
  const time = createManualTime()
  const outcomes: ReloadOutcome[] = []
  const watcher = watchConfig({
    loaded: folder.load(),
    load,
    timers: time,
    onReload: (outcome) => outcomes.push(outcome),
    settleMs: 300,
    pollMs: 10_000,
  })
  onTestFinished(() => watcher.stop())
  return { watcher, time, outcomes, kinds: () => outcomes.map(({ kind }) => kind) }
}

const aFolder = () => configFolder({ 'pilotlight.yaml': main('info'), 'hosts.d/a.yaml': hosts('a') })

describe('watching the configuration', () => {
  it('a changed file is read, and the new configuration handed over', async () => {
    const folder = aFolder()
    const { watcher, time, outcomes } = watched(folder)
    folder.write('pilotlight.yaml', main('debug'))
    await time.advance(10_000)
    expect(outcomes).toMatchObject([{ kind: 'changed', loaded: { config: { log: { level: 'debug' } } } }])
    expect(watcher.current().config.log.level).toBe('debug')
  })

  it.each<[string, (folder: ConfigFolder) => void, readonly string[]]>([
    [
      'a new hosts file',
      (folder) => folder.write('hosts.d/b.yaml', hosts('b').replace('S', 'T')),
      ['a', 'b'],
    ],
    ['a changed one', (folder) => folder.write('hosts.d/a.yaml', hosts('changed')), ['changed']],
    ['a removed one', (folder) => rmSync(join(folder.path, 'hosts.d/a.yaml')), []],
    [
      'one that was replaced by a rename, as editors do',
      (folder) => {
        folder.write('hosts.d/.a.yaml.swp', hosts('z'))
        renameSync(join(folder.path, 'hosts.d/.a.yaml.swp'), join(folder.path, 'hosts.d/a.yaml'))
      },
      ['z'],
    ],
  ])('%s is noticed', async (_, change, ids) => {
    const folder = aFolder()
    const { watcher, time, kinds } = watched(folder)
    change(folder)
    await time.advance(10_000)
    expect(kinds()).toEqual(['changed'])
    expect([...watcher.current().inventory.hostsById.keys()]).toEqual(ids)
  })

  it('an exchanged link of a mounted ConfigMap is noticed', async () => {
    const folder = configFolder({
      '..1/pilotlight.yaml': 'version: 1\nlog: { level: info }\n',
      '..2/pilotlight.yaml': 'version: 1\nlog: { level: warn }\n',
    })
    symlinkSync('..1', join(folder.path, '..data'))
    symlinkSync('..data/pilotlight.yaml', join(folder.path, 'pilotlight.yaml'))
    const { watcher, time } = watched(folder)
    symlinkSync('..2', join(folder.path, '..data_tmp'))
    renameSync(join(folder.path, '..data_tmp'), join(folder.path, '..data'))
    await time.advance(10_000)
    expect(watcher.current().config.log.level).toBe('warn')
  })

  it('a bad edit is reported with its place, keeps what was, and the repair is noticed', async () => {
    const folder = aFolder()
    const { watcher, time, outcomes, kinds } = watched(folder)
    folder.write('pilotlight.yaml', main('loud'))
    await time.advance(10_000)
    const message = expect.stringMatching(/^pilotlight.yaml:2:15: log.level: found "loud"/)
    expect(outcomes).toEqual([
      { kind: 'refused', error: expect.objectContaining({ code: 'CONFIG_INVALID', message }) },
    ])
    expect(watcher.current().config.log.level).toBe('info')

    await time.advance(60_000)
    expect(kinds()).toEqual(['refused'])

    folder.write('pilotlight.yaml', main('warn'))
    await time.advance(10_000)
    expect(kinds()).toEqual(['refused', 'changed'])
    expect(watcher.current().config.log.level).toBe('warn')
  })

  it('a file that only the refused configuration named is waited for', async () => {
    const folder = aFolder()
    const { time, kinds } = watched(folder)
    folder.write('pilotlight.yaml', `${main('info')}keys: [keys/fedora.asc]\n`)
    await time.advance(10_000)
    expect(kinds()).toEqual(['refused'])
    folder.write('keys/fedora.asc', '-----BEGIN PGP PUBLIC KEY BLOCK-----')
    await time.advance(10_000)
    expect(kinds()).toEqual(['refused', 'changed'])
  })

  it('a configuration that is gone is refused, and is back when it is back', async () => {
    const folder = aFolder()
    const { time, kinds } = watched(folder)
    renameSync(join(folder.path, 'pilotlight.yaml'), join(folder.path, 'away'))
    await time.advance(10_000)
    renameSync(join(folder.path, 'away'), join(folder.path, 'pilotlight.yaml'))
    await time.advance(10_000)
    expect(kinds()).toEqual(['refused', 'unchanged'])
  })

  it('nothing is read while nothing changed, whatever happens beside', async () => {
    const folder = aFolder()
    const load = vi.fn((before: LoadedConfig) => folder.load({ before }))
    const { time } = watched(folder, load)
    for (let index = 0; index < 50; index++) folder.write(`data/state-${index}`, 'x')
    await time.advance(60_000)
    expect(load).not.toHaveBeenCalled()
  })

  it('a touched file that says the same is unchanged', async () => {
    const folder = aFolder()
    const { time, kinds } = watched(folder)
    folder.write('pilotlight.yaml', main('info'))
    await time.advance(10_000)
    expect(kinds()).toEqual(['unchanged'])
  })

  it('the operating system gives the sign, so that nobody waits for the poll', async () => {
    const folder = aFolder()
    const { time, kinds } = watched(folder)
    const beforeTheSign = time.pending
    folder.write('hosts.d/a.yaml', hosts('b'))
    await vi.waitFor(() => expect(time.pending).toBeGreaterThan(beforeTheSign))
    await time.advance(300)
    expect(kinds()).toEqual(['changed'])
  })

  it('SIGHUP reads at once, also when nothing changed', () => {
    const { watcher, kinds } = watched(aFolder())
    expect(watcher.reload()).toEqual({ kind: 'unchanged' })
    expect(kinds()).toEqual(['unchanged'])
  })

  it('a defect while loading is refused like a mistake', () => {
    const { watcher } = watched(aFolder(), () => {
      throw new TypeError('unreachable')
    })
    expect(watcher.reload()).toMatchObject({ kind: 'refused', error: { code: 'INTERNAL' } })
    expect((watcher.reload() as { error: ServiceError }).error).toBeInstanceOf(ServiceError)
  })

  it('after the end there is neither a timer nor a look', async () => {
    const folder = aFolder()
    const { watcher, time, outcomes } = watched(folder)
    watcher.stop()
    watcher.stop()
    folder.write('pilotlight.yaml', main('debug'))
    await time.advance(60_000)
    expect(time.pending).toBe(0)
    expect(outcomes).toEqual([])
  })

  it('a hosts directory that is exchanged as a whole is followed', async () => {
    const folder = aFolder()
    const { watcher, time } = watched(folder)
    mkdirSync(join(folder.path, 'next'))
    folder.write('next/b.yaml', hosts('b'))
    renameSync(join(folder.path, 'hosts.d'), join(folder.path, 'old'))
    renameSync(join(folder.path, 'next'), join(folder.path, 'hosts.d'))
    await time.advance(10_000)
    expect([...watcher.current().inventory.hostsById.keys()]).toEqual(['b'])
    folder.write('hosts.d/b.yaml', hosts('c'))
    await time.advance(10_000)
    expect([...watcher.current().inventory.hostsById.keys()]).toEqual(['c'])
  })
})
