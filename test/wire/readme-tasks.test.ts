import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const main = join(root, 'dist/main.js')
let directory: string
let demo: ChildProcess
let configFile: string
let adminUrl: string

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'pilotlight-tasks-'))
  demo = spawn(process.execPath, [main, 'demo'], {
    env: { PATH: process.env.PATH, TMPDIR: directory },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const text = await textUntil(demo, 'For real:')
  configFile = /PILOTLIGHT_CONFIG=(\S+)/.exec(text)?.[1] ?? ''
  adminUrl = /curl (http:\S+)\/readyz/.exec(text)?.[1] ?? ''
}, 90_000)
afterAll(async () => {
  const ended = new Promise((done) => demo.once('close', done))
  demo.kill('SIGTERM')
  await ended
  rmSync(directory, { recursive: true, force: true })
})

function textUntil({ stdout }: ChildProcess, words: string): Promise<string> {
  return new Promise((found, failed) => {
    let text = ''
    stdout?.on('data', (chunk) => {
      text += chunk
      if (text.includes(words)) found(text)
    })
    stdout?.once('close', () => failed(new Error(`the demo ended: ${text}`)))
  })
}

/** The lines of the shell blocks of a section. */
function linesOf(section: string): readonly string[] {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const text = readme.split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? ''
  const blocks = [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block)
  return blocks.flatMap((block) => block.split('\n').filter((line) => line !== ''))
}

/** Without the two lines that prepare the shell. */
const taskLines = () => linesOf('Tasks').slice(2)

/** As typed into a shell that was prepared as the README says. */
function type(line: string): Promise<{ code: number; stdout: string; stderr: string }> {
  const typed = line.replaceAll('http://127.0.0.1:8081', adminUrl)
  const script = `pilotlight() { '${process.execPath}' '${main}' "$@"; }\n${typed}`
  const env = { PATH: process.env.PATH, PILOTLIGHT_CONFIG: configFile }
  return new Promise((done) => {
    execFile('/bin/sh', ['-c', script], { cwd: directory, env }, (error, stdout, stderr) => {
      done({ code: error === null ? 0 : Number(error.code), stdout, stderr })
    })
  })
}

test('every task of the README works as it stands with the service of the demo', {
  timeout: 180_000,
}, async () => {
  const lines = taskLines()
  expect(lines.length).toBeGreaterThan(15)
  const answers: string[] = []
  for (const line of lines) {
    const { code, stdout, stderr } = await type(line)
    expect({ code, stderr: code === 0 ? '' : stderr }, line).toEqual({ code: 0, stderr: '' })
    // An API that refuses answers all the same.
    if (line.startsWith('curl')) expect(JSON.parse(stdout), line).not.toHaveProperty('code')
    answers.push(`$ ${line}\n${stdout}`)
  }
  const transcript = answers.join('\n')
  expect(transcript).toMatch(/^decision +live$/m)
  expect(transcript).toMatch(/rack1-n01 +armed/)
  expect(transcript).toMatch(/^state +installed, since /m)
  const { stdout: audit } = await type('pilotlight audit --target host/rack1-n01 --output json')
  const { entries } = JSON.parse(audit) as { entries: { action: string }[] }
  expect(entries.map(({ action }) => action).reverse()).toEqual([
    'host.put',
    'pin.set',
    'pin.set',
    'pin.remove',
    'install.arm',
    'install.done',
    'mode.release',
    'boot-tokens.revoke',
    'pin.set',
  ])
})

test('every boot is seen as the README says, with the service of the demo', {
  timeout: 120_000,
}, async () => {
  const lines = linesOf('See every boot').filter((line) => line.startsWith('pilotlight '))
  expect(lines.length).toBeGreaterThan(4)
  const answers = new Map<string, string>()
  for (const line of lines) {
    const { code, stdout, stderr } = await type(line)
    expect({ code, stderr: code === 0 ? '' : stderr }, line).toEqual({ code: 0, stderr: '' })
    answers.set(line, stdout)
  }
  const said = (line: string) => answers.get(line) ?? ''
  expect(said('pilotlight boots --since 1h')).toMatch(
    /stuck-node +stuck in ignition .*ignition-not-fetched: /,
  )
  expect(said('pilotlight boots show 52:54:00:00:00:03')).toMatch(/· kernel +kernel sent, 1 MiB/)
  expect(said('pilotlight patterns')).toMatch(/ignition-not-fetched +1 [\s\S]*now: stuck-node/)
  const capture = readFileSync(join(directory, 'boot.pcap'))
  expect(capture.readUInt32BE(0)).toBe(0xa1b2c3d4)
  expect(capture.length).toBeGreaterThan(1000)
})
