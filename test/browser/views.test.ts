import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasChromium, openChromium } from './chromium.ts'
import { openPageSession, type PageSession } from './page-session.ts'

/**
 * Every view with a fleet in mixed states, looked at by axe-core in light and dark, at all widths. With SCREENSHOTS=1
 * the pictures of the README are made anew.
 */
const pictures = join(import.meta.dirname, 'screenshots')
const isPictured = process.env.SCREENSHOTS === '1'

const views = {
  fleet: '/',
  'fleet-filtered': '/?state=stuck',
  host: '/hosts/rack1-n04',
  stuck: '/hosts/rack1-n02',
  unknown: '/machines/3c:ec:ef:10:2a:4e',
  boots: '/boots',
  boot: '/boots/0mh9xk2r0000005',
  streams: '/streams',
  events: '/events',
  doctor: '/doctor',
  pin: '/hosts/rack1-n04/pin',
  install: '/hosts/rack1-n04/install',
  adopt: '/machines/3c:ec:ef:10:2a:4e/adopt',
  missing: '/hosts/nobody',
} as const
const pictured: readonly (keyof typeof views)[] = ['fleet', 'host', 'stuck', 'streams', 'events', 'doctor']

interface AxeViolation {
  readonly id: string
  readonly help: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

describe.skipIf(!hasChromium)('the page in Chromium', () => {
  let session: PageSession
  beforeAll(async () => {
    session = await openPageSession()
    if (isPictured) mkdirSync(pictures, { recursive: true })
  })
  afterAll(() => session.close())

  describe.each(['light', 'dark'] as const)('%s', (colorScheme) => {
    test.each(Object.entries(views))('%s has nothing that axe-core objects to', async (name, path) => {
      const { page, url } = session
      await page.emulateMedia({ colorScheme })
      await page.goto(url + path)
      if (await page.locator('[data-live]').count())
        await page.getByText('Live', { exact: true }).first().waitFor()
      expect(await violations(page)).toEqual([])
      if (
        isPictured &&
        pictured.some((picture) => picture === name) &&
        (colorScheme === 'light' || name === 'fleet')
      ) {
        await page.setViewportSize({ width: 1120, height: 660 })
        await page.screenshot({ path: join(pictures, `${name}${colorScheme === 'dark' ? '-dark' : ''}.png`) })
        await page.setViewportSize({ width: 1280, height: 800 })
      }
    })

    test('the login has nothing that axe-core objects to, also after a mistake', async () => {
      const context = await openChromium({ colorScheme })
      const page = await context.newPage()
      await page.goto(`${session.url}/login`)
      expect(await violations(page)).toEqual([])
      await page.fill('#token', 'plt_wrong')
      await page.click('main button')
      await page.getByRole('alert').waitFor()
      expect(await violations(page)).toEqual([])
      await context.close()
    })
  })

  test.each([320, 480, 768, 1024, 1280, 1920, 3840])(
    'nothing is cut off, squeezed, broken in a word or needs scrolling sideways at %d pixels',
    async (width) => {
      const { page, url } = session
      await page.setViewportSize({ width, height: 900 })
      for (const [name, path] of Object.entries(views)) {
        await page.goto(url + path)
        const wide = await page.evaluate('document.documentElement.scrollWidth')
        expect([name, wide]).toEqual([name, width])
        expect([name, await page.evaluate(unreadable)]).toEqual([name, []])
      }
      await page.setViewportSize({ width: 1280, height: 800 })
    },
  )

  test('the keyboard reaches everything in order, and where it is can be seen', async () => {
    const { page, url } = session
    await page.goto(url)
    const reached: string[] = []
    for (let step = 0; step < 30; step += 1) {
      await page.keyboard.press('Tab')
      const [name, outline] = (await page.evaluate(
        '[document.activeElement.textContent.trim() || document.activeElement.name, getComputedStyle(document.activeElement).outlineStyle]',
      )) as [string, string]
      expect([name, outline]).not.toEqual([name, 'none'])
      reached.push(name)
    }
    expect(reached.slice(0, 8)).toEqual([
      'Skip to content',
      'Pilotlight',
      'Fleet',
      'Boots',
      'Streams',
      'Events',
      'Doctor',
      'Log out',
    ])
    expect(reached.findIndex((name) => name.endsWith('machines'))).toBeLessThan(reached.indexOf('search'))
    expect(reached.indexOf('search')).toBeLessThan(reached.indexOf('Filter'))
    expect(reached.indexOf('Filter')).toBeLessThan(reached.indexOf('3c:ec:ef:10:2a:4e'))
  })

  test('the link at the top skips to the content', async () => {
    const { page, url } = session
    await page.goto(url)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.id')).toBe('main')
  })

  test('the browser found nothing to complain of but what was asked for', () => {
    expect(session.complaints.filter((text) => !text.includes('404 (Not Found)'))).toEqual([])
  })
})

/**
 * Runs in the page: cells of less than eight characters in which a text is on several lines, text outside of the window,
 * and releases, MACs and names of actions in two parts.
 */
const unreadable = `(() => {
  const found = []
  const range = document.createRange()
  const lines = () =>
    new Set([...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => Math.round(top))).size
  const words = /[0-9a-f]{2}(?::[0-9a-f]{2}){5}|(?<![/\\w])\\d+\\.\\d{8}\\.\\d+\\.\\d+|\\b[a-z]+\\.[a-z]+\\b/g
  const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT)
  while (texts.nextNode()) {
    const text = texts.currentNode
    if (text.parentElement.closest('.unseen, option, thead, svg')) continue
    range.selectNodeContents(text)
    for (const { right, left, width } of range.getClientRects())
      if (width > 0 && (right > innerWidth + 1 || left < 0)) found.push('cut: ' + text.data)
    const cell = text.parentElement.closest('td, th')
    if (cell !== null && lines() > 1) {
      const { paddingLeft, paddingRight, fontSize } = getComputedStyle(cell)
      const inside = cell.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight)
      if (inside < 8 * 0.6 * parseFloat(fontSize)) found.push('squeezed: ' + text.data)
    }
    for (const match of text.data.matchAll(words)) {
      range.setStart(text, match.index)
      range.setEnd(text, match.index + match[0].length)
      if (lines() > 1) found.push('broken: ' + match[0])
    }
  }
  return found
})()`

async function violations(page: Page): Promise<readonly string[]> {
  // As a tool of the test it comes past the policy of the page, which lets in nothing that is not a file of ours.
  await page.evaluate(axe.source)
  const found = (await page.evaluate('axe.run().then(({ violations }) => violations)')) as AxeViolation[]
  return found.map(
    ({ id, help, nodes }) =>
      `${id}: ${help}\n${nodes.map(({ html, failureSummary }) => `${html}\n${failureSummary}`).join('\n')}`,
  )
}
