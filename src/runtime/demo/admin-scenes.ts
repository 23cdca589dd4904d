import type { ChangeOptions } from '../../http/admin/fleet-operations.ts'
import type { SampleRelease } from './sample-release.ts'
import { fetchIgnition, ignitionUrlOf, sendReport } from './simulated-report.ts'
import { boot, type DemoStage, isOf } from './stage.ts'

const host = 'admins-node'
const target = { kind: 'host', name: host } as const
const mac = '52:54:00:00:00:04'
const change: ChangeOptions = { actor: { by: 'the demo', via: 'control' } }

/** What an admin does while the service runs: pin, install once, roll back. Each statement is checked. */
export async function tellAdminsPart(
  stage: DemoStage,
  old: SampleRelease,
  current: SampleRelease,
): Promise<void> {
  const { story, service } = stage
  const { fleet } = service.operations

  story.chapter('An admin makes a host and pins it, while the service runs')
  const ignition = { inline: '{"ignition": {"version": "3.4.0"}, "systemd": {}}' }
  await fleet.putHost(host, { spec: { macs: [mac], profile: 'worker', ignition } }, change)
  story.tell(`pilotlight host add ${host} --mac ${mac} --profile worker`)
  const pin = await fleet.setPin({ target, release: old.release, reason: 'to be tried' }, change)
  story.tell(`pilotlight pin ${host} ${old.release} --reason "to be tried"`)
  story.check(
    `its files are here for ${pin.files.map(({ arch }) => arch).join(' and ')}`,
    pin.files.length > 0 && pin.files.every(({ state }) => state === 'ready'),
  )
  story.check(`the next boot is ${old.release}`, isOf(await boot(stage, 'x86_64', { mac }), old, 'x86_64'))
  await fleet.removePin({ target, reason: 'tried' }, change)
  story.check(
    `after pilotlight unpin ${host} it is ${current.release}`,
    isOf(await boot(stage, 'x86_64', { mac }), current, 'x86_64'),
  )

  await tellInstall(stage, current)
}

async function tellInstall(stage: DemoStage, current: SampleRelease): Promise<void> {
  const { story, service } = stage
  const { fleet } = service.operations
  story.chapter('It is installed once, and says so itself')
  await fleet.armInstall({ host, device: '/dev/sda', reason: 'new disk' }, change)
  story.tell(`pilotlight install ${host} --device /dev/sda --reason "new disk"`)
  const first = await boot(stage, 'x86_64', { mac })
  story.check('the script starts the installer', installsTo(first, '/dev/sda'))
  const second = await boot(stage, 'x86_64', { mac })
  story.check('a script that was handed out proves nothing: it stays armed', installsTo(second, '/dev/sda'))

  const oldUrl = ignitionUrlOf(first)
  const url = ignitionUrlOf(second)
  if (oldUrl === undefined || url === undefined) throw new Error('an install without an Ignition config')
  story.check('the Ignition URL of the boot before is refused', (await fetchIgnition(oldUrl)) === 404)
  const config = await fetchIgnition(url)
  if (typeof config === 'number') throw new Error(`the Ignition config was answered with ${config}`)
  story.check('the URL of this boot brings the config of this host', config.includes('report-url'))
  story.check(
    'the installed system reports, by a token of this boot',
    (await sendReport(config, { status: 'installed', osVersion: current.release })) === 200,
  )

  const { decision, reasons } = await service.operations.explain({ host, arch: 'x86_64' })
  const { fetches } = await boot(stage, 'x86_64', { mac })
  story.check(
    'from now on its script sends it to its disk',
    decision === 'local' && fetches.every(({ what }) => what === 'entry' || what === 'script'),
  )
  story.tell(`why: ${reasons[0]?.text ?? ''}`)
  await fleet.releaseMode({ target, reason: 'back to the pool' }, change)
  story.check(
    `after pilotlight release ${host} it runs ${current.release} from memory again`,
    isOf(await boot(stage, 'x86_64', { mac }), current, 'x86_64'),
  )
  const { items } = await fleet.listAudit({ target: `host/${host}` })
  story.tell(
    `pilotlight audit: ${items
      .map(({ action }) => action)
      .reverse()
      .join(', ')}`,
  )
}

function installsTo({ kernelArguments }: { readonly kernelArguments: readonly string[] }, device: string) {
  return kernelArguments.includes(`coreos.inst.install_dev=${device}`)
}
