import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Followed } from '../../../src/cli/follow.ts'
import { ServiceError } from '../../../src/core/errors.ts'
import type { BootDetail } from '../../../src/http/admin/schemas/boots.ts'
import { createFakeOperations, type FakeAnswers } from '../../fakes/admin-operations.ts'
import { runningBoot, sampleBootDetail, stuckBoot } from '../../fakes/boot-operations.ts'
import { createCliHarness, type HarnessOptions } from '../../fakes/cli-harness.ts'

let cwd: string

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'pilotlight-boots-'))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

/** The command line beside a running service that answers so. */
function beside(
  answers: FakeAnswers,
  options: Omit<HarnessOptions, 'cwd'> & { readonly followed?: readonly Followed[] } = {},
) {
  const { followed = [], ...rest } = options
  const operations = createFakeOperations(answers)
  const openService = async () => ({
    operations,
    close: async () => {},
    async *follow() {
      yield* followed
    },
  })
  return { ...createCliHarness({ cwd, ...rest, runtime: { openService } }), operations }
}

const over = (outcome: BootDetail['outcome']): BootDetail => ({
  ...sampleBootDetail,
  state: 'over',
  ...(outcome !== undefined && { outcome }),
})

/** A machine that boots, and is over at the second look. */
function ending(outcome: BootDetail['outcome']): FakeAnswers {
  let looks = 0
  return { boots: { showBoot: async () => (looks++ === 0 ? sampleBootDetail : over(outcome)) } }
}

