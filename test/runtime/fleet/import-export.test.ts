import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import type { FleetOperations } from '../../../src/http/admin/fleet-operations.ts'
import { readRecords } from '../../../src/runtime/fleet/read-records.ts'
import { readRecordsText } from '../../../src/runtime/fleet/records-text.ts'
import { byTester, type FleetLab, openFleetLab } from '../../fakes/fleet-lab.ts'

let lab: FleetLab | undefined
afterEach(async () => {
  await lab?.close()
  lab = undefined
})

async function open(): Promise<FleetOperations> {
  lab = await openFleetLab({ hosts: [{ id: 'of-file', macs: ['52:54:00:00:00:01'], profile: 'worker' }] })
  return lab.fleet.operations
}

const take = (fleet: FleetOperations, text: string, mode: 'merge' | 'replace' = 'merge', dryRun = false) =>
  fleet.importRecords({ text, name: 'in.yaml', mode }, { ...byTester, dryRun })

const line = fc.stringMatching(/^[\x20-\x7eäöü€]{1,40}$/)
const name = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,20}$/).filter((text) => text !== 'of-file')
const settings = {
  stream: fc.constant('sample'),
  mode: fc.constantFrom('live', 'local', 'hold'),
  holdReason: line,
  kernelArguments: fc.array(fc.constantFrom('console=ttyS0', 'a=yes', 'b=1:30', 'off'), { maxLength: 3 }),
  pin: fc.record({ release: fc.constant('44.1'), reason: line }, { requiredKeys: ['release'] }),
}
const records = fc.record({
  hosts: fc.uniqueArray(name, { maxLength: 5, selector: (text) => text }).chain((ids) =>
    fc.tuple(
      ...ids.map((id, index) =>
        fc.record(
          {
            id: fc.constant(id),
            macs: fc.constant([`02:00:00:00:00:0${index}`]),
            labels: fc.dictionary(fc.constantFrom('site', 'yes', 'n', '1'), line, { maxKeys: 3 }),
            ...settings,
          },
          { requiredKeys: ['id', 'macs'] },
        ),
      ),
    ),
  ),
  profiles: fc.dictionary(name, fc.record(settings, { requiredKeys: [] }), { maxKeys: 3 }),
})

describe('a long text', () => {
  const hosts = Array.from({ length: 2_000 }, (_, index) => `  - { id: n${index}, serial: S${index} }\n`)
  const text = `version: 1\nhosts:\n${hosts.join('')}`

  it('is read in a thread of its own, whole and with its lines', async () => {
    const found = await readRecords(text, 'long.yaml')
    expect(found.records).toHaveLength(2_000)
    expect(found.records[1_999]).toEqual({
      kind: 'host',
      name: 'n1999',
      spec: { serial: 'S1999' },
      line: 2_002,
    })
    expect((await readRecords(`${text}  - { id: x }\n`, 'long.yaml')).problems).toEqual([
      expect.stringMatching(/^long\.yaml:2003:/),
    ])
  })

  it('that takes too much memory is refused, and the process lives', async () => {
    await expect(readRecords(text, 'long.yaml', 4)).rejects.toMatchObject({ code: 'USAGE' })
  })
})

