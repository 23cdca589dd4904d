import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { createCliHarness } from '../../fakes/cli-harness.ts'

test.each([['no'], ['y'], []])('the answer %j restores nothing', async (...typed) => {
  const { run, operations, opened } = createCliHarness({ cwd: tmpdir(), typed })
  const { code, stderr } = await run('restore', 'b.db')
  expect(code).toBe(2)
  expect(stderr).toContain('the answer was not yes, nothing was changed')
  expect([...opened, ...operations.fleet.calls]).toEqual([])
})

test('the answer yes restores, after a question that names the file', async () => {
  const { run, operations, questions } = createCliHarness({ cwd: '/w', typed: ['yes'] })
  expect((await run('restore', 'b.db')).code).toBe(0)
  expect(questions).toEqual([expect.stringContaining('by those of /w/b.db?')])
  expect(operations.fleet.calls).toHaveLength(1)
})