describe('boots', () => {
  test('asks for what is wanted', async () => {
    const harness = createCliHarness({ cwd })
    await harness.run(
      'boots',
      '--mac',
      '52:54:00:ab:cd:ef',
      '--state',
      'over',
      '--outcome',
      'lost',
      '--since',
      '2h',
    )
    await harness.run('boots', '--pattern', 'loader-loop', '--limit', '5')
    expect(harness.operations.boots.calls).toEqual([
      {
        name: 'listBoots',
        argument: {
          mac: '52:54:00:ab:cd:ef',
          state: 'over',
          outcome: 'lost',
          since: '2026-11-29T10:00:00.000Z',
          limit: 50,
        },
      },
      { name: 'listBoots', argument: { pattern: 'loader-loop', limit: 5 } },
    ])
  })

  test.each([
    [['--state', 'stcuk'], 'stuck'],
    [['--outcome', 'boot'], 'booted'],
    [['--pattern', 'loader-lop'], 'loader-loop'],
    [['--since', 'yesterday'], 'how long ago'],
  ])('%j says what is allowed', async (argv, meant) => {
    const { code, stderr } = await createCliHarness({ cwd }).run('boots', ...argv)
    expect(code).toBe(2)
    expect(stderr).toContain(meant)
  })

  test('show of a boot that is not known is a usage error', async () => {
    const { code, stdout } = await createCliHarness({ cwd }).run('boots', 'show', 'nobody')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })

  test('--follow without a service says what it needs', async () => {
    const { code, stdout, stderr } = await createCliHarness({ cwd }).run('boots', '--follow')
    expect({ code, stdout }).toEqual({ code: 69, stdout: '' })
    expect(stderr).toMatch(/no service runs on .*\n.*pilotlight serve/)
  })

  test('--follow shows each boot that moved, with what to do', async () => {
    const event = { id: 'a-1', type: 'boot', at: 0, data: JSON.stringify(stuckBoot) } as const
    const followed: Followed[] = [
      { kind: 'gap' },
      { kind: 'event', event },
      { kind: 'lost', why: 'it went away' },
    ]
    const listBoots = async () => ({ items: [runningBoot], total: 1 })
    const { code, stdout, stderr } = await beside({ boots: { listBoots } }, { followed }).run(
      'boots',
      '--follow',
    )
    expect(code).toBe(0)
    expect(stdout).toBe(
      `2026-11-29T12:00:41Z  rack1-n01  running in rootfs  rootfs 412 of 1021 MiB, 38 MiB/s
2026-11-29T11:58:00Z  52:54:00:ab:cd:f0  stuck in dhcp  offer-not-followed: It was offered snponly.efi 4 times and asked for nothing. -> See that another DHCP server gives this network addresses.
`,
    )
    expect(stderr).toBe('it went away; going on when the service answers again\n')
    const json = await beside({ boots: { listBoots } }, { followed }).run('boots', '-f', '-o', 'json')
    expect(
      json.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([runningBoot, stuckBoot])
  })

  test('--follow that somebody ended by Ctrl-C exits as shells expect', async () => {
    const typed = AbortSignal.abort('SIGINT')
    expect((await beside({}, { interruption: typed }).run('boots', '--follow')).code).toBe(130)
  })
})

describe('watch', () => {
  test.each([
    ['booted', 0],
    ['installed', 0],
    ['served', 0],
    ['local', 0],
    ['failed', 1],
    ['held', 1],
    ['lost', 1],
  ] as const)('a boot that ends with %s exits with %d', async (outcome, expected) => {
    const { code, stdout, stderr } = await beside(ending(outcome)).run('watch', 'rack1-n01')
    expect({ code, stderr }).toEqual({ code: expected, stderr: '' })
    expect(stdout).toMatch(new RegExp(`rack1-n01: ${outcome} \\(44.20261101.3.0\\) after 41 s\n$`))
  })

  test('on a terminal the picture stays when it is over', async () => {
    const { code, stdout } = await beside(ending('booted'), { isTTY: true, columns: 20 }).run(
      'watch',
      'rack1-n01',
    )
    expect(code).toBe(0)
    const after = stdout.split('\u001b[?1049l')[1] ?? ''
    expect(after).toContain('machine: rack1-n01')
    expect(after).toMatch(/rack1-n01: booted .* after 41 s\n$/)
  })

  test('a terminal that can do nothing gets lines', async () => {
    const { stdout } = await beside(ending('booted'), { isTTY: true, env: { TERM: 'dumb' } }).run(
      'watch',
      'rack1-n01',
    )
    expect(stdout).not.toContain('\u001b')
  })

  test('JSON is one object a line, the last one with the outcome', async () => {
    const { stdout } = await beside(ending('failed')).run('watch', 'rack1-n01', '--output', 'json')
    const lines = stdout.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).outcome)).toEqual([undefined, 'failed'])
  })

  test('a host that is not known is told at once', async () => {
    const showHost = async () => {
      throw new ServiceError('NOT_FOUND', 'there is no host rack1-n1')
    }
    const { code, stderr } = await beside({ fleet: { showHost } }).run('watch', 'rack1-n1')
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'pilotlight: there is no host rack1-n1\n' })
  })

  test('the time is up: try again later', async () => {
    let now = Date.parse('2026-11-29T12:00:00Z')
    const harness = beside({}, { now: () => (now += 1000) })
    const { code, stderr } = await harness.run('watch', 'rack1-n01', '--timeout', '10s')
    expect({ code, stderr }).toEqual({ code: 75, stderr: 'rack1-n01: not over after 10 s\n' })
  })

  test('Ctrl-C leaves the terminal as it was', async () => {
    const typed = AbortSignal.abort('SIGINT')
    const { code, stdout } = await beside({}, { isTTY: true, interruption: typed }).run('watch', 'rack1-n01')
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' })
  })
})

