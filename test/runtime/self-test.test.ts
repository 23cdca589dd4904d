import { describe, expect, it } from 'vitest'
import type { Finding } from '../../src/doctor/finding.ts'
import { createSelfTest } from '../../src/runtime/self-test/self-test.ts'
import { createManualTime } from '../fakes/manual-time.ts'
import { createRecordingLog } from '../fakes/recording-log.ts'

const missing: Finding = {
  check: 'loaders',
  severity: 'problem',
  what: 'BIOS: there is no undionly.kpxe',
  todo: 'apt install ipxe, or dnf install ipxe-bootimgs-x86',
}
const fine: Finding = { check: 'loaders', severity: 'ok', what: 'UEFI x64: snponly.efi' }

function setup(findings: Finding[]) {
  const time = createManualTime()
  const log = createRecordingLog()
  let looks = 0
  let mendings = 0
  const state = { findings, fails: false }
  const selfTest = createSelfTest({
    async look() {
      looks += 1
      if (state.fails) throw new Error('no memory')
      return state.findings
    },
    lookForMending() {
      mendings += 1
    },
    timers: time,
    log,
  })
  return { time, log, state, selfTest, looks: () => looks, mendings: () => mendings }
}

describe('the self-test', () => {
  it('tells a missing loader with the package that supplies it, in the log and to /readyz, and stays ready (case 50)', async () => {
    const { time, log, selfTest } = setup([fine, missing])
    expect(selfTest.part()).toBeUndefined()
    selfTest.check()
    await time.advance(1_000)
    expect(log.lines).toEqual([
      {
        level: 'warn',
        message: 'self-test found something that machines will miss',
        fields: { what: missing.what, todo: missing.todo },
      },
    ])
    expect(selfTest.part()).toEqual({
      part: 'self-test',
      ready: true,
      reason: 'BIOS: there is no undionly.kpxe (apt install ipxe, or dnf install ipxe-bootimgs-x86)',
    })
  })

  it('is one look for several causes at once, and tells nothing twice', async () => {
    const { time, log, selfTest, looks } = setup([missing])
    for (let times = 0; times < 5; times++) selfTest.check()
    await time.advance(1_000)
    expect(looks()).toBe(1)
    selfTest.check()
    await time.advance(1_000)
    expect(looks()).toBe(2)
    expect(log.lines).toHaveLength(1)
  })

  it('looks every minute while something is missing, says when it is there, and rests then', async () => {
    const { time, log, state, selfTest, looks, mendings } = setup([missing])
    selfTest.check()
    await time.advance(61_000)
    expect(mendings()).toBe(1)
    state.findings = [fine]
    await time.advance(60_000)
    expect(log.lines.at(-1)).toMatchObject({ level: 'info', fields: { what: missing.what } })
    expect(selfTest.part()).toEqual({ part: 'self-test', ready: true })
    const before = looks()
    await time.advance(600_000)
    expect(looks()).toBe(before)
  })

  it('that cannot look says so, and the service goes on', async () => {
    const { time, log, state, selfTest } = setup([])
    state.fails = true
    selfTest.check()
    await time.advance(1_000)
    expect(log.lines.map(({ message }) => message)).toEqual(['self-test could not look'])
    state.fails = false
    selfTest.check()
    await time.advance(1_000)
    expect(selfTest.part()?.ready).toBe(true)
  })

  it('looks no more once it is stopped', async () => {
    const { time, selfTest, looks } = setup([missing])
    selfTest.check()
    await selfTest.stop()
    selfTest.check()
    await time.advance(120_000)
    expect(looks()).toBe(0)
    expect(time.pending).toBe(0)
  })
})
