import { afterEach, describe, expect, test } from 'vitest'
import { type RunningService, startRunningService, untilCurrent } from '../fakes/running-service.ts'
import { startUpstreamSite, type UpstreamSite } from '../fakes/upstream-site.ts'
import { hasChromium, openChromium } from './chromium.ts'

/** The built service, from the login to a machine that boots: nothing here is a fake but the machine. */
describe.skipIf(!hasChromium)('the page of the built service', () => {
  const release = '44.20260622.3.0'
  const mac = '52:54:00:ab:cd:01'
  let site: UpstreamSite | undefined
  let service: RunningService | undefined
  afterEach(async () => {
    await service?.remove()
    await site?.stop()
  })

  test('a machine boots, and its row and its own page move without a load', async () => {
    site = await startUpstreamSite({ releases: [release] })
    service = await startRunningService({
      site,
      hosts: [{ id: 'rack1-n01', macs: [mac], profile: 'worker' }],
      config: { log: { format: 'json', level: 'debug' } },
    })
    await untilCurrent(service, release)
    const { secret } = await service.control<{ readonly secret: string }>('/api/v1/tokens', {
      name: 'ops',
      role: 'write',
    })
    const context = await openChromium()
    const complaints: string[] = []
    try {
      const page = await context.newPage()
      page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
      page.on('pageerror', (error) => complaints.push(String(error)))
      await page.goto(service.adminUrl)
      await page.fill('#token', secret)
      await page.click('main button')
      const row = page.locator('#row-rack1-n01')
      await row.locator('.state', { hasText: 'Quiet' }).waitFor()
      await page.locator('#live[data-state=on]').waitFor()
      await page.evaluate('window.loadedOnce = true')

      await service.boot({ mac })
      await row.locator('.state', { hasText: 'Served' }).waitFor({ timeout: 5_000 })
      // A machine that nobody knows shows up by itself.
      await service.boot({ mac: '52:54:00:ab:cd:99' })
      await page.locator('tr[data-key="52:54:00:ab:cd:99"]').waitFor({ timeout: 8_000 })
      expect(await page.evaluate('window.loadedOnce')).toBe(true)

      await row.locator('a').click()
      const lanes = page.locator('.picture tbody th')
      await expect
        .poll(() => lanes.allTextContents())
        .toEqual(expect.arrayContaining(['Script', 'Kernel', 'Initramfs', 'Rootfs']))
      expect(await page.locator('.reasons').first().textContent()).toContain('rack1-n01')

      await page.click('nav.actions >> text=Hold')
      await page.fill('input[name=reason]', 'bad DIMM')
      await page.click('main button')
      await page.locator('.notice').waitFor()
      expect(await page.locator('#decision').textContent()).toContain('held')
      expect(await service.script(mac)).toContain('bad DIMM')
      for (const [path, text] of [
        ['/events', 'bad DIMM'],
        ['/streams', release],
        ['/boots', 'rack1-n01'],
        ['/doctor', 'How boots go wrong'],
      ] as const) {
        await page.goto(service.adminUrl + path)
        await page.getByText(text).first().waitFor()
      }
      expect(await page.locator('tr', { hasText: 'undefined' }).count()).toBe(0)
      expect(complaints).toEqual([])
      // The token is in no line of the log.
      expect(JSON.stringify(service.log())).not.toContain(secret)
      await page.click('text=Log out')
      await page.locator('#token').waitFor()
    } finally {
      await context.close()
    }
  })
})
