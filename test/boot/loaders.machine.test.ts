import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Firmware } from './boot-machine.ts'
import { bootProblem, type SiteConfig } from './boot-site.ts'
import { expectRelease } from './expect-boot.ts'
import { makeRelease } from './payload.ts'
import { withBootSite } from './with-boot-site.ts'

interface LoaderBoot {
  readonly loader: string
  readonly firmware: Firmware
  readonly profile: SiteConfig['profile']
}

const hasPxelinux = existsSync('/usr/lib/PXELINUX/lpxelinux.0')
if (!bootProblem() && !hasPxelinux) console.log('PXELINUX is not tried: test/boot/rig/install-deps')

/** Loaders other than iPXE, each with its own language. Secure Boot is off, so that GRUB can start our disk. */
const loaders: readonly LoaderBoot[] = [
  { loader: 'GRUB', firmware: 'uefi-pxe', profile: { secureBoot: true } },
  { loader: 'GRUB', firmware: 'uefi-http', profile: { secureBoot: true } },
  ...['lpxelinux.0', 'pxelinux.0']
    .filter(() => hasPxelinux)
    .map((loader): LoaderBoot => ({ loader, firmware: 'bios-pxe-plain', profile: { loader } })),
]
const cases = loaders.map((boot) => [boot.firmware, boot.loader, boot] as const)

describe.skipIf(bootProblem() !== undefined)('decisions in the languages of other loaders', () => {
  it.concurrent.for(cases)(
    'G11 %s, %s: waits for its bootimage, and boots it when it is there',
    ([firmware, loader, { profile }], test) =>
      withBootSite(test, `${firmware}, ${loader} waits`, async (site) => {
        const made = makeRelease(site.upstream, '44.20261101.3.0', 'x86_64')
        site.configure({ mode: 'server', firmware, ...(profile && { profile }) })
        const report = await site.boot({
          mode: 'server',
          firmware,
          isEmpty: true,
          options: ['--steady-clock', '--on', 'this machine waits for', site.prepareMove(made)],
        })
        expectRelease(report, made)
      }),
  )

  it.concurrent.for(cases)(
    '%s, %s: an installed machine goes on to its disk',
    ([firmware, loader, { profile }], test) =>
      withBootSite(test, `${firmware}, ${loader} local boot`, async (site) => {
        site.publish(makeRelease(site.upstream, '44.20261101.3.0', 'x86_64'))
        site.configure({ mode: 'server', firmware, profile: { ...profile, mode: 'local' } })
        const report = await site.boot({
          mode: 'server',
          firmware,
          options: ['--disk', '--expect', '^NODE disk'],
        })
        expect(report.problem).toBeNull()
      }),
  )
})
