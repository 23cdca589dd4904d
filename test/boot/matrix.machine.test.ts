import { beforeAll, describe, expect, it } from 'vitest'
import type { BootPhase } from '../../src/core/boot-attempt.ts'
import type { BootDetail } from '../../src/http/admin/schemas/boots.ts'
import { firmwares } from './boot-machine.ts'
import { recordTimeline } from './boot-results.ts'
import { bootProblem, type DhcpMode, has } from './boot-site.ts'
import { expectBoot, expectRelease } from './expect-boot.ts'
import { expectTimeline } from './expect-timeline.ts'
import { makeRelease, newerLoaders } from './payload.ts'
import { withBootSite } from './with-boot-site.ts'
import { writeSnippet } from './write-snippet.ts'

const problem = bootProblem()
if (problem) console.log(`no machine is booted: ${problem}`)
const hasArm = has('qemu-system-aarch64')
if (!problem && !hasArm) console.log('no arm64 machine is booted: test/boot/rig/install-deps --arm64')

const modes: readonly DhcpMode[] = ['proxy', 'server', 'site']
const isQuick = process.env.BOOT_TEST_QUICK !== undefined
const quickOnes: readonly string[] = ['bios-pxe proxy', 'uefi-pxe proxy', 'uefi-http server']
const boots = firmwares
  .filter((firmware) => hasArm || !firmware.startsWith('arm64'))
  .flatMap((firmware) => modes.map((mode) => [firmware, mode] as const))
  .filter(([firmware, mode]) => !isQuick || quickOnes.includes(`${firmware} ${mode}`))

const release = '44.20261101.3.0'
/** It gets a config, and says that it is up. */
const host = {
  id: 'n01',
  macs: ['52:54:00:77:00:01'],
  profile: 'node',
  ignition: { inline: JSON.stringify({ ignition: { version: '3.4.0' } }) },
}
const phasesOfAll: readonly BootPhase[] = ['script', 'kernel', 'initramfs', 'rootfs', 'ignition', 'system']

describe.skipIf(problem !== undefined)('a machine reaches the kernel of the current bootimage', () => {
  beforeAll(() => void newerLoaders())

  // First and beside the others, because it takes so long: EDK2 resets a machine that did nothing for five minutes.
  const waitSeconds = 390
  it.skipIf(isQuick).concurrent(
    'G11 uefi-pxe waits for more than six minutes, and boots when its bootimage arrives',
    (test) =>
      withBootSite(test, 'uefi-pxe, waits for six minutes', async (site) => {
        const made = makeRelease(site.upstream, release, 'x86_64')
        site.configure({ mode: 'proxy', firmware: 'uefi-pxe' })
        const report = await site.boot({
          mode: 'proxy',
          firmware: 'uefi-pxe',
          isEmpty: true,
          before: `{ sleep ${waitSeconds}; ${site.prepareMove(made)}; } & `,
          timeoutSeconds: 1000,
        })
        expectRelease(report, made)
        expect(report.stages.marker).toBeGreaterThan(360)
      }),
    1_100_000,
  )

  it.concurrent.for(boots)('%s, DHCP mode %s', ([firmware, mode], test) =>
    withBootSite(test, firmware, async (site) => {
      const made = makeRelease(site.upstream, release, firmware.startsWith('arm64') ? 'aarch64' : 'x86_64')
      site.publish(made)
      site.configure({ firmware, mode, hosts: [host] })
      const boot = site.asking(`/api/v1/boots/${host.id}`)
      const snippet = () => [`--site-arg=--conf-file=${writeSnippet(site, 'dnsmasq.conf', firmware)}`]
      const report = await site.boot({
        firmware,
        mode,
        options: [...(mode === 'site' ? snippet() : []), '--on', '^NODE told booted', boot.command],
      })
      expectBoot(site, report, made)
      const timeline = boot.answer() as BootDetail
      recordTimeline(`${firmware}, ${mode}`, timeline)
      const phases: readonly BootPhase[] = mode === 'site' ? phasesOfAll : ['dhcp', ...phasesOfAll]
      expectTimeline(timeline, { phases, release, log: site.log() })
    }),
  )
})
