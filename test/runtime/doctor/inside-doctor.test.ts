import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { loadConfig } from '../../../src/config/load-config.ts'
import { createInsideDoctor } from '../../../src/runtime/doctor/inside-doctor.ts'
import { createFakeOperations } from '../../fakes/admin-operations.ts'

let dataDir: string

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'pilotlight-inside-'))
})
afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

function setUp() {
  let now = Date.parse('2026-11-29T12:00:00Z')
  let looks = 0
  const operations = createFakeOperations()
  const loaded = loadConfig({ env: {}, cwd: dataDir, now, flags: { dataDir } })
  const diagnose = createInsideDoctor({
    loaded: () => loaded,
    operations,
    async listPatterns() {
      looks += 1
      if (looks === 3) throw new Error('not now')
      return operations.boots.listPatterns()
    },
    clock: { now: () => now },
  })
  return {
    diagnose,
    looks: () => looks,
    wait(ms: number) {
      now += ms
    },
  }
}

describe('the doctor inside the service', () => {
  test('reports what it sees of itself', async () => {
    const report = await setUp().diagnose()
    expect(report).toMatchObject({ healthy: true, checkedAt: '2026-11-29T12:00:00.000Z' })
    const checks = report.findings.map(({ check }) => check)
    expect(new Set(checks)).toEqual(
      new Set(['service', 'boots', 'rights', 'upstream', 'disk', 'clock', 'data']),
    )
    expect(report.findings.find(({ check }) => check === 'boots')).toMatchObject({ severity: 'warning' })
  })

  test('looks once for all who ask at once, or shortly afterwards', async () => {
    const { diagnose, looks, wait } = setUp()
    const [first, second] = await Promise.all([diagnose(), diagnose(), diagnose()])
    expect(second).toBe(first)
    wait(4_999)
    expect(await diagnose()).toBe(first)
    expect(looks()).toBe(1)
    wait(1)
    expect(await diagnose()).not.toBe(first)
    expect(looks()).toBe(2)
  })

  test('a clock that was set back does not keep an old report', async () => {
    const { diagnose, looks, wait } = setUp()
    await diagnose()
    wait(-3_600_000)
    await diagnose()
    expect(looks()).toBe(2)
  })

  test('a look that failed is told, and the next one looks again', async () => {
    const { diagnose, looks, wait } = setUp()
    await diagnose()
    wait(10_000)
    await diagnose()
    wait(10_000)
    await expect(diagnose()).rejects.toThrow('not now')
    expect(await diagnose()).toMatchObject({ healthy: true })
    expect(looks()).toBe(4)
  })
})
