import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { PinnableRelease, PinSummary } from '../../../src/http/admin/schemas/fleet.ts'
import { createCliHarness, type HarnessOptions } from '../../fakes/cli-harness.ts'
import { samplePin } from '../../fakes/fleet-operations.ts'
import { expectGolden } from '../../fakes/golden.ts'

let cwd: string

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'pilotlight-pin-'))
})
afterEach(() => rm(cwd, { recursive: true, force: true }))

const harness = (options: Omit<HarnessOptions, 'cwd'> = {}) => createCliHarness({ cwd, ...options })

function pinnedTo(operations: ReturnType<typeof harness>['operations']): unknown {
  return operations.fleet.calls.find(({ name }) => name === 'setPin')?.arguments[0]
}

describe('on a terminal, without a release', () => {
  test('it shows what can be had and takes a number', async () => {
    const { run, operations } = harness({ typed: ['2'] })
    const { code, stderr } = await run('pin', 'rack1-n01')
    expect(code).toBe(0)
    expectGolden('cli/pin-choices.txt', stderr)
    expect(operations.fleet.calls[0]).toEqual({ name: 'pinnable', arguments: [{ host: 'rack1-n01' }] })
    expect(pinnedTo(operations)).toMatchObject({ release: '44.20261018.3.0' })
  })

  test('it takes a release by its name, and asks again after one that is not there', async () => {
    const { run, operations, questions } = harness({ typed: ['9', '44.20261101.3.0'] })
    const { code, stderr } = await run('pin', '--group', 'edge')
    expect(code).toBe(0)
    expect(stderr).toContain('9 is none of them\n')
    expect(questions).toHaveLength(2)
    expect(pinnedTo(operations)).toEqual({
      target: { kind: 'group', name: 'edge' },
      release: '44.20261101.3.0',
    })
  })

  test.each([[''], []])('no answer changes nothing', async (...typed) => {
    const { run, operations } = harness({ typed })
    const { code, stderr } = await run('pin', 'rack1-n01')
    expect(code).toBe(2)
    expect(stderr).toContain('no release was chosen, nothing was changed')
    expect(pinnedTo(operations)).toBeUndefined()
  })

  test('a release for several architectures is one line, and the first twenty are shown', async () => {
    const option = (release: string, arch: PinnableRelease['arch']): PinnableRelease => ({
      stream: 's',
      arch,
      release,
      state: 'known',
      isCurrent: false,
    })
    const pinnable = async () =>
      Array.from({ length: 25 }, (_, index) => `44.${index}`).flatMap((release) => [
        option(release, 'x86_64'),
        option(release, 'aarch64'),
      ])
    const { run, operations } = harness({ typed: ['44.24'], answers: { fleet: { pinnable } } })
    const { stderr } = await run('pin', 'rack1-n01')
    expect(stderr).toMatch(/^ 1 {2}44\.0 {5}s {7}x86_64 aarch64 {2}known$/m)
    expect(stderr).toContain('5 more can be named\n')
    expect(pinnedTo(operations)).toMatchObject({ release: '44.24' })
    const { run: forArm, operations: ofArm } = harness({
      typed: ['1'],
      answers: { fleet: { pinnable: async () => [option('44.1', 'x86_64'), option('43.1', 'aarch64')] } },
    })
    await forArm('pin', 'rack1-n01', '--arch', 'aarch64')
    expect(pinnedTo(ofArm)).toMatchObject({ release: '43.1', arch: 'aarch64' })
  })

  test('where nothing can be had it says how to get it', async () => {
    const { code, stderr } = await harness({
      typed: ['1'],
      answers: { fleet: { pinnable: async () => [] } },
    }).run('pin', 'rack1-n01')
    expect(code).toBe(2)
    expect(stderr).toMatch(/no release is known[\s\S]*pilotlight sync/)
  })

  test('a program that reads JSON is not asked', async () => {
    const { run, questions } = harness({ typed: ['1'] })
    expect((await run('pin', 'rack1-n01', '-o', 'json')).code).toBe(2)
    expect(questions).toEqual([])
  })
})

describe('the files of a pin', () => {
  const withFiles = (...states: string[]): PinSummary => ({
    ...samplePin,
    files: states.map((state) => ({ arch: 'x86_64', state })),
  })

  test('that are on their way are told of, and the pin is set', async () => {
    const { run } = harness({ answers: { fleet: { setPin: async () => withFiles('fetching') } } })
    const { code, stderr } = await run('pin', 'rack1-n01', '44.1')
    expect(code).toBe(0)
    expect(stderr).toBe(
      'host rack1-n01 waits until the files are here; pilotlight pins shows how far they are\n',
    )
  })

  test.each([
    [['ready'], 0],
    [['ready', 'failed'], 1],
    [['unresolvable'], 1],
    [['fetching'], 75],
  ])('G5 with --wait %j ends with %i', async (states, expected) => {
    const listPins = async () => ({
      items: [{ ...samplePin, arch: 'aarch64' as const }, withFiles(...states)],
      total: 2,
    })
    const { run, operations } = harness({
      answers: { fleet: { setPin: async () => withFiles('queued'), listPins } },
    })
    const { code } = await run('pin', 'rack1-n01', '44.1', '--wait')
    expect(code).toBe(expected)
    expect(operations.calls).toContainEqual({ name: 'sync', argument: { streams: ['fcos-stable'] } })
  })

  test('that are here need no waiting', async () => {
    const { run, operations } = harness()
    expect((await run('pin', 'rack1-n01', '44.1', '--wait')).code).toBe(0)
    expect(operations.calls).toEqual([])
  })
})
