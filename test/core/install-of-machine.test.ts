import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { effectiveSettings } from '../../src/core/effective-settings.ts'
import type { InstallRecord } from '../../src/core/fleet.ts'
import type { Host } from '../../src/core/host.ts'
import { createInstallIndex } from '../../src/core/install-index.ts'
import { installRecordOf, withMarks } from '../../src/core/install-of-machine.ts'
import { machineMarks } from '../../src/core/machine-marks.ts'
import type { Uuid } from '../../src/core/uuid.ts'
import { mac, makeHost, makeInventory, nodeMac } from '../fakes/machines.ts'
import { makeInstall, t0 } from '../fakes/stored-fleet.ts'

const otherMac = mac('52:54:00:00:00:77')
const uuid = '4c4c4544-0031-3010-8043-b4c04f4d3132' as Uuid
const macMarks = machineMarks({ macs: [nodeMac] })

function knownOf(hosts: readonly Host[], records: readonly InstallRecord[]) {
  const index = createInstallIndex()
  for (const record of records) index.put(record)
  return { ...makeInventory({ hosts }), installs: index.byHost, installsByMark: index.byMark }
}

const done = makeInstall({
  host: 'old',
  source: 'file',
  state: 'installed',
  generation: 3,
  fileGeneration: 3,
  marks: macMarks,
})

describe('what was said of a disk goes with its machine (field case 154)', () => {
  it.each([
    ['MAC', { macs: [nodeMac] }, { macs: [otherMac, nodeMac] }],
    ['UUID', { macs: [], uuid }, { macs: [], uuid }],
    [
      'UUID in the other byte order',
      { macs: [], uuid },
      { macs: [], uuid: '44454c4c-3100-1030-8043-b4c04f4d3132' as Uuid },
    ],
    ['serial', { macs: [], serial: 'S1' }, { macs: [], serial: 'S1' }],
  ] as const)('found by %s', (_, before, now) => {
    const record = { ...done, marks: machineMarks(before) }
    const host = makeHost({
      id: 'new',
      mode: 'install',
      install: { device: '/dev/sda', generation: 3 },
      ...now,
    })
    const inventory = knownOf([host], [record])
    const { install } = effectiveSettings({ inventory, host, firmware: 'uefi', now: t0 + 1 })
    expect(install).toMatchObject({
      kind: 'over',
      record: { host: 'new', generation: 3, changedBy: 'token ops-laptop, as host old' },
    })
  })

  it('also where that name is another machine now, as when two hosts changed their names', () => {
    const a = makeHost({ id: 'a', macs: [otherMac], mode: 'install', install: { device: '/dev/sda' } })
    const b = makeHost({ id: 'b', macs: [nodeMac], mode: 'install', install: { device: '/dev/sda' } })
    const inventory = knownOf([a, b], [{ ...done, host: 'a', generation: 1, fileGeneration: 1 }])
    for (const host of [a, b]) {
      expect(effectiveSettings({ inventory, host, firmware: 'uefi', now: t0 }).install.kind).toBe('over')
    }
  })

  it('what is armed goes with it only once its host has gone, and not to a host with a record of its own', () => {
    const armed = makeInstall({ host: 'old', marks: macMarks })
    const host = makeHost({ id: 'new', macs: [nodeMac] })
    const own = makeInstall({ host: 'new', state: 'installed' })
    expect(installRecordOf(host, knownOf([host], [armed]), t0)).toMatchObject({ state: 'armed', host: 'new' })
    const old = makeHost({ id: 'old', macs: [otherMac] })
    expect(installRecordOf(host, knownOf([host, old], [armed]), t0)).toBeUndefined()
    expect(installRecordOf(host, knownOf([host], [armed, own]), t0)).toBe(own)
  })

  it('a later arming of its own stands above what was said before, and knows of it', () => {
    const host = makeHost({ id: 'new', macs: [nodeMac] })
    const own = makeInstall({ host: 'new', generation: 4, fileGeneration: 1 })
    expect(installRecordOf(host, knownOf([host], [done, own]), t0)).toEqual({ ...own, fileGeneration: 3 })
  })

  it('a report for the old name that comes after the new one was served ends both', () => {
    const host = makeHost({ id: 'new', macs: [nodeMac] })
    const own = makeInstall({ host: 'new', source: 'file', generation: 3, fileGeneration: 3, serves: 2 })
    expect(installRecordOf(host, knownOf([host], [done, own]), t0)).toMatchObject({ state: 'installed' })
  })

  it('G12 whatever else is known, no file arms again what a record of the machine speaks for', () => {
    const record = fc.record({
      host: fc.constantFrom('new', 'old', 'older'),
      source: fc.constantFrom('file', 'admin'),
      state: fc.constantFrom('armed', 'installed', 'disarmed', 'exhausted'),
      generation: fc.integer({ min: 1, max: 5 }),
      fileGeneration: fc.integer({ min: 0, max: 5 }),
      serves: fc.integer({ min: 0, max: 12 }),
      changedAt: fc.integer({ min: t0, max: t0 + 3 }),
    })
    fc.assert(
      fc.property(fc.array(record, { maxLength: 4 }), fc.integer({ min: 1, max: 6 }), (said, generation) => {
        const host = makeHost({ id: 'new', mode: 'install', install: { device: '/dev/sda', generation } })
        const records = said.map((extra) => makeInstall({ ...(extra as object), marks: macMarks }))
        const inventory = knownOf([host], [done, ...records])
        const kept = installRecordOf(host, inventory, t0 + 5)
        const { install } = effectiveSettings({ inventory, host, firmware: 'uefi', now: t0 + 5 })
        const highest = Math.max(
          ...[...inventory.installs.values()].map(({ fileGeneration }) => fileGeneration),
        )
        if (kept?.state === 'armed' && install.kind === 'armed') return
        if (install.kind === 'armed') expect(generation).toBeGreaterThan(kept?.fileGeneration ?? highest)
      }),
    )
  })
})

describe('what a machine is recognised by', () => {
  it('is that of now for what is armed, and all that it ever was for what is over', () => {
    const armed = makeInstall({ marks: ['MAC a'] })
    expect(withMarks(armed, ['MAC b']).marks).toEqual(['MAC b'])
    expect(withMarks({ ...armed, state: 'installed' }, ['MAC b']).marks).toEqual(['MAC b', 'MAC a'])
    expect(withMarks({ ...armed, state: 'installed' }, ['MAC a']).marks).toBe(armed.marks)
  })

  it('is bounded, the oldest go first', () => {
    let record = makeInstall({ state: 'installed' })
    for (let card = 0; card < 100; card += 1) record = withMarks(record, [`MAC ${card}`])
    expect(record.marks).toHaveLength(64)
    expect(record.marks?.[0]).toBe('MAC 99')
  })
})
