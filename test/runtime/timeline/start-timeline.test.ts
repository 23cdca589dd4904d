import { describe, expect, it } from 'vitest'
import type { StateStore } from '../../../src/state/store.ts'
import { createMemoryStore } from '../../fakes/memory-store.ts'
import { makeBootId, makeReport, t0 } from '../../fakes/stored-fleet.ts'
import { bootOf, openTimelineLab } from '../../fakes/timeline-lab.ts'

const all = { limit: 1_000 }
const second = 1_000
const hour = 60 * 60 * second

describe('the timeline of a running service', () => {
  it('a boot is told of within half a second, and as it is when somebody reads it', async () => {
    const lab = await openTimelineLab()
    const boot = bootOf(1, { host: 'n1' })
    lab.note(boot.decided(t0))
    await lab.wait(300)
    lab.note(boot.sent('kernel', t0 + 300), boot.reported(t0 + 301))
    expect(lab.published()).toMatchObject([{ host: 'n1', state: 'over', outcome: 'booted' }])
    await lab.wait(300)
    expect(lab.published()).toHaveLength(2)
  })

  it('is written every second, and what changed is written again', async () => {
    const lab = await openTimelineLab()
    const boot = bootOf(1)
    lab.note(boot.decided(t0))
    await lab.wait(900)
    expect(await lab.store.listAttempts(all)).toEqual([])
    await lab.wait(200)
    expect(await lab.store.listAttempts(all)).toMatchObject([{ bootId: boot.bootId, mac: boot.mac }])
    lab.note(boot.reported(t0 + 1_100))
    await lab.wait(second)
    expect(await lab.store.listAttempts(all)).toMatchObject([{ outcome: 'booted' }])
  })

  it('G7 of a crash loses at most the steps of the last second', async () => {
    const lab = await openTimelineLab()
    const boot = bootOf(1, { host: 'n1' })
    lab.note(boot.decided(t0), boot.sent('kernel', t0 + 1))
    await lab.wait(second)
    lab.note(boot.sent('initramfs', t0 + second))
    await lab.crash()
    const { items } = await lab.boots.listBoots({})
    expect(items).toMatchObject([{ host: 'n1', state: 'running', phase: 'kernel' }])
    // It goes on where it was.
    lab.note(boot.sent('initramfs', t0 + 2 * second), boot.reported(t0 + 3 * second))
    await lab.wait(2 * second)
    expect((await lab.boots.listBoots({})).items).toMatchObject([{ outcome: 'booted' }])
  })

  it('G7 a report that is on disk counts for its boot, however the service ended', async () => {
    const lab = await openTimelineLab()
    const boot = bootOf(1, { host: 'n1' })
    lab.note(boot.decided(t0))
    await lab.wait(second)
    const report = makeReport(1, { bootId: boot.bootId, host: 'n1', status: 'booted', at: t0 + 5 * second })
    await lab.store.writeFleet({ changes: [{ put: 'report', report }], audit: [] })
    await lab.crash()
    expect((await lab.boots.listBoots({})).items).toMatchObject([{ host: 'n1', outcome: 'booted' }])
    await lab.wait(2 * second)
    await lab.crash()
    const shown = await lab.boots.showBoot('n1')
    expect(shown.steps.filter(({ type }) => type === 'reported')).toHaveLength(1)
  })

  it('G7 a report of a boot that was never written is a boot all the same', async () => {
    const lab = await openTimelineLab()
    const report = makeReport(1, { host: 'n1', mac: bootOf(1).mac, status: 'failed', at: t0 - hour })
    await lab.store.writeFleet({ changes: [{ put: 'report', report }], audit: [] })
    await lab.crash()
    expect((await lab.boots.listBoots({})).items).toMatchObject([{ host: 'n1', outcome: 'failed' }])
  })

  it('G7 also where boots of that machine were written before, and it is its newest from then on', async () => {
    const lab = await openTimelineLab()
    const first = bootOf(1, { host: 'n1' })
    lab.note(first.decided(t0), first.reported(t0 + second))
    await lab.wait(5 * second)
    const bootId = makeBootId(7)
    const report = makeReport(7, {
      bootId,
      host: 'n1',
      mac: first.mac,
      status: 'failed',
      at: t0 + 4 * second,
    })
    await lab.store.writeFleet({ changes: [{ put: 'report', report }], audit: [] })
    for (const isSecondCrash of [false, true]) {
      await lab.crash()
      const { items } = await lab.boots.listBoots({ host: 'n1' })
      expect(items, String(isSecondCrash)).toMatchObject([{ outcome: 'failed' }, { outcome: 'booted' }])
      expect(await lab.boots.showBoot('n1')).toMatchObject({ outcome: 'failed', bootIds: [bootId] })
      expect(await lab.boots.showBoot(bootId)).toMatchObject({ outcome: 'failed', host: 'n1' })
      await lab.wait(3 * second)
    }
  })

  it('G7 of a boot that asked once more in the lost second, the report is its outcome', async () => {
    const lab = await openTimelineLab()
    const boot = bootOf(1, { host: 'n1' })
    lab.note(boot.decided(t0))
    await lab.wait(second)
    await lab.crash()
    const again = bootOf(1, { host: 'n1', bootId: makeBootId(7) })
    lab.note(again.sent('rootfs', t0 + 3 * second), again.reported(t0 + 4 * second))
    await lab.wait(2 * second)
    const { items } = await lab.boots.listBoots({})
    expect(items).toMatchObject([{ host: 'n1', outcome: 'booted' }])
    expect((await lab.boots.showBoot('n1')).steps.map(({ type }) => type)).toContain('artifact-sent')
  })

  it('a report of long ago makes no boot of it', async () => {
    const lab = await openTimelineLab()
    const report = makeReport(1, { host: 'n1', mac: bootOf(1).mac, status: 'failed', at: t0 - 25 * hour })
    await lab.store.writeFleet({ changes: [{ put: 'report', report }], audit: [] })
    await lab.crash()
    expect((await lab.boots.listBoots({})).items).toEqual([])
  })

  it('writes what is not written yet before it ends', async () => {
    const lab = await openTimelineLab()
    lab.note(bootOf(1).decided(t0))
    await lab.running.stop()
    expect(await lab.store.countAttempts({})).toBe(1)
    expect(lab.time.pending).toBe(0)
  })

  it('a disk that takes nothing is told of once, and nothing is lost when it does again', async () => {
    const store = createMemoryStore()
    let isBroken = true
    const saveAttempts: StateStore['saveAttempts'] = async (records) => {
      if (isBroken) throw new Error('disk I/O error')
      await store.saveAttempts(records)
    }
    const lab = await openTimelineLab({ store: { ...store, saveAttempts } })
    lab.note(bootOf(1).decided(t0))
    await lab.wait(10 * second)
    lab.note(bootOf(2).decided(t0 + 10 * second))
    await lab.wait(5 * second)
    expect(lab.log.lines.map(({ message }) => message)).toEqual(['boots and their steps not written'])
    expect((await lab.boots.listBoots({})).total).toBe(2)
    isBroken = false
    await lab.wait(2 * second)
    expect(await store.countAttempts({})).toBe(2)
  })

  it('old boots leave by themselves', async () => {
    const lab = await openTimelineLab({ keepMs: 5 * second })
    lab.note(bootOf(1).decided(t0), bootOf(1).reported(t0 + 1))
    await lab.wait(2 * second)
    expect(await lab.store.countAttempts({})).toBe(1)
    await lab.wait(10 * second)
    await lab.crash()
    await lab.wait(2 * second)
    expect(await lab.store.countAttempts({})).toBe(0)
  })
})
