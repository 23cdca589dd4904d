import { spawn } from 'node:child_process'
import { existsSync, readdirSync, watch } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { type Kysely, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDataDirectory } from '../../src/state/data-directory.ts'
import { migrate, schemaVersion } from '../../src/state/migrate.ts'
import { migrations } from '../../src/state/migrations/index.ts'
import { openStateStore } from '../../src/state/open-state-store.ts'
import { openSqlite } from '../../src/state/sqlite.ts'
import type { StateStore } from '../../src/state/store.ts'
import type { StateTables } from '../../src/state/tables.ts'

const rounds = process.env.SOAK === undefined ? 20 : 200
const dist = resolve(import.meta.dirname, '../../dist')
const writer = resolve(import.meta.dirname, 'state-writer.mjs')

/** When to kill: so long after the start (which may hit the migration), or after so many acknowledged writes. */
type Moment = { readonly afterMs: number } | { readonly afterWrites: number }

interface Killed {
  /** The last refresh and change it acknowledged; 0 when it did not come that far. */
  readonly acknowledged: number
  readonly errors: string
}

/** Lets a writer own the directory, kills it without warning, and returns when it is gone. */
async function writeUntilKilled(directory: string, moment: Moment): Promise<Killed> {
  const child = spawn(process.execPath, [writer, dist, directory], { stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = new Promise<NodeJS.Signals | null>((done) => child.once('exit', (_, signal) => done(signal)))
  let acknowledged = 0
  let writes = 0
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  const timer = 'afterMs' in moment ? setTimeout(() => child.kill('SIGKILL'), moment.afterMs) : undefined
  const lines = createInterface({ input: child.stdout })
  const drained = new Promise((done) => lines.once('close', done))
  lines.on('line', (line) => {
    acknowledged = Number(line)
    writes++
    if ('afterWrites' in moment && writes === moment.afterWrites) child.kill('SIGKILL')
  })
  const signal = await exited
  clearTimeout(timer)
  await drained
  expect(signal, errors).toBe('SIGKILL')
  return { acknowledged, errors }
}

/** The number of the last change of an admin, which everything that belongs to it says. */
async function changesIn(store: StateStore): Promise<number> {
  const { records, settings, installs } = await store.loadFleet()
  const audit = await store.listAudit({ limit: 1 })
  const reports = await store.listReports({ limit: 1 })
  const number = records[0]?.revision ?? 0
  const said = {
    settings: settings.map((setting) => setting.kind === 'pin' && setting.release),
    installs: installs.map(({ generation }) => generation),
    audit: [audit.total, audit.items[0]?.at],
    reports: [reports.total, reports.items[0]?.at],
  }
  expect(said).toEqual({
    settings: number === 0 ? [] : [`44.${number}`],
    installs: number === 0 ? [] : [number],
    audit: [number, number === 0 ? undefined : number],
    reports: [number, number === 0 ? undefined : number],
  })
  return number
}

describe('a service that is killed while it writes state', () => {
  let directory: string
  beforeEach(async () => {
    expect(existsSync(dist), 'dist/ is there (npm run build)').toBe(true)
    directory = await mkdtemp(join(tmpdir(), 'pilotlight-crash-'))
  })
  afterEach(() => rm(directory, { recursive: true }))

  it(`G7 has kept every acknowledged write and no half of one, ${rounds} times`, {
    timeout: 600_000,
  }, async () => {
    let written = 0
    for (let round = 0; round < rounds; round++) {
      const moment =
        round % 2 === 0
          ? { afterMs: Math.random() * 300 }
          : { afterWrites: 1 + Math.floor(Math.random() * 60) }
      const { acknowledged, errors } = await writeUntilKilled(directory, moment)
      expect(errors).toBe('')

      // The lock went with its owner, and nobody has to clean up.
      const data = openDataDirectory({ directory, clock: Date, pid: process.pid })
      const store = await openStateStore({ file: data.stateFile })
      const numbers = (await store.listDocuments()).map(({ lastSeenAt }) => lastSeenAt).sort((a, b) => a - b)
      const context = `round ${round}, ${JSON.stringify(moment)}`
      expect(numbers.length, context).toBeGreaterThanOrEqual(Math.max(written, acknowledged))
      expect(numbers, context).toEqual(numbers.map((_, index) => index + 1))
      const releases = (await store.listBootimages()).map(({ bootimage }) => bootimage.release)
      expect(releases, context).toEqual(numbers.map((number) => `44.${number}`))
      const heads = await store.listHeads()
      expect(heads[0]?.changedAt ?? 0, context).toBe(numbers.length)
      written = numbers.length
      expect(await changesIn(store), context).toBeGreaterThanOrEqual(acknowledged)
      expect(Math.abs((await changesIn(store)) - written), context).toBeLessThanOrEqual(1)
      await store.close()
      data.release()
    }
    expect(written).toBeGreaterThan(rounds / 2)
  })
})

const oldVersion = 4
const oldRows = 3000

async function withDatabase<T>(file: string, run: (db: Kysely<StateTables>) => Promise<T>): Promise<T> {
  const db = openSqlite<StateTables>(file)
  try {
    return await run(db)
  } finally {
    await db.destroy()
  }
}

/** What a service of before the fleet left behind. */
async function makeOld(directory: string): Promise<void> {
  const data = openDataDirectory({ directory, clock: Date, pid: process.pid })
  await withDatabase(data.stateFile, async (db) => {
    await migrate(db, migrations.slice(0, oldVersion))
    await sql`with recursive number (n) as (select 1 union all select n + 1 from number where n < ${oldRows})
      insert into derived select printf('%064x', n), printf('%064x', n + 1), 'gunzip', n from number`.execute(
      db,
    )
  })
  data.release()
}

/** Starts a writer over it and kills it so long after the copy of before the update is there. */
async function updateUntilKilled(directory: string, afterMs: number): Promise<void> {
  const backups = join(directory, 'backups')
  const child = spawn(process.execPath, [writer, dist, directory], { stdio: 'ignore' })
  const exited = new Promise((done) => child.once('exit', (_, signal) => done(signal)))
  const isCopied = () =>
    existsSync(backups) && readdirSync(backups).some((name) => /^state-v4-.*\.db$/.test(name))
  await new Promise<void>((done) => {
    const watcher = watch(directory, { recursive: true }, () => {
      if (!isCopied()) return
      watcher.close()
      done()
    })
  })
  if (afterMs > 0) await new Promise((done) => setTimeout(done, afterMs))
  child.kill('SIGKILL')
  expect(await exited).toBe('SIGKILL')
}

describe('a service that is killed while it updates the state of an earlier version', () => {
  let base: string
  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), 'pilotlight-update-'))
  })
  afterEach(() => rm(base, { recursive: true }))

  it(`G7 has updated all of it or nothing, and the next start does the rest, ${rounds} times`, {
    timeout: 600_000,
  }, async () => {
    const old = join(base, 'old')
    await makeOld(old)
    const found = new Map<number, number>()
    // Kills come nearer and nearer to the moment in which the update comes into force.
    let [tooEarly, tooLate] = [0, Infinity]
    for (let round = 0; round < rounds; round++) {
      const directory = join(base, String(round))
      await cp(old, directory, { recursive: true })
      const afterMs = tooLate === Infinity ? 2 ** round : (tooEarly + tooLate) / 2
      await updateUntilKilled(directory, afterMs)
      const data = openDataDirectory({ directory, clock: Date, pid: process.pid })
      const version = await withDatabase(data.stateFile, async (db) => {
        const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(db)
        expect(rows).toEqual([{ integrity_check: 'ok' }])
        return schemaVersion(db)
      })
      found.set(version, (found.get(version) ?? 0) + 1)
      expect([oldVersion, migrations.length]).toContain(version)
      if (version === oldVersion) tooEarly = afterMs
      else tooLate = afterMs
      // How long it takes differs from start to start.
      if (tooLate - tooEarly < 1) [tooEarly, tooLate] = [tooEarly * 0.8, tooLate * 1.2]
      const store = await openStateStore({ file: data.stateFile })
      expect(await store.listDerived()).toHaveLength(oldRows)
      expect((await store.loadFleet()).installs.length).toBeLessThanOrEqual(1)
      await store.close()
      data.release()
      await rm(directory, { recursive: true })
    }
    expect([...found.keys()].toSorted()).toEqual([oldVersion, migrations.length])
  })
})
