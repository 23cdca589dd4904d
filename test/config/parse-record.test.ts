import { describe, expect, it } from 'vitest'
import { parseRecord, type RecordContext } from '../../src/config/parse-record.ts'
import type { RecordKind } from '../../src/core/fleet.ts'
import { parseIpv4Subnet } from '../../src/core/ipv4.ts'

const context: RecordContext = {
  streams: new Set(['fcos-stable']),
  streamsWithLoaders: new Set(),
  profiles: new Set(['worker']),
  streamOfProfile: () => 'fcos-stable',
  now: Date.UTC(2026, 10, 29),
  by: 'alice',
  at: 7,
}

const host = { macs: ['52-54-00-AB-CD-EF'], profile: 'worker' }

function problemsOf(
  kind: RecordKind,
  name: string,
  spec: Record<string, unknown>,
  more: Partial<RecordContext> = {},
) {
  const parsed = parseRecord(kind, name, spec, { ...context, ...more })
  return 'problems' in parsed
    ? parsed.problems.map(
        ({ path, message, hint }) => `${path}: ${message}${hint === undefined ? '' : ` (${hint})`}`,
      )
    : []
}

describe('a record of the API', () => {
  it('becomes what the same words in a file become, with who says so', () => {
    const spec = {
      ...host,
      labels: { site: 'edge' },
      pin: { releases: { amd64: '44.1' }, until: '2026-12-31' },
      install: { device: '/dev/sda', generation: 2 },
    }
    expect(parseRecord('host', 'n01', spec, context)).toEqual({
      record: {
        id: 'n01',
        macs: ['52:54:00:ab:cd:ef'],
        labels: { site: 'edge' },
        profile: 'worker',
        pins: [{ release: '44.1', arch: 'x86_64', until: Date.UTC(2027, 0, 1) }],
        install: { device: '/dev/sda', generation: 2 },
        origin: { kind: 'host', name: 'n01', by: 'alice', at: 7 },
      },
      warnings: [],
    })
  })

  it('may be a group or a profile', () => {
    const group = parseRecord(
      'group',
      'edge',
      { match: { labels: { site: 'edge' } }, profile: 'worker' },
      context,
    )
    expect(group).toMatchObject({ record: { name: 'edge', labels: { site: 'edge' }, profile: 'worker' } })
    const profile = parseRecord('profile', 'worker', { stream: 'fcos-stable', mode: 'live' }, context)
    expect(profile).toMatchObject({ record: { name: 'worker', stream: 'fcos-stable', mode: 'live' } })
  })

  it('whose pin has ended is taken with a warning', () => {
    const parsed = parseRecord(
      'host',
      'n01',
      { ...host, pin: { release: '44.1', until: '2026-11-01' } },
      context,
    )
    expect(parsed).toMatchObject({
      record: { id: 'n01' },
      warnings: [{ path: 'pin.until', message: 'the pin to 44.1 has ended' }],
    })
  })
})

describe('a record that says something wrong is refused with its place, what is allowed and what was meant', () => {
  it.each<[string, RecordKind, Record<string, unknown>, string]>([
    [
      'a key that nobody knows (field case 126)',
      'host',
      { ...host, kernelArgs: ['quiet'] },
      'kernelArgs: unknown key, allowed: address, arch,',
    ],
    ['an id of its own', 'host', { ...host, id: 'n02' }, 'id: unknown key, allowed: address, arch,'],
    [
      'no mark at all',
      'host',
      { profile: 'worker' },
      'found none of them, allowed: at least one of macs, uuid, serial',
    ],
    [
      'a MAC of one-digit parts (field case 148)',
      'host',
      { macs: ['2:4:0:b:d:f'] },
      'macs[0]: found "2:4:0:b:d:f" (each part needs two digits), allowed: a MAC address',
    ],
    [
      'a MAC twice',
      'host',
      { macs: [...host.macs, '525400abcdef'] },
      'macs[1]: MAC 52:54:00:ab:cd:ef is there twice',
    ],
    [
      'a stream that is not there',
      'profile',
      { stream: 'fcos-stabel' },
      'there is no stream "fcos-stabel" (did you mean "fcos-stable"?)',
    ],
    [
      'a profile that is not there',
      'host',
      { ...host, profile: 'worke' },
      'there is no profile "worke" (did you mean "worker"?)',
    ],
    ['a group that matches nothing', 'group', { match: { labels: {} } }, 'match.labels: found no entry'],
    [
      'a file of the server',
      'host',
      { ...host, ignition: { file: '/etc/shadow' } },
      'ignition.file: would have a file of this server read by the API, allowed: url, inline (put the config itself into ignition.inline',
    ],
    [
      'files of the server',
      'profile',
      { extraInitrds: [{ path: '/etc/shadow', sha256: '0'.repeat(64) }] },
      'extraInitrds: would have files of this server read by the API (declare the record in a file',
    ],
  ])('%s', (_, kind, spec, problem) => {
    const found = problemsOf(kind, 'n01', spec)
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(problem)
  })

  it('a name that no file could have', () => {
    expect(problemsOf('host', '../etc', host)[0]).toContain(
      'found the name "../etc", allowed: at most 63 letters',
    )
  })

  it('an address outside of our subnets', () => {
    const subnets = [parseIpv4Subnet('192.0.2.0/24')].filter((subnet) => subnet !== undefined)
    expect(problemsOf('host', 'n01', { ...host, address: '198.51.100.1' }, { subnets })).toEqual([
      'address: 198.51.100.1 is in none of our subnets, allowed: 192.0.2.0/24',
    ])
  })
})
