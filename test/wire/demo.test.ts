import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { runCommand } from '../fakes/command-line.ts'

const main = resolve(import.meta.dirname, '../../dist/main.js')
let temporary: string

beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), 'pilotlight-demo-test-'))
})
afterEach(() => rmSync(temporary, { recursive: true, force: true }))

/** Some seconds of processor time, and as long as a busy machine takes for them. */
const wholeStory = { timeout: 120_000 }

it(
  'the demo boots a bare machine by DHCP, TFTP and HTTP, shows what was seen, and ends well',
  wholeStory,
  async () => {
    const { code, stdout, stderr } = await runCommand('demo', '--once')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/✓ DISCOVER from UEFI x64: the offer names snponly\.efi/)
    expect(stdout).toMatch(/✓ TFTP brings snponly\.efi whole/)
    expect(stdout).toMatch(/✓ DISCOVER from iPXE: the offer is http:\/\/127\.0\.0\.1:\d+\/boot\.ipxe/)
    // Both timelines as `boots show` draws them.
    expect(stdout).toMatch(/^ +dhcp +█[\s\S]*· rootfs +rootfs sent, 16 MiB in /m)
    expect(stdout).toMatch(
      /state +stuck in ignition[\s\S]*✗ ignition-not-fetched: .*\n +-> Let stuck-node boot once more/,
    )
    expect(stdout).toMatch(/All \d+ checks passed/)
    expect(stdout).not.toMatch(/^ {3}✗/m)
  },
)

/** Runs the demo until its text holds these words, then does something to it. */
async function demoUntil(words: string, act: (child: ReturnType<typeof startDemo>) => void) {
  const child = startDemo()
  const ended = new Promise<number | null>((done) => child.once('close', done))
  let text = ''
  await new Promise<void>((reached, failed) => {
    child.stdout.on('data', (chunk) => {
      text += chunk
      if (text.includes(words)) reached()
    })
    child.once('close', () => failed(new Error(`ended without "${words}": ${text}`)))
  })
  act(child)
  const code = await ended
  return { code, text, left: readdirSync(temporary) }
}

function startDemo() {
  return spawn(process.execPath, [main, 'demo'], {
    env: { PATH: process.env.PATH, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

it.each(['SIGINT', 'SIGTERM'] as const)(
  '%s in the middle of the story ends it at once, leaves nothing, and is no success',
  async (signal) => {
    const { code, text, left } = await demoUntil('3. ', (child) => child.kill(signal))
    expect({ code, left }).toEqual({ code: 1, left: [] })
    expect(text).toMatch(/Ended before everything was checked \(\d+ checks until then\)\.\n$/)
  },
)

it('a reader that goes away ends it as well', async () => {
  const { code, left } = await demoUntil('2. ', (child) => child.stdout.destroy())
  expect({ code, left }).toEqual({ code: 1, left: [] })
})

it('a signal after the story is how it is meant to end', wholeStory, async () => {
  const { code, text, left } = await demoUntil('until Ctrl-C', (child) => child.kill('SIGINT'))
  expect({ code, left }).toEqual({ code: 0, left: [] })
  expect(text).toContain(`node ${main} --config `)
  const page = /The page: (http:\S+\/)\nLog in with this token, which ends with the demo: (\S+)\n/.exec(text)
  expect(page).not.toBeNull()
  expect(page?.[1]).not.toContain(page?.[2])
})
