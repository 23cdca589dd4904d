import { afterEach, describe, expect, test } from 'vitest'
import { fakeSecrets } from '../fakes/fleet-operations.ts'
import { hasChromium } from './chromium.ts'
import { createMixedFleet } from './mixed-fleet.ts'
import { openPageSession, type PageSession, type PageSessionOptions } from './page-session.ts'

const opened: PageSession[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((session) => session.close()))
})

async function open(options: PageSessionOptions = {}): Promise<PageSession> {
  const session = await openPageSession(options)
  opened.push(session)
  return session
}

const isLive = (session: PageSession) => session.page.locator('#live[data-state=on]').waitFor()

describe.skipIf(!hasChromium)('the page moves by itself', () => {
  test('a row changes without a load; focus, scroll and what is typed stay', async () => {
    const session = await open()
    const { page, fleet } = session
    await isLive(session)
    await page.evaluate('window.loadedOnce = true')
    await page.fill('input[name=search]', 'half a wo')
    await page.locator('#row-rack1-n05 a').focus()
    await page.evaluate('window.scrollTo(0, 300)')
    fleet.move('rack1-n04', {
      state: 'booted',
      step: 'reported: booted 44.20261115.3.0',
      transfer: undefined,
    })
    await page.locator('#row-rack1-n04 .state', { hasText: 'Booted' }).waitFor({ timeout: 2_000 })
    expect(await page.locator('#row-rack1-n04 progress').count()).toBe(0)
    // It belongs further down now; the list follows a little later.
    await expect
      .poll(() => page.locator('#machine-rows tr').nth(7).getAttribute('data-key'), { timeout: 5_000 })
      .toBe('rack1-n05')
    expect(await page.evaluate('[window.loadedOnce, scrollY, document.activeElement.textContent]')).toEqual([
      true,
      300,
      'rack1-n05',
    ])
    expect(await page.inputValue('input[name=search]')).toBe('half a wo')
    expect(await page.locator('#counts').textContent()).toMatch(/2\s+Booting/)
    expect(session.complaints).toEqual([])
  })

  test('a machine that gets stuck comes to the top and is said aloud, once', async () => {
    const session = await open()
    const { page, fleet } = session
    await isLive(session)
    expect(await page.locator('#news').textContent()).toBe('')
    fleet.move('rack4-n04', {
      state: 'stuck',
      step: 'kernel sent',
      diagnosis: {
        code: 'overdue',
        text: 'Silent for 9 minutes.',
        remedy: 'Look at its console.',
        at: new Date().toISOString(),
      },
    })
    await page.locator('#row-rack4-n04').waitFor({ timeout: 4_000 })
    await expect.poll(() => page.locator('#news').textContent()).toBe('7 machines need you.')
    expect(await page.locator('#row-rack4-n04 .todo').textContent()).toBe('Do: Look at its console.')
    const fourth = page.locator('#machine-rows tr').nth(3)
    await expect.poll(() => fourth.getAttribute('data-key'), { timeout: 5_000 }).toBe('rack4-n04')
  })

  test('the page of a machine shows its next step', async () => {
    const session = await open()
    const { page, fleet, url } = session
    await page.goto(`${url}/hosts/rack1-n05`)
    await isLive(session)
    fleet.move('rack1-n05', { step: 'initramfs sent, 92.1 MiB', phase: 'initramfs' })
    await page.locator('.now', { hasText: 'initramfs sent' }).waitFor({ timeout: 3_000 })
    expect(await page.locator('.picture tbody tr').last().locator('th').textContent()).toBe('Initramfs')
  })

  test('others are left alone', async () => {
    const session = await open()
    const { page, fleet, url } = session
    await page.goto(`${url}/hosts/rack1-n05`)
    await isLive(session)
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    fleet.move('rack1-n04', { step: 'elsewhere' })
    fleet.move('rack1-n05', { step: 'here' })
    await page.locator('.now', { hasText: 'here' }).waitFor({ timeout: 3_000 })
    expect(asked.filter((address) => address.endsWith('/hosts/rack1-n05')).length).toBeLessThanOrEqual(2)
  })

  test('a thousand machines that move at once are on the page within a second, by few requests', async () => {
    const session = await open({ hosts: 5_000 })
    const { page, fleet } = session
    await isLive(session)
    let asked = 0
    page.on('request', () => (asked += 1))
    // Some of the thousand are on the page: what needs a person is.
    const keys = fleet.rows.slice(0, 1_000).map(({ key }) => key)
    const lateness: number[] = []
    for (let round = 1; round <= 3; round += 1) {
      for (const key of keys) fleet.move(key, { step: `round ${round}` })
      const began = Date.now()
      await page.locator('#row-rack1-n01 td', { hasText: `round ${round}` }).waitFor({ timeout: 5_000 })
      lateness.push(Date.now() - began)
    }
    console.info(`a thousand machines at once: shown after ${lateness.join(', ')} ms, ${asked} requests`)
    // Bounds for a machine that is busy with other tests; alone it is some 100 to 600 ms.
    expect(Math.min(...lateness)).toBeLessThan(1_000)
    expect(asked).toBeLessThan(20)
  })

  test('it says when the connection is lost and since when, and comes back', async () => {
    const session = await open()
    const { page, fleet, app, url } = session
    await isLive(session)
    await session.context.setOffline(true)
    app.app.server.closeAllConnections()
    await page.locator('#live[data-state=off]').waitFor({ timeout: 10_000 })
    expect(await page.locator('#live').textContent()).toMatch(
      /^Connection lost since \d\d:\d\d:\d\d, trying again$/,
    )
    fleet.move('rack1-n04', { step: 'meanwhile' })
    await session.context.setOffline(false)
    await page.locator('#row-rack1-n04', { hasText: 'meanwhile' }).waitFor({ timeout: 20_000 })
    await isLive(session)
    expect(page.url()).toBe(`${url}/`)
  })

  test('when the token ends the page leads to the login', async () => {
    const { answers, ...fleet } = createMixedFleet()
    let isGood = true
    const authenticate = (bearer: string) =>
      isGood && bearer === fakeSecrets.read
        ? ({ actor: { by: 'token my-read', via: 'api' }, role: 'read' } as const)
        : undefined
    const session = await open({
      role: 'read',
      fleet: { ...fleet, answers: { ...answers, fleet: { ...answers.fleet, authenticate } } },
    })
    await isLive(session)
    isGood = false
    fleet.move('rack1-n04', { step: 'one more' })
    await session.page.waitForURL(/\/login/, { timeout: 20_000 })
  })

  test('a page that nobody looks at holds no connection, and catches up when somebody does', async () => {
    const session = await open()
    const { page, fleet, app } = session
    await isLive(session)
    expect(app.streams.count).toBe(1)
    const look = (isHidden: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))`,
      )
    const asked: string[] = []
    await look(true)
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await expect.poll(() => app.streams.count).toBe(0)
    fleet.move('rack1-n04', { step: 'while nobody looked' })
    await look(false)
    await page.locator('#row-rack1-n04', { hasText: 'while nobody looked' }).waitFor({ timeout: 5_000 })
    expect(asked[0]).toBe('/live')
  })

  test('ages count up', async () => {
    const session = await open()
    const { page } = session
    const age = page.locator('#row-rack1-n01 time')
    const before = Number.parseInt((await age.textContent()) ?? '', 10)
    await expect
      .poll(async () => Number.parseInt((await age.textContent()) ?? '', 10), { timeout: 5_000 })
      .toBeGreaterThan(before)
  })
})

describe.skipIf(!hasChromium)('without script', () => {
  test('everything can be seen, found and done', async () => {
    const session = await open({ context: { javaScriptEnabled: false } })
    const { page, url, app } = session
    await page.fill('input[name=search]', 'rack1-n0')
    await page.selectOption('select[name=state]', 'waiting')
    await page.click('form.filters button')
    expect(new URL(page.url()).search).toContain('state=waiting')
    await page.click('#row-rack1-n07 a')
    await page.click('nav.actions >> text=Hold')
    await page.fill('input[name=reason]', 'bad DIMM')
    await page.click('main button')
    expect(page.url()).toBe(`${url}/hosts/rack1-n07`)
    expect(await page.locator('.notice').textContent()).toBe('It is held.')
    expect(app.operations.fleet.calls.at(-1)?.name).not.toBe('setMode')
    expect(app.operations.fleet.calls.find(({ name }) => name === 'setMode')?.arguments[0]).toMatchObject({
      reason: 'bad DIMM',
    })
    await page.click('text=Log out')
    expect(page.url()).toBe(`${url}/login`)
  })
})

describe.skipIf(!hasChromium)('what machines say', () => {
  test('runs nothing and moves nothing, also when it comes later', async () => {
    const session = await open()
    const { page, fleet } = session
    await isLive(session)
    const evil = `<img src=x onerror=alert(1)><script>alert(2)</script>\u202e\u001b[31m${'A'.repeat(65_536)}`
    fleet.move('rack1-n04', { step: evil, flags: [evil], transfer: undefined })
    await page.locator('#row-rack1-n04', { hasText: '<img src=x' }).waitFor({ timeout: 3_000 })
    expect(await page.locator('#row-rack1-n04 img').count()).toBe(0)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(1280)
    expect(session.complaints).toEqual([])
  })
})

describe.skipIf(!hasChromium)('speed', () => {
  test('5,000 hosts are painted within a second', async () => {
    const session = await open({ hosts: 5_000 })
    const { page, url } = session
    const paints: number[] = []
    for (let round = 0; round < 5; round += 1) {
      await page.goto(`${url}/`)
      await page.locator('#machine-rows tr').nth(99).waitFor()
      // Rows are in the document before they are on the screen. Asked from outside: the page's policy allows no eval.
      const paintedAt = () =>
        page.evaluate<number>(`performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0`)
      await expect.poll(paintedAt, { timeout: 5_000 }).toBeGreaterThan(0)
      paints.push(Math.round(await paintedAt()))
    }
    const bytes: number = await page.evaluate(`performance.getEntriesByType('navigation')[0].decodedBodySize`)
    console.info(
      `first paint of 5,000 hosts: ${paints.join(', ')} ms; the document has ${bytes} bytes, 100 rows in it`,
    )
    expect(Math.min(...paints)).toBeLessThan(1_000)
  })
})
