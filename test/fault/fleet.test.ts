import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createControlClient } from '../../src/cli/control-client.ts'
import type { ChangeOptions, FleetOperations } from '../../src/http/admin/fleet-operations.ts'
import { fetchIgnition, ignitionUrlOf, sendReport } from '../../src/runtime/demo/simulated-report.ts'
import { runCommand } from '../fakes/command-line.ts'
import {
  digestsOfBoot,
  digestsOfSet,
  type RunningService,
  startRunningService,
  untilCurrent,
} from '../fakes/running-service.ts'
import { eventually } from '../fakes/service-process.ts'
import { startUpstreamSite, type UpstreamSite } from '../fakes/upstream-site.ts'

const older = '44.20260622.3.0'
const newest = '44.20260707.3.1'
const [fileMac, apiMac, installMac] = ['52:54:00:00:01:01', '52:54:00:00:01:02', '52:54:00:00:01:03']
const change: ChangeOptions = { actor: { by: 'tester (control socket)', via: 'control' } }
const host = (name: string) => ({ kind: 'host', name }) as const

describe('what admins say while the service runs', () => {
  let site: UpstreamSite
  let service: RunningService
  let fleet: FleetOperations

  beforeAll(async () => {
    site = await startUpstreamSite({ releases: [older, newest], current: newest })
    service = await startRunningService({
      site,
      stream: { keep: 0 },
      hosts: [{ id: 'of-file', macs: [fileMac], profile: 'worker' }],
    })
    fleet = createControlClient({ path: join(service.dataDirectory, 'control.sock') }).operations.fleet
    await untilCurrent(service, newest)
  })
  afterAll(async () => {
    await service?.remove()
    await site?.stop()
  })

  it('case 126 an unknown property is refused with its path and the allowed names', async () => {
    const put = fleet.putHost('typo', { spec: { macs: [apiMac], kernelArgs: ['a'] } }, change)
    await expect(put).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringMatching(/kernelArgs.*unknown key.*allowed: .*kernelArguments/),
    })
    await expect(fleet.showHost('typo')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('case 148 a MAC in any spelling is kept in one, and what is no address is refused', async () => {
    for (const mac of ['52:54:00:00:01:0A', '52-54-00-00-01-0a', '5254.0000.010a', '52540000010A']) {
      const shown = await fleet.putHost('spelt', { spec: { macs: [mac], profile: 'worker' } }, change)
      expect(shown.macs).toEqual(['52:54:00:00:01:0a'])
      expect(shown.spec).toMatchObject({ macs: ['52:54:00:00:01:0a'] })
    }
    for (const mac of ['2:4:0:b:d:f', '01:00:5e:00:00:01', '00:00:00:00:00:00', 'ff:ff:ff:ff:ff:ff']) {
      await expect(fleet.putHost('spelt', { spec: { macs: [mac] } }, change)).rejects.toMatchObject({
        code: 'USAGE',
      })
    }
  })

  it('case 155 one UUID in two byte orders cannot be two hosts', async () => {
    const uuid = '00112233-4455-6677-8899-aabbccddeeff'
    const swapped = '33221100-5544-7766-8899-aabbccddeeff'
    await fleet.putHost('by-uuid', { spec: { uuid, profile: 'worker' } }, change)
    await expect(fleet.putHost('twin', { spec: { uuid: swapped } }, change)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('by-uuid'),
    })
  })

  it('a host of a file takes pins, but is changed in its file alone', async () => {
    await expect(fleet.putHost('of-file', { spec: { macs: [fileMac] } }, change)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(/hosts\.yaml:3/),
    })
    const taken = fleet.putHost('other', { spec: { macs: [fileMac] } }, change)
    await expect(taken).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(/belongs to host of-file \(\S*hosts\.yaml:3\)/),
    })
  })

  it('G5 case 151 a pin is fetched when it is set and counts for the next packet; unpinned, it follows again', async () => {
    const pin = await fleet.setPin({ target: host('of-file'), release: older, reason: 'NIC' }, change)
    expect(pin).toMatchObject({ release: older, isRunTime: true, hosts: 1, by: expect.any(String) })
    expect(pin.files).toHaveLength(1)
    await eventually(
      () => fleet.listPins({ host: 'of-file' }),
      ({ items }) => items[0]?.files[0]?.state === 'ready',
    )
    const boot = await service.boot({ mac: fileMac })
    expect(digestsOfBoot(boot)).toEqual(digestsOfSet(site.set(older)))
    expect(boot.script).toMatch(
      new RegExp(`^# Reason: pinned to ${older} by host of-file, set by .* at `, 'm'),
    )
    const shown = await fleet.showHost('of-file')
    expect(shown.values.find(({ field }) => field === 'pin')).toMatchObject({
      value: `${older} (NIC)`,
      origin: expect.stringMatching(/^host of-file, set by /),
    })
    expect(shown.boots[0]).toMatchObject({ release: older, host: 'of-file' })
    await fleet.removePin({ target: host('of-file') }, change)
    expect(await service.script(fileMac)).toContain(`sample ${newest}`)
  })

  it('a release that is nowhere is refused at once with what there is; one that nobody could be asked for is looked for', async () => {
    const never = fleet.setPin({ target: host('of-file'), release: '44.20260622.3.9' }, change)
    await expect(never).rejects.toMatchObject({
      code: 'USAGE',
      details: { field: 'release', hint: expect.stringContaining(older) },
    })
    expect((await fleet.listPins({})).total).toBe(0)
    await site.goAway()
    const pin = await fleet.setPin({ target: host('of-file'), release: '43.20250101.3.0' }, change)
    expect(pin.files[0]?.state).toMatch(/queued|unresolvable/)
    const listed = await eventually(
      () => fleet.listPins({ host: 'of-file' }),
      ({ items }) => items[0]?.files[0]?.state === 'unresolvable',
    )
    expect(listed.items[0]?.files[0]?.text).toContain('unresolvable yet')
    await fleet.removePin({ target: host('of-file') }, change)
    await site.comeBack()
  })

  it('cases 153 154 an install stays armed until its node reports, then the disk boots, over a kill as well', async () => {
    await fleet.putHost('node', { spec: { macs: [installMac], profile: 'worker', report: true } }, change)
    await expect(fleet.armInstall({ host: 'node' }, change)).rejects.toMatchObject({
      code: 'USAGE',
      details: { field: 'device' },
    })
    const armed = await fleet.armInstall({ host: 'node', device: '/dev/vda', reason: 'new disk' }, change)
    expect(armed).toMatchObject({ state: 'armed', generation: 1, serves: 0, device: '/dev/vda' })
    const script = await service.script(installMac)
    expect(script).toContain('coreos.inst.install_dev=/dev/vda')
    expect(await service.script(installMac)).toContain('coreos.inst.install_dev=/dev/vda')
    await eventually(
      () => fleet.listInstalls(),
      (installs) => installs[0]?.serves === 2,
    )
    await service.restart('SIGKILL')
    expect(await service.script(installMac)).toContain('coreos.inst.install_dev=/dev/vda')
    expect((await fleet.showHost('node')).install).toMatchObject({ state: 'armed', generation: 1 })
    await fleet.endInstall({ host: 'node', as: 'installed', reason: 'I saw it' }, change)
    expect(await service.script(installMac)).not.toContain('coreos.inst')
    expect((await fleet.showHost('node')).decision).toBe('local')
    await fleet.releaseMode({ target: host('node') }, change)
    expect((await fleet.showHost('node')).decision).toBe('live')
  })

  it('case 154 the report of the boot that installs ends the install, once; that of another boot ends nothing', async () => {
    const ignitionOf = async (mac: string) => {
      const words = (await service.script(mac)).split(/\s+/)
      const url = ignitionUrlOf({ kernelArguments: words })
      const text = url === undefined ? 404 : await fetchIgnition(url)
      if (typeof text === 'number') throw new Error(`no Ignition config: ${text}`)
      return text
    }
    const live = await ignitionOf(installMac)
    await fleet.armInstall({ host: 'node', device: '/dev/vda' }, change)
    expect(await sendReport(live, { status: 'installed', osVersion: newest })).toBe(200)
    expect((await fleet.showHost('node')).decision).toBe('install')
    const installing = await ignitionOf(installMac)
    expect(await sendReport(installing, { status: 'failed', osVersion: newest })).toBe(200)
    expect((await fleet.showHost('node')).install).toMatchObject({ state: 'armed', failure: {} })
    await service.restart('SIGKILL')
    expect(await sendReport(installing, { status: 'installed', osVersion: newest })).toBe(200)
    expect(await sendReport(installing, { status: 'installed', osVersion: newest })).toBe(200)
    const shown = await fleet.showHost('node')
    expect(shown.install).toMatchObject({ state: 'installed', generation: 2 })
    expect(shown.decision).toBe('local')
    expect(shown.reports.map(({ status }) => status)).toEqual(['installed', 'failed', 'installed'])
    expect((await fleet.listAudit({ target: 'host/node', action: 'install.done' })).total).toBe(2)
    await fleet.releaseMode({ target: host('node') }, change)
  })

  it('everything that was changed is in the audit list, with who and why', async () => {
    const { items } = await fleet.listAudit({ target: 'host/node' })
    expect(items.map(({ action }) => action)).toEqual([
      'mode.release',
      'install.done',
      'install.failed',
      'install.arm',
      'mode.release',
      'install.done',
      'install.arm',
      'host.put',
    ])
    expect(items[1]).toMatchObject({ by: expect.stringMatching(/^boot /), via: 'report' })
    expect(items[6]).toMatchObject({ reason: 'new disk', via: 'control' })
  })

  it('a backup brings back pins, hosts and tokens, at once and while machines boot', async () => {
    const file = join(service.directory, 'backup.db')
    await expect(fleet.backup({ file: 'backup.db' })).rejects.toMatchObject({ details: { field: 'file' } })
    await fleet.putHost('brief', { spec: { macs: ['52:54:00:00:01:0b'] } }, change)
    await fleet.setPin({ target: host('of-file'), release: older }, change)
    const { secret } = await fleet.createToken({ name: 'kept', role: 'read' }, change)
    expect(await fleet.backup({ file })).toMatchObject({ file })
    await expect(fleet.backup({ file })).rejects.toMatchObject({ code: 'CONFLICT' })
    await fleet.removePin({ target: host('of-file') }, change)
    await fleet.removeHost('brief', change)
    const restored = await fleet.restore({ file }, change)
    expect(restored).toMatchObject({ settings: 1 })
    expect((await fleet.showHost('of-file')).pin?.release).toBe(older)
    expect((await fleet.showHost('brief')).macs).toEqual(['52:54:00:00:01:0b'])
    expect((await service.boot({ mac: fileMac })).script).toContain(`sample ${older}`)
    const asked = await fetch(`${service.adminUrl}/api/v1/hosts`, {
      headers: { authorization: `Bearer ${secret}` },
    })
    expect(asked.status).toBe(200)
    expect((await fleet.listAudit({ action: 'state.restore' })).total).toBe(1)
  })

  it('on the data of a stopped service the same is said and counts when it starts', async () => {
    await service.kill('SIGTERM')
    const offline = await runCommand(
      'pin',
      'of-file',
      newest,
      '--reason',
      'offline',
      '--config',
      service.configFile,
    )
    expect(offline).toMatchObject({ code: 0 })
    await service.start()
    expect((await fleet.listPins({ host: 'of-file' })).items).toMatchObject([
      { release: newest, reason: 'offline' },
    ])
    expect(await service.script(fileMac)).toContain(`sample ${newest}`)
  })
})
