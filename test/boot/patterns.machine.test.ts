import { describe, expect, it, type TestContext } from 'vitest'
import type { BootPatternCode } from '../../src/core/boot-pattern.ts'
import type { BootDetail } from '../../src/http/admin/schemas/boots.ts'
import type { Firmware } from './boot-machine.ts'
import { recordTimeline } from './boot-results.ts'
import { bootProblem, type SiteConfig } from './boot-site.ts'
import { makeRelease, newerLoaders } from './payload.ts'
import { withBootSite } from './with-boot-site.ts'

const host = { id: 'n01', macs: ['52:54:00:77:00:01'], profile: 'node' }
/** Five minutes of silence are twenty seconds then, and ten seconds are less than one. */
const clockFactor = 15

interface Trouble {
  readonly code: BootPatternCode
  readonly firmware: Firmware
  readonly config?: Partial<SiteConfig>
  /** Of the host record. */
  readonly host?: object
  readonly rootfsBytes?: number
  readonly options?: readonly string[]
  readonly text: RegExp
}

const troubles: readonly Trouble[] = [
  {
    code: 'loader-of-wrong-architecture',
    firmware: 'uefi-pxe',
    config: { loaders: [newerLoadersIfAny()] },
    host: { loader: 'snponly-arm64.efi' },
    text: /It is x86_64 and fetched snponly-arm64\.efi, which is for aarch64/,
  },
  {
    code: 'silent-after-kernel',
    firmware: 'bios-pxe',
    // A system that stops in its initramfs, with a prompt that nobody sees.
    config: { kernelArguments: ['rdinit=/bin/sh'] },
    text: /Kernel and initramfs went out whole, and it did not ask for its rootfs in the .* after that/,
  },
  {
    code: 'rootfs-cut-off',
    firmware: 'bios-pxe',
    // More than its memory holds.
    config: { kernelArguments: ['pl.hold'] },
    rootfsBytes: 200 << 20,
    options: ['--memory', '256', '--expect', '^NODE never'],
    text: /The rootfs broke off at .+, and nothing went on/,
  },
]

describe.skipIf(bootProblem() !== undefined)(
  'a real machine that does not boot is told what is wrong',
  () => {
    it.concurrent.for(troubles.map((trouble) => [trouble.code, trouble] as const))(
      '%s',
      ([, trouble], test) => expectTrouble(trouble, test),
    )
  },
)

/** The boot is given up when the machine has been silent for a while; by then the service has said what is wrong. */
function expectTrouble(trouble: Trouble, test: Pick<TestContext, 'onTestFailed'>): Promise<void> {
  const { code, firmware, config, rootfsBytes, options = [], text } = trouble
  return withBootSite(test, `${firmware}, ${code}`, async (site) => {
    site.publish(makeRelease(site.upstream, '44.20261101.3.0', 'x86_64', rootfsBytes ? { rootfsBytes } : {}))
    site.configure({ mode: 'proxy', firmware, hosts: [{ ...host, ...trouble.host }], ...config })
    const shown = site.asking(`/api/v1/boots/${host.id}`)
    await site.boot({
      mode: 'proxy',
      firmware,
      clockFactor,
      isToStop: true,
      options: [...options, '--patience', '40', '--on', `"${code}"`, shown.command],
    })
    const boot = shown.answer() as BootDetail
    recordTimeline(`${firmware}, ${code}`, boot)
    expect(boot.diagnosis).toMatchObject({ code, text: expect.stringMatching(text) })
    expect(boot.diagnosis?.remedy).not.toBe('')
  })
}

/** Loaders are fetched for machines that are booted, and for nobody else. */
function newerLoadersIfAny(): string {
  return bootProblem() === undefined ? newerLoaders() : ''
}
