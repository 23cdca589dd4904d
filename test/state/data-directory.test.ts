import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { dataDirectoryPaths, openDataDirectory } from '../../src/state/data-directory.ts'
import { openStateStore } from '../../src/state/open-state-store.ts'

const clock = { now: () => Date.UTC(2026, 10, 29, 12) }

describe('the data directory', () => {
  let parent: string
  let directory: string
  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), 'pilotlight-data-'))
    directory = join(parent, 'deep', 'data')
  })
  afterEach(() => rm(parent, { recursive: true }))

  const open = (pid = process.pid) => openDataDirectory({ directory, clock, pid })
  const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

  it('is created with all its parts, for its owner alone', async () => {
    const data = open()
    const names = (await readdir(directory)).sort()
    expect(names).toEqual([
      'artifacts',
      'incoming',
      'lock',
      'lock.owner',
      'metadata',
      'quarantine',
      'state.db',
    ])
    for (const path of [data.path, data.artifacts, data.incoming, data.quarantine, data.metadata]) {
      expect(await modeOf(path)).toBe('700')
    }
    expect(await modeOf(data.stateFile)).toBe('600')
    data.release()
  })

  it('the journal of the store is as private as the store', async () => {
    const data = open()
    const store = await openStateStore({ file: data.stateFile })
    await store.saveHead({ stream: 's', arch: 'x86_64', previous: [] })
    expect(await modeOf(`${data.stateFile}-wal`)).toBe('600')
    await store.close()
    data.release()
  })

  describe('is refused when others can change what is in it', () => {
    const openAs = (ownUid: number, warnings: string[] = []) =>
      openDataDirectory({ directory, clock, pid: 1, ownUid, onWarning: (text) => warnings.push(text) })
    const me = process.getuid?.() ?? 0

    beforeEach(() => open().release())

    it('because it belongs to another user', async () => {
      // What root owns everybody trusts.
      const owner = me === 0 ? 1234 : me
      if (me === 0) await chown(directory, owner, owner)
      expect(() => openAs(owner + 1)).toThrowError(
        expect.objectContaining({
          code: 'DATA_DIRECTORY_UNUSABLE',
          message: expect.stringContaining(`it belongs to user ${owner}, and this is user ${owner + 1}`),
          details: expect.objectContaining({
            hint: `chown -R ${owner + 1} ${directory}; or run as its owner`,
          }),
        }),
      )
    })

    it('because every user may write there, sticky or not', async () => {
      for (const mode of [0o777, 0o1777]) {
        await chmod(directory, mode)
        expect(() => openAs(me)).toThrowError(
          expect.objectContaining({
            details: expect.objectContaining({
              hint: expect.stringMatching(
                /^chmod o-w .*; or, where that cannot be changed, use a directory below it/,
              ),
            }),
          }),
        )
      }
    })

    it.each(['artifacts', 'artifacts/sha256', 'incoming', 'quarantine', 'metadata'])(
      'because every user may write into %s',
      async (part) => {
        await mkdir(join(directory, part), { recursive: true })
        await chmod(join(directory, part), 0o777)
        expect(() => openAs(me)).toThrowError(expect.objectContaining({ code: 'DATA_DIRECTORY_UNUSABLE' }))
      },
    )

    it.each(['state.db', 'lock', 'metadata'])('because %s is a link', async (part) => {
      await rm(join(directory, part), { recursive: true })
      await writeFile(join(parent, 'elsewhere'), '')
      await symlink(join(parent, 'elsewhere'), join(directory, part))
      expect(() => openAs(me)).toThrowError(
        /is a link, and nothing in a data directory is|is not a directory/,
      )
      expect(await readFile(join(parent, 'elsewhere'), 'utf8')).toBe('')
    })

    it('but only warned of when its group may, as in a volume of Kubernetes', async () => {
      await chmod(directory, 0o2770)
      const warnings: string[] = []
      openAs(me, warnings).release()
      expect(warnings).toEqual([
        `${directory}: its group may write there (mode 2770); close it: chmod g-w ${directory}`,
      ])
    })

    it('but only warned of when the directory above is open: it can be exchanged as a whole', async () => {
      await chmod(join(directory, '..'), 0o777)
      const warnings: string[] = []
      openAs(me, warnings).release()
      expect(warnings).toEqual([expect.stringContaining('can be exchanged for another')])
      await chmod(join(directory, '..'), 0o1777)
      warnings.length = 0
      openAs(me, warnings).release()
      expect(warnings).toEqual([])
    })
  })

  it('is found through a link, as service managers make one', async () => {
    open().release()
    const link = join(parent, 'link')
    await symlink(directory, link)
    openDataDirectory({ directory: link, clock, pid: 1 }).release()
  })

  it('opening it again keeps what is there', async () => {
    open().release()
    await writeFile(join(directory, 'artifacts', 'kept'), 'x')
    const data = open()
    expect(await readFile(join(data.artifacts, 'kept'), 'utf8')).toBe('x')
    data.release()
  })

  it('a second opening is refused, naming the owner and what to do', () => {
    const data = open(4242)
    expect(() => open(4343)).toThrowError(
      expect.objectContaining({
        code: 'DATA_DIRECTORY_LOCKED',
        message: `the data directory ${directory} is in use by process 4242 (since 2026-11-29T12:00:00.000Z): stop that process, or use another directory (--data-dir, PILOTLIGHT_DATA_DIR)`,
        details: { directory, pid: 4242, since: '2026-11-29T12:00:00.000Z' },
      }),
    )
    data.release()
  })

  it('is refused also when the note of its owner is lost or damaged', async () => {
    const data = open()
    for (const damage of [
      () => writeFile(join(directory, 'lock.owner'), '{"pid":"x"}'),
      () => writeFile(join(directory, 'lock.owner'), 'nonsense'),
      () => rm(join(directory, 'lock.owner')),
    ]) {
      await damage()
      expect(() => open()).toThrowError(/is in use by another process/)
    }
    data.release()
  })

  it('a refused opening does not weaken the lock', () => {
    const data = open()
    for (let attempt = 0; attempt < 3; attempt++) expect(() => open()).toThrowError(/is in use/)
    data.release()
    open().release()
  })

  it('can be released twice and is free afterwards', () => {
    const data = open()
    data.release()
    data.release()
    const again = open()
    data.release()
    expect(() => open()).toThrowError(/is in use/)
    again.release()
  })

  it('the note of a dead owner locks nothing', async () => {
    await mkdir(directory, { recursive: true })
    await writeFile(join(directory, 'lock.owner'), '{"pid":1,"since":"2026-01-01T00:00:00.000Z"}')
    open().release()
  })

  it.each([
    [
      'a file where the directory should be',
      () => directory,
      'there is something else that is not a directory',
    ],
    [
      'a file on the way to it',
      () => join(directory, '..'),
      'there is something else that is not a directory',
    ],
    [
      'a file instead of a part',
      () => join(directory, 'metadata'),
      'there is something else that is not a directory',
    ],
  ])('%s is an error that says so', async (_, place, why) => {
    const file = place()
    await mkdir(join(file, '..'), { recursive: true })
    await writeFile(file, '')
    expect(() => open()).toThrowError(
      expect.objectContaining({ code: 'DATA_DIRECTORY_UNUSABLE', message: expect.stringContaining(why) }),
    )
  })

  it('a directory that is refused is not left locked', async () => {
    await mkdir(directory, { recursive: true })
    await writeFile(join(directory, 'incoming'), '')
    expect(() => open()).toThrowError(/incoming cannot be used/)
    await rm(join(directory, 'incoming'))
    open().release()
  })

  it.runIf(process.getuid?.() !== 0)('a directory that may not be written is refused', async () => {
    await mkdir(directory, { recursive: true })
    await chmod(directory, 0o500)
    expect(() => open()).toThrowError(
      expect.objectContaining({
        code: 'DATA_DIRECTORY_UNUSABLE',
        message: expect.stringContaining('this user may not read and write there'),
      }),
    )
    await chmod(directory, 0o700)
  })

  it('a lock that is no file is refused', async () => {
    await mkdir(join(directory, 'lock'), { recursive: true })
    expect(() => open()).toThrowError(
      expect.objectContaining({
        code: 'DATA_DIRECTORY_UNUSABLE',
        message: expect.stringContaining('cannot be locked'),
      }),
    )
  })

  it('its paths can be asked for without touching anything', async () => {
    expect(dataDirectoryPaths(directory).controlSocket).toBe(join(directory, 'control.sock'))
    await expect(stat(directory)).rejects.toThrow('ENOENT')
  })
})
