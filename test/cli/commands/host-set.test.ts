import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ServiceError } from '../../../src/core/errors.ts'
import type { FleetOperations } from '../../../src/http/admin/fleet-operations.ts'
import { createCliHarness, type HarnessOptions } from '../../fakes/cli-harness.ts'
import { sampleGroup, sampleHost } from '../../fakes/fleet-operations.ts'

let cwd: string

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'pilotlight-set-'))
})
afterEach(() => rm(cwd, { recursive: true, force: true }))

const harness = (fleet: Partial<FleetOperations> = {}, options: Partial<HarnessOptions> = {}) =>
  createCliHarness({ cwd, answers: { fleet }, ...options })

function bodyOf(operations: ReturnType<typeof harness>['operations']): unknown {
  return operations.fleet.calls.find(({ name }) => /^put/.test(name))?.arguments.at(-2)
}

test('a host of a file is for the keeper of the records to refuse', async () => {
  const { spec: _, revision: __, ...rest } = sampleHost
  const showHost = async () => ({ ...rest, source: 'file' as const, origin: 'hosts.d/rack1.yaml:5' })
  const putHost = () => Promise.reject(new ServiceError('CONFLICT', 'declared in hosts.d/rack1.yaml:5'))
  const { run, operations } = harness({ showHost, putHost })
  const { code, stderr } = await run('host', 'set', 'a', '--profile', 'x')
  expect(code).toBe(1)
  expect(stderr).toContain('declared in hosts.d/rack1.yaml:5')
  expect(operations.fleet.calls.at(-1)?.arguments.at(-1)).toEqual({
    actor: { by: 'alice', via: 'control' },
  })
})

test('a file takes the place of the record, and options change it', async () => {
  await writeFile(join(cwd, 'a.yaml'), 'macs: [52:54:00:00:00:09]\nlabels: { site: edge }\n')
  const { run, operations } = harness()
  const { code } = await run('host', 'set', 'a', '--file', 'a.yaml', '--label', 'rack=1', '--unset', 'macs')
  expect(code).toBe(0)
  expect(bodyOf(operations)).toEqual({ spec: { labels: { site: 'edge', rack: '1' } } })
})

test('a record can come by a pipe, so that a secret is on no command line', async () => {
  const { run, operations } = harness({}, { piped: 'ignition: { inline: "{}" }\n' })
  expect((await run('host', 'add', 'a', '--file', '-')).code).toBe(0)
  expect(bodyOf(operations)).toEqual({ spec: { ignition: { inline: '{}' } } })
})

test('what is no YAML is told with its line', async () => {
  await writeFile(join(cwd, 'a.yaml'), 'macs: [\nx: }\n')
  const { code, stderr } = await harness().run('host', 'add', 'a', '--file', 'a.yaml')
  expect(code).toBe(78)
  expect(stderr).toMatch(/a\.yaml:2:\d+: cannot be read as YAML/)
  await writeFile(join(cwd, 'b.yaml'), '- a\n')
  expect(await harness().run('host', 'add', 'a', '--file', 'b.yaml')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('b.yaml is no record'),
  })
})

test('a group that is not there yet is made, and one that came meanwhile is not overwritten', async () => {
  const showRecord = () => Promise.reject(new ServiceError('NOT_FOUND'))
  const { run, operations } = harness({ showRecord })
  expect((await run('group', 'set', 'core', '--set', 'match.labels.site=core')).code).toBe(0)
  expect(operations.fleet.calls.at(-1)).toEqual({
    name: 'putRecord',
    arguments: [
      'group',
      'core',
      { spec: { match: { labels: { site: 'core' } } } },
      { actor: { by: 'alice', via: 'control' }, ifRevision: 0 },
    ],
  })
  const putRecord = () => Promise.reject(new ServiceError('REVISION_DIFFERS'))
  expect((await harness({ putRecord }).run('group', 'set', 'edge', '--set', 'profile=x')).code).toBe(75)
})

test('a field inside another one keeps its neighbours', async () => {
  const showRecord = async () => ({
    ...sampleGroup,
    spec: { install: { device: '/dev/sda', generation: 2 } },
  })
  const { run, operations } = harness({ showRecord })
  await run('profile', 'set', 'p', '--set', 'install.generation=3', '--unset', 'ignition.url')
  expect(bodyOf(operations)).toEqual({ spec: { install: { device: '/dev/sda', generation: 3 } } })
})
