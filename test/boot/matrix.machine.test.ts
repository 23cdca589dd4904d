import { beforeAll, describe, it } from 'vitest'
import { type Firmware, firmwares } from './boot-machine.ts'
import { recordBoot } from './boot-results.ts'
import { type BootSite, bootProblem, createBootSite, type DhcpMode, has } from './boot-site.ts'
import { expectBoot } from './expect-boot.ts'
import { makeRelease, newerLoaders } from './payload.ts'
import { writeSnippet } from './write-snippet.ts'

const problem = bootProblem()
if (problem) console.log(`no machine is booted: ${problem}`)
const hasArm = has('qemu-system-aarch64')
if (!problem && !hasArm) console.log('no arm64 machine is booted: test/boot/rig/install-deps --arm64')

const modes: readonly DhcpMode[] = ['proxy', 'server', 'site']
const quick: readonly string[] = ['bios-pxe proxy', 'uefi-pxe proxy', 'uefi-http server']
const boots = firmwares
  .filter((firmware) => hasArm || !firmware.startsWith('arm64'))
  .flatMap((firmware) => modes.map((mode) => [firmware, mode] as const))
  .filter(
    ([firmware, mode]) =>
      process.env.PILOTLIGHT_BOOT_QUICK === undefined || quick.includes(`${firmware} ${mode}`),
  )

const release = '44.20261101.3.0'

async function bootOnce(site: BootSite, firmware: Firmware, mode: DhcpMode): Promise<void> {
  const arch = firmware.startsWith('arm64') ? 'aarch64' : 'x86_64'
  const made = makeRelease(site.upstream, release, arch)
  site.publish(made)
  site.configure({ firmware, mode })
  const snippet = () => [`--site-arg=--conf-file=${writeSnippet(site, 'dnsmasq.conf', firmware)}`]
  const report = await site.boot({ firmware, mode, options: mode === 'site' ? snippet() : [] })
  recordBoot(firmware, mode, report)
  expectBoot(site, report, made)
}

describe.skipIf(problem !== undefined)('a machine reaches the kernel of the current bootimage', () => {
  beforeAll(() => void newerLoaders())

  it.concurrent.for(boots)('%s, DHCP mode %s', async ([firmware, mode], { onTestFailed }) => {
    const site = createBootSite(`${firmware}-${mode}`)
    onTestFailed(() => console.log(`what was seen of ${firmware}, ${mode}: ${site.out}`))
    await bootOnce(site, firmware, mode)
    site.remove()
  })
})
