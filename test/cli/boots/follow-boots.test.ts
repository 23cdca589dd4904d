import { describe, expect, test } from 'vitest'
import { bootNews } from '../../../src/cli/boots/boot-news.ts'
import { type FollowBootsOptions, followBoots } from '../../../src/cli/boots/follow-boots.ts'
import type { Followed } from '../../../src/cli/follow.ts'
import { ServiceError } from '../../../src/core/errors.ts'
import type { BootSummary } from '../../../src/http/admin/schemas/boots.ts'
import { runningBoot, stuckBoot } from '../../fakes/boot-operations.ts'

const over: BootSummary = { ...runningBoot, id: '0mh9xk2r0cccccc', state: 'over', outcome: 'booted' }
const further: BootSummary = { ...runningBoot, step: 'rootfs 900 of 1021 MiB' }
const ended: BootSummary = { ...runningBoot, state: 'over', outcome: 'booted' }

let number = 0
function moved(boot: BootSummary): Followed {
  number += 1
  return { kind: 'event', event: { id: `run-${number}`, type: 'boot', at: 0, data: JSON.stringify(boot) } }
}

async function run(
  followed: readonly Followed[],
  {
    listed = [[]],
    ...options
  }: Partial<FollowBootsOptions> & { listed?: readonly (readonly BootSummary[])[] } = {},
) {
  const shown: string[] = []
  const said: string[] = []
  const lists = [...listed]
  await followBoots({
    boots: {
      async listBoots() {
        const items = lists.shift() ?? []
        return { items, total: items.length }
      },
    },
    async *follow() {
      yield* followed
    },
    filters: {},
    signal: new AbortController().signal,
    show: ({ id, state, step }) => shown.push(`${id} ${state} ${step}`),
    say: (line) => said.push(line),
    newsOf: bootNews,
    ...options,
  })
  return { shown, said }
}

describe('following boots', () => {
  test('begins with those that go on, oldest first, and leaves out what is over already', async () => {
    const { shown } = await run([{ kind: 'gap' }, moved(over)], { listed: [[over, runningBoot, stuckBoot]] })
    expect(shown.map((line) => line.split(' ')[0])).toEqual([stuckBoot.id, runningBoot.id])
  })

  test('a boot that moved is shown; one whose file only came further is not', async () => {
    const { shown } = await run([moved(runningBoot), moved(further), moved(ended)])
    expect(shown).toHaveLength(2)
    expect(shown[1]).toContain(`${runningBoot.id} over`)
  })

  test('a restart is told, and what moved meanwhile is looked at anew', async () => {
    const { shown, said } = await run(
      [
        { kind: 'gap' },
        { kind: 'lost', why: 'the service has stopped answering' },
        { kind: 'resumed' },
        { kind: 'gap' },
      ],
      { listed: [[runningBoot], [ended, stuckBoot]] },
    )
    expect(said).toEqual([
      'the service has stopped answering; going on when the service answers again',
      'the service answers again',
      'some events were missed; what moved meanwhile is shown as it is now',
    ])
    expect(shown.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      `${runningBoot.id} running`,
      `${stuckBoot.id} stuck`,
      `${runningBoot.id} over`,
    ])
  })

  test('a service that goes away while it is looked at is looked at when it is back', async () => {
    const answers = [new ServiceError('SERVICE_UNAVAILABLE', 'gone'), { items: [runningBoot], total: 1 }]
    const boots = {
      async listBoots() {
        const answer = answers.shift()
        if (answer === undefined || answer instanceof Error) throw answer
        return answer
      },
    }
    const followed: Followed[] = [{ kind: 'gap' }, { kind: 'lost', why: 'gone' }, { kind: 'resumed' }]
    expect((await run(followed, { boots })).shown).toHaveLength(1)
  })

  test('any other failure ends it', async () => {
    const listBoots = async () => {
      throw new ServiceError('STATE_UNAVAILABLE', 'the disk is gone')
    }
    await expect(run([{ kind: 'gap' }], { boots: { listBoots } })).rejects.toThrow('the disk is gone')
  })

  test.each([
    [{ host: 'rack1-n01' }, 1],
    [{ host: 'another' }, 0],
    [{ mac: '52-54-00-AB-CD-EF' }, 1],
    [{ state: 'stuck' }, 1],
    [{ outcome: 'booted' }, 1],
    [{ pattern: 'offer-not-followed' }, 1],
    [{ pattern: 'loader-loop' }, 0],
    [{ since: '2026-11-29T11:59:00Z', state: 'stuck' }, 0],
  ] as const)('%j lets %d of three through', async (filters, number) => {
    const stranger = { ...over, host: 'n3', mac: '52:54:00:00:00:03' }
    const { shown } = await run([moved(runningBoot), moved(stuckBoot), moved(stranger)], { filters })
    expect(shown).toHaveLength(number)
  })
})
