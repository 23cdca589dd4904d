import { setTimeout as delay } from 'node:timers/promises'
import { bootText } from '../../cli/boots/boot-text.ts'
import { isServiceError } from '../../core/errors.ts'
import type { ChangeOptions } from '../../http/admin/fleet-operations.ts'
import type { BootDetail } from '../../http/admin/schemas/boots.ts'
import { fetchIgnition, ignitionUrlOf } from './simulated-report.ts'
import { boot, type DemoStage } from './stage.ts'

const host = 'stuck-node'
const mac = '52:54:00:00:00:05'
const change: ChangeOptions = { actor: { by: 'the demo', via: 'control' } }
const pictureWidth = 96
/** A refused token shows as a diagnosis after five seconds of silence. */
const patienceMs = 15_000

/** A machine whose tokens are revoked while it boots: it asks for its config in vain, and stands still from then on. */
export async function stopOneMachine(stage: DemoStage): Promise<void> {
  const { story, service } = stage
  const { fleet } = service.operations
  story.chapter('A machine stands still: its tokens are revoked while it boots')
  const ignition = { inline: '{"ignition": {"version": "3.4.0"}}' }
  await fleet.putHost(host, { spec: { macs: [mac], profile: 'worker', ignition } }, change)
  const url = ignitionUrlOf(await boot(stage, 'x86_64', { mac }))
  if (url === undefined) throw new Error('a boot without an Ignition config')
  await fleet.revokeBootTokens({ host, reason: 'its console was filmed' }, change)
  story.tell(`pilotlight token revoke-boot ${host} --reason "its console was filmed"`)
  story.check('it asks for its Ignition config and is refused', (await fetchIgnition(url)) === 404)
}

/** The timelines of a machine that booted and of one that did not, as `pilotlight boots show` draws them. */
export async function tellWhatWasSeen(
  stage: DemoStage,
  booted: { readonly mac: string; readonly release: string },
): Promise<void> {
  const { story } = stage
  story.chapter('What an admin sees of a boot that went well')
  const well = await bootOnce(stage, booted.mac, ({ outcome }) => outcome !== undefined)
  story.check(
    `it got all files of ${booted.release}, and nothing is wrong with it`,
    well?.outcome === 'served' && well.release === booted.release && well.diagnosis === undefined,
  )
  show(stage, well)

  story.chapter('And of the one that stands still, some seconds later')
  const stuck = await bootOnce(stage, host, ({ diagnosis }) => diagnosis !== undefined)
  story.check(
    'it is recognised what is wrong, with what to do',
    stuck?.diagnosis?.code === 'ignition-not-fetched' && stuck.diagnosis.remedy !== '',
  )
  show(stage, stuck)
}

function show({ story }: DemoStage, found: BootDetail | undefined): void {
  if (found !== undefined) story.show(bootText(found, { color: false, width: pictureWidth }))
}

/** The last boot of a machine as soon as it is like this; as it is then, when that does not come. */
async function bootOnce(
  { service }: DemoStage,
  machine: string,
  isSo: (found: BootDetail) => boolean,
): Promise<BootDetail | undefined> {
  const endsAt = performance.now() + patienceMs
  let found: BootDetail | undefined
  while (performance.now() < endsAt) {
    found = await service.operations.boots.showBoot(machine).catch((error: unknown) => {
      // Steps are noted when the answer has left; the first one may be a moment away.
      if (isServiceError(error, 'NOT_FOUND')) return undefined
      throw error
    })
    if (found !== undefined && isSo(found)) break
    await delay(100)
  }
  return found
}
