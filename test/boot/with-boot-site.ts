import type { TestContext } from 'vitest'
import { recordBoot } from './boot-results.ts'
import { type BootSite, createBootSite } from './boot-site.ts'

/** A boot with a row of this name in the table; its folder is removed unless the test fails. */
export async function withBootSite(
  test: Pick<TestContext, 'onTestFailed'>,
  name: string,
  use: (site: BootSite) => Promise<void>,
): Promise<void> {
  const site = createBootSite(name)
  test.onTestFailed(() => console.log(`what was seen of "${name}" is in ${site.directory}`))
  const boot: BootSite = {
    ...site,
    async boot(how) {
      const report = await site.boot(how)
      recordBoot(name, how.mode, how.isToStop === true ? { ...report, ok: true } : report)
      return report
    },
  }
  await use(boot)
  site.remove()
}
