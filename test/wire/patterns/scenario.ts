import type { PxeMachine } from '../../fakes/pxe-machine.ts'
import type { TimedService } from '../../fakes/timed-service.ts'

/** What a machine does that shows a pattern, up to the moment at which it is to be recognised. */
export interface Scenario {
  readonly situation: string
  /** Who gives addresses: default is a server of the site, beside which we are a proxy. */
  readonly addresses?: 'site' | 'ours'
  /** Of the host record; default: none, an unknown machine. */
  readonly profile?: 'reports' | 'disk'
  readonly architecture?: number
  readonly bootClass?: 'HTTPClient'
  act(machine: PxeMachine, lab: ScenarioLab): Promise<void>
  /** What is said of this machine. */
  readonly text: RegExp
  /** Default: the remedy of the table. */
  readonly remedy?: RegExp
}

export interface ScenarioLab {
  pass(ms: number): Promise<void>
  /** Waits until steps of the boot say so, so often: they are noted when the answer has left. */
  seen(step: RegExp, times?: number): Promise<void>
}

export const seconds = 1000
export const minutes = 60 * seconds

export const siteServer = '192.0.2.1'

/** DISCOVER, the address of the site's server, a loader by TFTP. */
export async function startLoader(
  machine: PxeMachine,
  lab: ScenarioLab,
  loader = 'snponly.efi',
  times = 1,
): Promise<void> {
  await machine.discover({ isNew: true })
  machine.takesAddressOf(siteServer)
  await lab.seen(/takes 127\.\S+ of 192\.0\.2\.1/, times)
  await machine.fetchByTftp(loader)
  await lab.seen(new RegExp(`${loader.replace('.', '\\.')} sent by TFTP`), times)
}

/** The same, then the chainloaded iPXE, its scripts, kernel and initramfs. */
export async function startKernel(machine: PxeMachine, lab: ScenarioLab) {
  await startLoader(machine, lab)
  await machine.discover({ isIpxe: true })
  const script = await machine.fetchScript()
  await machine.get(script.kernel)
  await machine.get(script.initramfs)
  await lab.seen(/initramfs sent/)
  return script
}

export function createScenarioLab(service: TimedService, machine: PxeMachine): ScenarioLab {
  return {
    pass: service.pass,
    async seen(step, times = 1) {
      await service.boot(machine.mac, ({ steps }) => {
        const matching = steps.filter(({ text }) => step.test(text))
        return matching.reduce((sum, { count }) => sum + count, 0) >= times
      })
    },
  }
}
