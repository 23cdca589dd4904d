import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, lstat, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const isRoot = process.getuid?.() === 0
if (!isRoot) process.stderr.write('test/system/other-users.test.ts: needs root, skipped\n')

const program = resolve(import.meta.dirname, '../../dist/main.js')
/** The user of the service, and somebody else; numbers that nobody has. */
const service = { uid: 61_234, gid: 61_234 }
const stranger = { uid: 61_235, gid: 61_235 }

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

describe.skipIf(!isRoot)('a data directory and who may be believed there', () => {
  let directory: string
  let data: string
  let config: string
  const children: ChildProcess[] = []
  const servers: Server[] = []

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pilotlight-users-'))
    await chmod(directory, 0o755)
    data = join(directory, 'data')
    config = join(directory, 'pilotlight.yaml')
    await writeFile(
      config,
      `version: 1\ndataDir: ${data}\nboot: { http: { listen: "127.0.0.1:0" } }\nadmin: { listen: "127.0.0.1:0" }\nstreams: {}\n`,
    )
    await makeData(service, 0o700)
  })
  afterEach(async () => {
    for (const child of children.splice(0)) {
      if (child.exitCode === null && child.signalCode === null) {
        const exited = once(child, 'exit')
        child.kill('SIGKILL')
        await exited
      }
    }
    for (const server of servers.splice(0)) {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    }
    await rm(directory, { recursive: true, force: true })
  })

  async function makeData(owner: typeof service, mode: number): Promise<void> {
    await mkdir(data, { recursive: true })
    await chown(data, owner.uid, owner.gid)
    await chmod(data, mode)
  }

  function start(argv: readonly string[], user: object): ChildProcess {
    const child = spawn(process.execPath, [program, ...argv, '--config', config], {
      ...user,
      cwd: directory,
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    children.push(child)
    return child
  }

  async function run(argv: readonly string[], user: object = {}): Promise<Ended> {
    const child = start(argv, user)
    let stdout = ''
    let stderr = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      stdout += chunk.toString()
    })
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr += chunk.toString()
      // One that was to be refused and is not must not be waited for.
      if (/^Next, in another terminal/m.test(stderr)) child.kill('SIGKILL')
    })
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, stdout, stderr }
  }

  async function serve(user: object): Promise<ChildProcess> {
    const child = start(['serve'], user)
    let output = ''
    await new Promise<void>((started, failed) => {
      const listen = (chunk: Buffer) => {
        output += chunk.toString()
        if (/admin +http:/.test(output)) started()
      }
      child.stdout?.on('data', listen)
      child.stderr?.on('data', listen)
      child.once('exit', () => failed(new Error(output)))
    })
    return child
  }

  /** Somebody who listens where the service would, and keeps what he is told. */
  async function listenAsStranger(mode: number): Promise<string[]> {
    const heard: string[] = []
    const server = createServer((request, response) => {
      request.on('data', (chunk: Buffer) => heard.push(chunk.toString()))
      request.on('end', () => response.end('{"streams":7}'))
      heard.push(request.url ?? '')
    })
    servers.push(server)
    const path = join(data, 'control.sock')
    await new Promise<void>((listening) => server.listen(path, listening))
    await chown(path, stranger.uid, stranger.gid)
    await chmod(path, mode)
    return heard
  }

  it("the service's own works for it and for root, beside it and without it", async () => {
    const child = await serve(service)
    expect((await stat(data)).uid).toBe(service.uid)
    for (const user of [service, {}]) {
      expect(await run(['streams', '--output', 'json'], user)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('"streams": []'),
      })
    }
    expect((await run(['doctor', '--output', 'json'])).stdout).toContain('"healthy"')

    const exited = once(child, 'exit')
    child.kill('SIGTERM')
    await exited
    expect(await run(['streams', '--output', 'json'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"streams": []'),
    })
    expect((await run(['gc'])).code).toBe(0)
    // Nothing of root is in the way of the service afterwards.
    for (const name of await readdir(data))
      expect((await lstat(join(data, name))).uid, name).toBe(service.uid)
    await serve(service)
  })

  it.each([
    [
      "another user's",
      stranger,
      0o700,
      service,
      /belongs to user 61235, and this is user 61234/,
      /chown -R 61234/,
    ],
    [
      "another user's, for root",
      service,
      0o700,
      {},
      /belongs to user 61234, and this is user 0/,
      /chown -R 0/,
    ],
    ['open to everybody', service, 0o777, service, /every user may write there \(mode 0777\)/, /chmod o-w/],
  ])('a service does not start on one that is %s', async (_what, owner, mode, user, why, fix) => {
    await makeData(owner, mode)
    const { code, stderr } = await run(['serve'], user)
    expect([77, 78]).toContain(code)
    // A stranger's directory that this user cannot even look into says so in its own words.
    if (code === 78) {
      expect(stderr).toMatch(why)
      expect(stderr).toMatch(fix)
    }
    expect(stderr).not.toMatch(/^\s+at /m)
    expect(await readdir(data)).toEqual([])
  })

  it('one that is open to its group is warned of', async () => {
    await makeData(service, 0o770)
    const child = start(['serve'], service)
    let output = ''
    await new Promise<void>((told, failed) => {
      child.stderr?.on('data', (chunk: Buffer) => {
        output += chunk.toString()
        if (/more open than it should be/.test(output) && /chmod g-w/.test(output)) told()
      })
      child.once('exit', () => failed(new Error(output)))
    })
  })

  it.each([
    ['open directory', 0o777],
    ['directory of the service', 0o700],
  ])("a stranger's socket in an %s is told nothing, by root or by anybody", async (_what, mode) => {
    await makeData(service, mode)
    const heard = await listenAsStranger(0o666)
    await writeFile(join(directory, 'secret.json'), '{"secret": true}')
    for (const user of [{}, service]) {
      const { code, stderr } = await run(['import', 'secret.json', '--stream', 's'], user)
      expect(code).toBe(77)
      expect(stderr).toMatch(/belongs to another user \(61235; the directory to 61234\)/)
      expect(stderr).toMatch(/hint: /)
    }
    expect((await run(['streams'])).code).toBe(77)
    expect((await run(['doctor'])).stdout).toMatch(/left out|another user/)
    expect(heard).toEqual([])
  })

  it('root follows no link that the owner of the directory placed', async () => {
    await writeFile(join(directory, 'shadow'), 'of root', { mode: 0o600 })
    await writeFile(join(data, 'state.db'), '')
    await chown(join(data, 'state.db'), service.uid, service.gid)
    await symlink(join(directory, 'shadow'), join(data, 'lock'))
    const { code, stderr } = await run(['gc'])
    expect(code).toBe(78)
    expect(stderr).toMatch(/lock is a link, and nothing in a data directory is/)
    expect((await stat(join(directory, 'shadow'))).size).toBe('of root'.length)
  })
})
