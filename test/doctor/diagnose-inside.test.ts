import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load-config.ts'
import type { FollowedFacts } from '../../src/doctor/check-followed.ts'
import { diagnoseInside, type InsideFacts } from '../../src/doctor/diagnose-inside.ts'
import { checkNames, isHealthy } from '../../src/doctor/finding.ts'
import { healthyFacts } from '../fakes/doctor-facts.ts'

const { config } = loadConfig({ env: {}, cwd: '/', now: 0 })
const { addresses, dataDirectory, clock, patterns = [] } = healthyFacts()

const stream: FollowedFacts = {
  name: 'fcos-stable',
  source: 'https://builds.example/streams/stable.json',
  lastSuccessAt: '2026-11-29T11:00:00.000Z',
  architectures: [{ arch: 'x86_64', current: '44.1' }],
}

function said(changes: Partial<InsideFacts> = {}): readonly string[] {
  const facts: InsideFacts = {
    pid: 4242,
    parts: [
      { part: 'state', ready: true },
      { part: 'self-test', ready: true },
    ],
    patterns,
    addresses,
    streams: [stream],
    dataDirectory,
    now: clock.now,
    ...changes,
  }
  return diagnoseInside(config, facts).map(({ check, severity, what }) => `${check} ${severity}: ${what}`)
}

describe('a service that looks at itself', () => {
  test('is content, and says what the command sees more', () => {
    expect(said()).toEqual([
      'service ok: the service runs as process 4242, and is ready',
      'boots ok: no machine shows one of the 1 known ways in which boots go wrong',
      'rights note: ports, rights, other DHCP servers and upstreams are looked at by the command alone',
      'interfaces ok: eth1 is up and has 192.0.2.10',
      'fetch ok: everything that machines are told to fetch is there',
      'upstream ok: fcos-stable: https://builds.example/streams/stable.json was read at 2026-11-29T11:00:00.000Z',
      'clock ok: the clock says 2026-11-29T12:00:00.000Z, which is plausible',
      'data ok: /var/lib/pilotlight is there, writable and closed to others',
    ])
  })

  test('that follows no stream has nothing to boot, and says how to name one', () => {
    const findings = diagnoseInside(
      { ...config, streams: new Map() },
      {
        pid: 4242,
        parts: [],
        patterns: [],
        addresses,
        streams: [],
        dataDirectory,
        now: clock.now,
      },
    )
    expect(isHealthy(findings)).toBe(false)
    expect(findings.find(({ severity }) => severity === 'problem')).toMatchObject({
      check: 'upstream',
      what: 'no stream is followed, so there is nothing to boot',
      todo: expect.stringContaining('streams:'),
    })
  })

  test('tells what its self-test found, and what is not ready', () => {
    const parts = [
      { part: 'state', ready: false, reason: 'disk full' },
      { part: 'self-test', ready: true, reason: 'there is no undionly.kpxe' },
    ]
    expect(said({ parts })).toEqual(
      expect.arrayContaining([
        'service problem: state is not ready: disk full',
        'fetch warning: there is no undionly.kpxe',
      ]),
    )
  })

  test.each<[string, Partial<FollowedFacts>, string]>([
    [
      'never read',
      { lastSuccessAt: undefined } as never,
      'upstream ok: fcos-stable: https://builds.example/streams/stable.json has not been read yet',
    ],
    [
      'G4 failing while all is served',
      { failingSince: 'noon', error: 'refused' },
      'upstream warning: fcos-stable: cannot be read since noon: refused',
    ],
    [
      'failing with nothing to serve',
      { failingSince: 'noon', architectures: [{ arch: 'x86_64' }] },
      'upstream problem: fcos-stable: cannot be read since noon: https://builds.example/streams/stable.json',
    ],
    [
      'held',
      { architectures: [{ arch: 'x86_64', current: '44.1', held: 'rolled-back is not followed: it waits' }] },
      'upstream note: fcos-stable x86_64: rolled-back is not followed: it waits',
    ],
    [
      'damaged',
      { architectures: [{ arch: 'x86_64', current: '44.1', damaged: 'a file is not whole' }] },
      'upstream warning: fcos-stable x86_64: a file is not whole',
    ],
    [
      'without an architecture',
      { architectures: [{ arch: 'aarch64', problem: 'there is none' }] },
      'upstream problem: fcos-stable aarch64: there is none',
    ],
  ])('a stream that is %s', (_, changes, expected) => {
    expect(said({ streams: [{ ...stream, ...changes }] })).toContain(expected)
  })

  test('its findings are in the order of the checks, and a boot that shows a pattern does not make it unhealthy', () => {
    const shown = patterns.map((pattern) => ({ ...pattern, machines: ['n1'], count: 1 }))
    const names = said({ patterns: shown }).map((line) => line.split(' ')[0] ?? '')
    expect(names).toEqual(names.toSorted((a, b) => order(a) - order(b)))
    expect(
      isHealthy(
        diagnoseInside(config, {
          pid: 1,
          parts: [],
          patterns: shown,
          addresses,
          streams: [],
          dataDirectory,
          now: clock.now,
        }),
      ),
    ).toBe(true)
  })
})

function order(name: string): number {
  return (checkNames as readonly string[]).indexOf(name)
}
