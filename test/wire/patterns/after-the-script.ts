import type { BootPatternCode } from '../../../src/core/boot-pattern.ts'
import { fetchIgnition } from '../../../src/runtime/demo/simulated-report.ts'
import type { PxeMachine } from '../../fakes/pxe-machine.ts'
import { minutes, type Scenario, type ScenarioLab, seconds, startKernel, startLoader } from './scenario.ts'

/** Where the unit in the config of a machine reports to. */
export function reportUrlIn(ignition: string): string {
  const { storage } = JSON.parse(ignition) as {
    readonly storage: { readonly files: readonly { path: string; contents: { source: string } }[] }
  }
  const source = storage.files.find(({ path }) => path === '/etc/pilotlight/report-url')?.contents.source
  return Buffer.from(source?.replace(/^data:;base64,/, '') ?? '', 'base64')
    .toString()
    .trim()
}

/** Everything but the report; resolves with where it would go. */
export async function startSystem(machine: PxeMachine, lab: ScenarioLab): Promise<string> {
  const script = await startKernel(machine, lab)
  await machine.head(script.rootfs)
  await machine.get(script.rootfs)
  const ignition = (await machine.get(script.ignition)).toString()
  await lab.seen(/Ignition config sent/)
  return reportUrlIn(ignition)
}

/** Patterns of systems that are on their way, and of those that came up. */
export const afterTheScript = {
  'silent-after-kernel': [
    {
      situation: 'kernel and initramfs fetched, and silence',
      async act(machine, lab) {
        await startKernel(machine, lab)
        await lab.pass(5 * minutes + 1 * seconds)
      },
      text: /Kernel and initramfs went out whole, and it did not ask for its rootfs in the 5 min after/,
    },
    {
      situation: 'the kernel fetched by a loader that knows no initrd',
      async act(machine, lab) {
        await startLoader(machine, lab)
        const { kernel } = await machine.fetchScript()
        await machine.get(kernel)
        await lab.seen(/kernel sent/)
        await lab.pass(2.5 * minutes + 1 * seconds)
      },
      text: /it did not ask for the initramfs/,
      remedy: /the loader could not start the kernel/,
    },
  ],
  'rootfs-only-looked-at': [
    {
      situation: 'HEAD of the rootfs every five seconds, and never a GET',
      async act(machine, lab) {
        const { rootfs } = await startKernel(machine, lab)
        for (let count = 0; count < 10; count += 1) {
          await machine.head(rootfs)
          await lab.seen(/rootfs looked at/)
          await lab.pass(5 * seconds)
        }
      },
      text: /It looked at the rootfs (?:9|10) times and fetched none of it/,
    },
  ],
  'rootfs-cut-off': [
    {
      situation: 'a rootfs that breaks off in the middle',
      async act(machine, lab) {
        const { rootfs } = await startKernel(machine, lab)
        await machine.getSomeOf(rootfs)
        await lab.seen(/rootfs cut off at \d+ %|rootfs cut off/)
        await lab.pass(31 * seconds)
      },
      text: /The rootfs broke off at .+, and nothing went on/,
    },
  ],
  'ignition-not-fetched': [
    {
      situation: 'the rootfs fetched, and no config',
      profile: 'reports',
      async act(machine, lab) {
        const { rootfs } = await startKernel(machine, lab)
        await machine.get(rootfs)
        await lab.seen(/rootfs sent/)
        await lab.pass(5 * minutes + 1 * seconds)
      },
      text: /It got its rootfs, and did not ask for its Ignition config in the 5 min after/,
    },
    {
      situation: 'a config asked for when its token has expired',
      profile: 'reports',
      async act(machine, lab) {
        const { rootfs, ignition } = await startKernel(machine, lab)
        await machine.get(rootfs)
        await lab.pass(31 * minutes)
        await fetchIgnition(ignition)
        await lab.seen(/Ignition config refused: its token has expired/)
        await lab.pass(6 * seconds)
      },
      text: /its token was refused: expired/,
      remedy: /Let n\d+ boot once more/,
    },
  ],
  'reports-another-release': [
    {
      situation: 'a report that names another release than the one it was given',
      profile: 'reports',
      async act(machine, lab) {
        const reportUrl = await startSystem(machine, lab)
        await machine.post(reportUrl, { status: 'booted', osVersion: '43.20260101.3.0' })
        await lab.seen(/Reports booted 43\.20260101\.3\.0/)
      },
      text: /It was given 44\.20260622\.3\.0 and reports 43\.20260101\.3\.0/,
    },
  ],
  'no-report': [
    {
      situation: 'everything fetched, and no report for a quarter of an hour',
      profile: 'reports',
      async act(machine, lab) {
        await startSystem(machine, lab)
        await lab.pass(15 * minutes + 1 * seconds)
      },
      text: /It got its last file, and did not report in the 15 min after/,
    },
  ],
  'returns-although-local': [
    {
      situation: 'sent to its disk, and back three times within three minutes',
      profile: 'disk',
      async act(machine, lab) {
        for (let count = 0; count < 3; count += 1) {
          await machine.discover({ isNew: true })
          await machine.fetchScript()
          await lab.seen(/Told to boot from its disk/)
          await lab.pass(60 * seconds)
        }
      },
      text: /It was sent to its disk 3 times within 2 min and came back/,
    },
  ],
  overdue: [
    {
      situation: 'a script fetched, and nothing that it names',
      async act(machine, lab) {
        await startLoader(machine, lab)
        await machine.fetchScript()
        await lab.seen(/Told to run/)
        await lab.pass(2.5 * minutes + 1 * seconds)
      },
      text: /It went silent \(.+\), and nothing was heard of it in the next/,
    },
  ],
} satisfies Partial<Record<BootPatternCode, readonly Scenario[]>>