describe('records', () => {
  it('that are exported and taken in again are the same, whatever texts are in them', async () => {
    const fleet = await open()
    await fc.assert(
      fc.asyncProperty(records, async ({ hosts, profiles }) => {
        const profilesHere = Object.fromEntries(Object.entries(profiles).filter(([key]) => key !== 'worker'))
        await take(fleet, JSON.stringify({ version: 1, hosts, profiles: profilesHere }), 'replace')
        const text = await fleet.exportRecords({ all: false })
        const found = readRecordsText(text, 'out.yaml')
        expect(found.problems).toEqual([])
        expect(new Map(found.records.map(({ kind, name: key, spec }) => [`${kind}/${key}`, spec]))).toEqual(
          new Map([
            ...Object.entries(profilesHere).map(([key, spec]) => [`profile/${key}`, { ...spec }] as const),
            ...hosts.map(({ id, ...spec }) => [`host/${id}`, spec] as const),
          ]),
        )
        const again = await take(fleet, text, 'merge')
        expect(again).toMatchObject({ added: 0, changed: 0, unchanged: found.records.length })
      }),
      { numRuns: 25 },
    )
  })

  it('are taken in whole or not at all, and every mistake is told with its line', async () => {
    const fleet = await open()
    const text = `version: 1
hosts:
  - { id: good, macs: [52:54:00:00:00:02] }
  - { id: of-file, macs: [52:54:00:00:00:03] }
  - { id: thief, macs: [52:54:00:00:00:01] }
  - { id: twin, macs: [52:54:00:00:00:02] }
  - { id: lost, serial: X, profile: wroker }
`
    const refusal = await take(fleet, text).catch((error: unknown) => error)
    expect(refusal).toMatchObject({ code: 'USAGE' })
    const { message } = refusal as Error
    expect(message).toMatch(/in\.yaml:4: host of-file: is declared in \S*hosts\.yaml:3/)
    expect(message).toMatch(/in\.yaml:5: host thief: MAC 52:54:00:00:00:01 belongs to host of-file/)
    expect(message).toMatch(/in\.yaml:6: host twin: MAC 52:54:00:00:00:02 belongs to host good/)
    expect(message).toMatch(/in\.yaml:7: host lost: profile: there is no profile "wroker"/)
    expect((await fleet.listHosts({ source: 'api' })).total).toBe(0)
    await expect(take(fleet, 'hosts: [')).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining('in.yaml:1'),
    })
  })

  it('name what is wrong in one record and what does not fit the others at once, in the order of the text', async () => {
    const fleet = await open()
    const text = `version: 1
hosts:
  - { id: lost, serial: S1, profile: wroker }
  - { id: typo, macs: [52:54:00:00:00:0z], mdoe: live }
  - { id: thief, macs: [52:54:00:00:00:01] }
  - { id: nobody, serial: None }
  - { id: uses-broken, serial: S2, profile: broken }
profiles:
  broken: { mode: instal }
`
    for (const mode of ['merge', 'replace'] as const) {
      const { message }: Error = await take(fleet, text, mode).then(
        () => expect.unreachable(),
        (error) => error,
      )
      expect(
        message.split('\n').map((problem) => problem.slice(0, 40).replace(/:\d+: hosts/, ': hosts')),
      ).toEqual([
        expect.stringContaining('in.yaml:3: host lost: profile'),
        expect.stringContaining('in.yaml:4: hosts[1].mdoe: unknown key'),
        expect.stringContaining('in.yaml:4: hosts[1].macs[0]: found'),
        expect.stringContaining('in.yaml:5: host thief: MAC'),
        expect.stringContaining('in.yaml:6: hosts[3].serial: found "None"'.slice(0, 34)),
        expect.stringMatching(/in\.yaml:9:\d+: profiles\.broken\.mode/),
      ])
    }
    expect((await fleet.listHosts({ source: 'api' })).total).toBe(0)
  })

  it('replace what the API has of the kinds that they speak of, and may swap the marks of hosts', async () => {
    const fleet = await open()
    await take(
      fleet,
      'version: 1\nprofiles: { p: { mode: live } }\nhosts: [{ id: a, serial: S1 }, { id: b, serial: S2 }, { id: c, serial: S3 }]\n',
    )
    const swapped = 'version: 1\nhosts: [{ id: a, serial: S2 }, { id: b, serial: S1 }]\n'
    expect(await take(fleet, swapped, 'replace', true)).toEqual({
      dryRun: true,
      added: 0,
      changed: 2,
      unchanged: 0,
      removed: 1,
    })
    expect((await fleet.listHosts({ source: 'api' })).total).toBe(3)
    await take(fleet, swapped, 'replace')
    expect((await fleet.listHosts({ source: 'api' })).items.map(({ id }) => id)).toEqual(['a', 'b'])
    expect((await fleet.showHost('a')).serial).toBe('S2')
    expect((await fleet.listRecords('profile')).map((record) => record.name)).toEqual(['p', 'worker'])
  })

  it('bring profiles that their hosts have, and do not take away one that somebody keeps', async () => {
    const fleet = await open()
    await take(
      fleet,
      'version: 1\nprofiles: { p: { stream: sample, mode: live } }\nhosts: [{ id: a, serial: S1, profile: p }]\n',
    )
    expect((await fleet.showHost('a')).stream).toBe('sample')
    const without = take(fleet, 'version: 1\nprofiles: { q: { mode: live } }\n', 'replace')
    await expect(without).rejects.toMatchObject({ message: expect.stringContaining('host a: p') })
  })

  it('of files come along when all are exported', async () => {
    const fleet = await open()
    expect(await fleet.exportRecords({ all: false })).not.toContain('of-file')
    const all = readRecordsText(await fleet.exportRecords({ all: true }), 'all.yaml')
    expect(all.records.map(({ kind, name: key }) => `${kind}/${key}`)).toEqual([
      'profile/worker',
      'group/edge',
      'host/of-file',
    ])
  })
})
