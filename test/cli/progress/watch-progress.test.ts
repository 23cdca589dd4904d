import { expect, test } from 'vitest'
import { withProgress } from '../../../src/cli/progress/watch-progress.ts'
import type { BootimageSummary } from '../../../src/http/admin/operations.ts'

function downloading(doneBytes: number): BootimageSummary {
  return {
    id: 'a',
    stream: 's',
    arch: 'x86_64',
    release: '44',
    kind: 'live',
    state: 'downloading',
    roles: [],
    setDigest: '0',
    artifacts: [],
    doneBytes,
    totalBytes: 100,
  }
}

/** Runs work that lasts as long as there are answers to show, without any real time. */
async function show(
  answers: (readonly BootimageSummary[] | Error)[],
  isTTY: boolean,
  columns = 80,
): Promise<string> {
  let written = ''
  const stream = { isTTY, columns, write: (text: string) => (written += text) }
  let finish = (_: string) => {}
  const work = new Promise<string>((resolve) => {
    finish = resolve
  })
  const operations = {
    bootimages: async () => {
      const answer = answers.shift()
      if (answer === undefined) return []
      if (answer instanceof Error) throw answer
      return answer
    },
  }
  const sleep = async (_: number, signal: AbortSignal) => {
    if (answers.length > 0) return
    finish('done')
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
  }
  expect(await withProgress({ operations, stream, sleep }, () => work)).toBe('done')
  return written
}

test('on a terminal one line changes and is gone at the end', async () => {
  const written = await show([[downloading(10)], [downloading(20)]], true)
  expect(written).toBe(
    's x86_64 44: downloading 10 % (10 B of 100 B)\r\u001b[Ks x86_64 44: downloading 20 % (20 B of 100 B)\r\u001b[K',
  )
})

test('a terminal that does not know its width gets whole lines', async () => {
  expect(await show([[downloading(10)]], true, 0)).toContain('downloading 10 % (10 B of 100 B)')
})

test('elsewhere there is a plain line a step, without control characters', async () => {
  const written = await show(
    [[downloading(10)], [downloading(12)], [downloading(50)], [{ ...downloading(100), state: 'verifying' }]],
    false,
  )
  expect(written.split('\n')).toEqual([
    's x86_64 44: downloading 10 % (10 B of 100 B)',
    's x86_64 44: downloading 50 % (50 B of 100 B)',
    's x86_64 44: verifying 100 % (100 B of 100 B)',
    '',
  ])
})

test('without a total there is a line for every 100 MiB', async () => {
  const MiB = 1024 * 1024
  const answers = [0, 50, 120, 150, 210].map((done) => {
    const { totalBytes: _, ...rest } = downloading(done * MiB)
    return [rest]
  })
  expect((await show(answers, false)).trimEnd().split('\n')).toEqual([
    's x86_64 44: downloading',
    's x86_64 44: downloading 120 MiB',
    's x86_64 44: downloading 210 MiB',
  ])
})

test('a question that fails does not fail the work', async () => {
  expect(await show([new Error('gone'), [downloading(10)]], false)).toContain('10 %')
})

test('the error of the work is passed on and the line is taken away', async () => {
  let written = ''
  const stream = { isTTY: true, write: (text: string) => (written += text) }
  const operations = { bootimages: async () => [downloading(1)] }
  let fail = (_: Error) => {}
  const work = new Promise<never>((_, reject) => {
    fail = reject
  })
  let rounds = 0
  const sleep = async (_: number, signal: AbortSignal) => {
    rounds += 1
    if (rounds === 1) return
    fail(new Error('broken'))
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
  }
  await expect(withProgress({ operations, stream, sleep }, () => work)).rejects.toThrow('broken')
  expect(written.endsWith('\r\u001b[K')).toBe(true)
})
