import { describe, expect, test } from 'vitest'
import { type WatchOptions, watchBoot } from '../../../src/cli/boots/watch-boot.ts'
import { ServiceError } from '../../../src/core/errors.ts'
import type { BootDetail } from '../../../src/http/admin/schemas/boots.ts'
import { sampleBootDetail } from '../../fakes/boot-operations.ts'

const running: BootDetail = sampleBootDetail
const booted: BootDetail = { ...running, state: 'over', outcome: 'booted' }
const superseded: BootDetail = { ...running, state: 'over', outcome: 'superseded' }
const next: BootDetail = { ...running, id: '0mh9xk2r0bbbbbb' }
const nextBooted: BootDetail = { ...next, state: 'over', outcome: 'booted' }
const nothing = new ServiceError('NOT_FOUND', 'no boot')
const gone = new ServiceError('SERVICE_UNAVAILABLE', 'the service has stopped answering')

/** The answers to one question after the other; the last one is kept. Each look takes a second. */
async function watch(answers: readonly (BootDetail | Error)[], options: Partial<WatchOptions> = {}) {
  const told: string[] = []
  let asked = 0
  let now = Date.parse('2026-11-29T12:00:00Z')
  const end = await watchBoot({
    boots: {
      async showBoot(id) {
        if (id !== 'rack1-n01')
          return answers.find(
            (known) => 'id' in known && known.id === id && known.state === 'over',
          ) as BootDetail
        const answer = answers[Math.min(asked, answers.length - 1)]
        asked += 1
        if (answer === undefined || answer instanceof Error) throw answer ?? nothing
        return answer
      },
    },
    machine: 'rack1-n01',
    view: {
      show: ({ id, outcome, state }) => told.push(`${id} ${outcome ?? state}`),
      tell: (line) => told.push(line),
    },
    sleep: async () => {
      now += 1000
    },
    now: () => now,
    signal: new AbortController().signal,
    intervalMs: 1000,
    timeoutMs: 60_000,
    ...options,
  })
  return { end: end.kind === 'over' ? `${end.boot.id} ${end.boot.outcome}` : end.kind, told }
}

describe('watching a machine', () => {
  test('shows the boot that goes on, and ends with it', async () => {
    expect(await watch([running, running, booted])).toEqual({
      end: `${running.id} booted`,
      told: [`${running.id} running`, `${running.id} running`, `${running.id} booted`],
    })
  })

  test('one whose last boot is over waits for the next one', async () => {
    expect(await watch([booted, booted, next, nextBooted])).toEqual({
      end: `${next.id} booted`,
      told: [
        'waiting for rack1-n01 to boot: its last one is over (booted)',
        `${next.id} running`,
        `${next.id} booted`,
      ],
    })
  })

  test('one that never booted is waited for', async () => {
    const { end, told } = await watch([nothing, nothing, nextBooted])
    expect(end).toBe(`${next.id} booted`)
    expect(told[0]).toBe('waiting for rack1-n01 to boot: no boot of it was seen yet')
  })

  test('a boot that is over counts when it began since', async () => {
    const since = Date.parse(booted.startedAt)
    expect((await watch([booted], { since })).end).toBe(`${running.id} booted`)
    expect((await watch([booted], { since: since + 1 })).end).toBe('timeout')
  })

  test('a machine that begins anew is watched on', async () => {
    expect(await watch([running, superseded, next, nextBooted])).toEqual({
      end: `${next.id} booted`,
      told: [
        `${running.id} running`,
        `${running.id} superseded`,
        'rack1-n01 began anew',
        `${next.id} running`,
        `${next.id} booted`,
      ],
    })
  })

  test('a boot that ended between two looks ends it, whatever came after', async () => {
    expect((await watch([running, next, booted])).end).toBe(`${running.id} booted`)
  })

  test('a service that is restarted is asked again, and that is told once', async () => {
    expect(await watch([running, gone, gone, booted])).toEqual({
      end: `${running.id} booted`,
      told: [
        `${running.id} running`,
        'the service has stopped answering; asking again until it does',
        'the service answers again',
        `${running.id} booted`,
      ],
    })
  })

  test('the time is up', async () => {
    expect((await watch([running])).end).toBe('timeout')
    expect((await watch([gone])).end).toBe('timeout')
    expect((await watch([nothing])).end).toBe('timeout')
  })

  test('Ctrl-C ends it', async () => {
    const typed = new AbortController()
    const sleep = async () => typed.abort('SIGINT')
    expect((await watch([running], { signal: typed.signal, sleep })).end).toBe('interrupted')
  })

  test('any other failure is told', async () => {
    await expect(watch([new ServiceError('USAGE', 'no')])).rejects.toThrow('no')
  })
})