describe('capture', () => {
  const pcap = Buffer.from([0xd4, 0xc3, 0xb2, 0xa1, 0xff, 0x00])
  const answers: FakeAnswers = {
    boots: {
      async capture({ mac }) {
        if (mac.endsWith('f0')) throw new ServiceError('NOT_FOUND', `no packets of ${mac}`)
        return {
          mac,
          packets: 12,
          oldest: '2026-11-29T12:00:00.000Z',
          newest: '2026-11-29T12:00:41.000Z',
          dropped: 1,
          pcap: pcap.toString('base64'),
        }
      },
    },
  }

  test('goes into a file for this user alone', async () => {
    const { code, stdout } = await beside(answers).run('capture', '52-54-00-AB-CD-EF', 'boot.pcap')
    expect(code).toBe(0)
    const file = join(cwd, 'boot.pcap')
    expect(stdout).toBe(
      `${file}: 12 packets, 2026-11-29T12:00:00Z to 2026-11-29T12:00:41Z, 6 B; 1 older packet made room\n`,
    )
    expect(readFileSync(file)).toEqual(pcap)
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  test.each(['file', 'link'])('never writes over a %s without --force', async (kind) => {
    const file = join(cwd, 'boot.pcap')
    const target = join(cwd, 'target')
    if (kind === 'file') writeFileSync(file, 'mine')
    else symlinkSync(target, file)
    const refused = await beside(answers).run('capture', 'rack1-n01', 'boot.pcap')
    expect(refused.code).toBe(1)
    expect(refused.stderr).toMatch(/is there already\n {2}hint: .*--force/)
    if (kind === 'file') expect(readFileSync(file, 'utf8')).toBe('mine')
    expect((await beside(answers).run('capture', 'rack1-n01', 'boot.pcap', '--force')).code).toBe(0)
    expect(readFileSync(file)).toEqual(pcap)
    expect(existsSync(target)).toBe(false)
  })

  test('a folder that is not there is told', async () => {
    const { code, stderr } = await beside(answers).run('capture', 'rack1-n01', 'no/such/boot.pcap')
    expect(code).toBe(1)
    expect(stderr).toContain('cannot be written')
  })

  test.each([[[]], [['-']]])('with %j goes to a pipe as it is', async (argv) => {
    const { code, stdout, stderr } = await beside(answers).run('capture', 'rack1-n01', ...argv)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(Buffer.from(stdout, 'latin1')).toEqual(pcap)
  })

  test('is refused on a terminal, with a way out', async () => {
    const { code, stdout, stderr } = await beside(answers, { isTTY: true }).run('capture', 'rack1-n01')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('| tshark -r -')
  })

  test.each(['52:54:00:ab:cd:f0', 'rack1-n01'])('of %s without packets says so', async (machine) => {
    const none = {
      boots: { capture: async ({ mac }: { mac: string }) => ({ mac, packets: 0, dropped: 0, pcap: '' }) },
    }
    for (const given of machine.endsWith('f0') ? [answers, none] : [none]) {
      const { code, stdout, stderr } = await beside(given).run('capture', machine)
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toMatch(/^pilotlight: no packets of .* are kept/)
    }
  })

  test('JSON has the file and what is in it', async () => {
    const { stdout } = await beside(answers).run('capture', 'rack1-n01', 'boot.pcap', '--output', 'json')
    expect(JSON.parse(stdout)).toMatchObject({ packets: 12, file: join(cwd, 'boot.pcap'), sizeBytes: 6 })
  })
})

describe('webhook', () => {
  test('list says how well each receiver is reached', async () => {
    const webhooks = async () =>
      [
        {
          name: 'ops',
          events: ['boot.over', 'boot.stuck'],
          state: 'failing',
          waiting: 3,
          refused: 2,
          dropped: 1,
          lastDeliveredAt: '2026-11-29T11:00:00.000Z',
          problem: 'answered with 503\u001b[31m',
        },
      ] as const
    const { code, stdout } = await beside({ webhooks }).run('webhook', 'list')
    expect(code).toBe(0)
    expect(stdout).toBe(
      `WEBHOOK  STATE    WAITING  REFUSED  DROPPED  DELIVERED  EVENTS                 PROBLEM
ops      failing        3        2        1  1 h ago    boot.over, boot.stuck  answered with 503\\x1b[31m
`,
    )
  })

  test.each([
    [{ isDelivered: true, status: 204 }, 0, 'ops: delivered, answered 204\n'],
    [{ isDelivered: false, status: 403 }, 1, 'ops: not delivered, answered 403\n'],
    [{ isDelivered: false, problem: 'refused' }, 1, 'ops: not delivered, no answer: refused\n'],
  ])('test that comes to %j exits with %d', async (answer, expected, text) => {
    const { code, stdout } = await beside({ testWebhook: async () => answer }).run('webhook', 'test', 'ops')
    expect({ code, stdout }).toEqual({ code: expected, stdout: text })
  })

  test('needs a service', async () => {
    expect((await createCliHarness({ cwd }).run('webhook', 'test', 'ops')).code).toBe(69)
  })
})
