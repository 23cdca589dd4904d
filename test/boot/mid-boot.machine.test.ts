import { describe, expect, it } from 'vitest'
import { bootProblem } from './boot-site.ts'
import { expectRelease } from './expect-boot.ts'
import { makeRelease } from './payload.ts'
import { withBootSite } from './with-boot-site.ts'

/** What the service logs when it has given a machine its script: the kernel comes next. */
const decided = '"msg":"boot decided"'
/** What iPXE shows of a kernel that arrives, once a second: how much it has of it. */
const kernelArrives = String.raw`live-kernel\.x86_64\.\.\. *[1-9]\d?%`

describe.skipIf(bootProblem() !== undefined)('what happens while a machine boots', () => {
  it.concurrent('G2 the stream moves: this boot keeps its release, the next one gets the new one', (test) =>
    withBootSite(test, 'bios-pxe, stream moves', async (site) => {
      const before = makeRelease(site.upstream, '44.20261001.3.0', 'x86_64', { isUnique: true })
      const after = makeRelease(site.upstream, '44.20261101.3.0', 'x86_64', { isUnique: true })
      site.publish(before)
      site.configure({ mode: 'proxy', firmware: 'bios-pxe', kernelArguments: ['pl.reboot'] })
      const report = await site.boot({
        mode: 'proxy',
        firmware: 'bios-pxe',
        options: [
          ...['--rate', '30', '--on', decided, site.prepareMove(after), '--reboots'],
          ...['--expect', `^NODE marker .*release=${after.release}`],
        ],
      })
      expectRelease({ ...report, phone_home: report.phone_home.slice(0, 1) }, before)
      // In this order: the new one is current, then the node fetches the rest of the old one.
      const order = site
        .log()
        .match(
          /(?<="release":")44\.\d+\.3\.0(?=.*"bootimage is current")|(?<="role":")rootfs(?=",.*"method":"GET")/g,
        )
      expect(order?.slice(0, 3)).toEqual([before.release, after.release, 'rootfs'])
    }))

  it.concurrent('the service is killed and started again: the boot goes on with the same release', (test) =>
    withBootSite(test, 'bios-pxe, service is killed', async (site) => {
      const made = makeRelease(site.upstream, '44.20261101.3.0', 'x86_64')
      site.publish(made)
      site.configure({ mode: 'proxy', firmware: 'bios-pxe' })
      const report = await site.boot({
        mode: 'proxy',
        firmware: 'bios-pxe',
        isRestarted: true,
        options: ['--rate', '30', '--on', kernelArrives, site.kill],
      })
      expectRelease(report, made)
      // It was killed while it sent the kernel.
      const kernels = report.http.filter(({ target }) => target.includes(made.digests.kernel))
      expect(kernels.map(({ sha256 }) => sha256)).toEqual([null, made.digests.kernel])
    }))
})
