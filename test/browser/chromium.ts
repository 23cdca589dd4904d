import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core'

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (path) => existsSync(path),
)

/** Whether there is a browser to test with; Debian's package is `chromium`. */
export const hasChromium = executablePath !== undefined
if (!hasChromium)
  console.warn(
    'no Chromium: the tests of the page in a browser are skipped (Debian: apt-get install chromium)',
  )

/** A browser with a new profile, which goes when it is closed. */
export async function openChromium(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const profile = await mkdtemp(join(tmpdir(), 'pilotlight-chromium-'))
  const context = await chromium.launchPersistentContext(profile, {
    ...(executablePath !== undefined && { executablePath }),
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
    ...options,
  })
  const close = context.close.bind(context)
  context.close = async (why) => {
    await close(why)
    // Its last processes write into it while they end.
    await rm(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
  return context
}
