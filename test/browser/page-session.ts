import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { fakeSecrets } from '../fakes/fleet-operations.ts'
import { openChromium } from './chromium.ts'
import { createMixedFleet, type MixedFleet, morning } from './mixed-fleet.ts'
import { createPageApp, listenOnLoopback, type PageApp } from './page-app.ts'

/** The page in a browser, logged in, over a fleet in mixed states whose clock goes on. */
export interface PageSession {
  readonly url: string
  readonly fleet: MixedFleet
  readonly app: PageApp
  readonly context: BrowserContext
  readonly page: Page
  /** What the browser complained of: violations of the policy, failed loads, errors of the script. */
  readonly complaints: string[]
  close(): Promise<void>
}

export interface PageSessionOptions {
  readonly hosts?: number
  readonly role?: 'read' | 'write'
  readonly context?: BrowserContextOptions
  readonly fleet?: MixedFleet
}

export async function openPageSession({
  hosts,
  role = 'write',
  context: contextOptions = {},
  fleet = createMixedFleet(hosts),
}: PageSessionOptions = {}): Promise<PageSession> {
  const began = Date.now()
  const app = createPageApp({ answers: fleet.answers, now: () => morning + Date.now() - began })
  const url = await listenOnLoopback(app)
  const context = await openChromium({ viewport: { width: 1280, height: 800 }, ...contextOptions })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  await page.goto(url)
  await page.fill('#token', fakeSecrets[role])
  await page.click('main button')
  await page.waitForURL(`${url}/`)
  return {
    url,
    fleet,
    app,
    context,
    page,
    complaints,
    async close() {
      await context.close()
      await app.app.close()
    },
  }
}
