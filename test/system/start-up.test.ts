import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startRunningService } from '../fakes/running-service.ts'
import { canMountTmpfs, mountTmpfs } from '../fakes/tmpfs.ts'

const canMount = canMountTmpfs()
const isRoot = process.getuid?.() === 0
if (!isRoot || !canMount)
  process.stderr.write(
    'test/system/start-up.test.ts: needs root and leave to mount, what cannot be done is skipped\n',
  )
const lowestFreePort = Number(
  readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8').trim() || '1024',
)

const program = resolve(import.meta.dirname, '../../dist/main.js')
/** `nobody` on most systems. */
const otherUser = { uid: 65534, gid: 65534 }

interface Ended {
  readonly code: number | null
  readonly stderr: string
}

describe.skipIf(!isRoot)(
  'a start that cannot succeed ends at once, says what is wrong and what to do',
  () => {
    let directory: string
    let config: string
    const unmounts: (() => void)[] = []

    beforeEach(async () => {
      directory = await mkdtemp(join(tmpdir(), 'pilotlight-start-'))
      await chmod(directory, 0o755)
      config = join(directory, 'pilotlight.yaml')
      await writeFile(
        config,
        'version: 1\nboot: { http: { listen: "127.0.0.1:0" } }\nadmin: { listen: "127.0.0.1:0" }\nstreams: {}\n',
      )
    })
    afterEach(async () => {
      for (const unmount of unmounts.splice(0)) unmount()
      await rm(directory, { recursive: true, force: true })
    })

    async function mountAt(name: string, options: string): Promise<string> {
      const path = join(directory, name)
      unmounts.push(await mountTmpfs(path, options))
      return path
    }

    function serve(dataDirectory: string, user: object = {}, ...more: readonly string[]): Promise<Ended> {
      const argv = [program, 'serve', '--config', config, '--data-dir', dataDirectory, ...more]
      const child: ChildProcess = spawn(process.execPath, argv, {
        ...user,
        env: { PATH: process.env.PATH },
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      let stderr = ''
      child.stderr?.on('data', (chunk: Buffer) => {
        stderr += chunk.toString()
        // It must not have started; a test that waits for its end would wait without end.
        if (/^Next, in another terminal/m.test(stderr)) child.kill('SIGKILL')
      })
      return new Promise((ended) => child.once('close', (code) => ended({ code, stderr })))
    }

    /** A message for people: the place is named, nothing of the program's inside is shown. */
    function expectMessage({ stderr }: Ended, ...words: readonly (string | RegExp)[]): void {
      for (const word of words) expect(stderr).toMatch(word)
      expect(stderr).not.toMatch(/^\s+at /m)
    }

    it.skipIf(!canMount)('a file system that is read-only', async () => {
      const path = await mountAt('ro', 'ro,size=1m')
      const ended = await serve(join(path, 'data'))
      expect(ended.code).toBe(78)
      expectMessage(ended, join(path, 'data'), 'the file system is read-only', '--data-dir')
    })

    it.skipIf(!canMount)('a file system without a free byte', async () => {
      const path = await mountAt('full', 'size=64k')
      await writeFile(join(path, 'filler'), Buffer.alloc(64 << 10)).catch(() => {})
      const ended = await serve(path)
      expect([69, 78]).toContain(ended.code)
      expectMessage(ended, path, /full/)
    })

    it('a data directory of somebody else', async () => {
      const path = join(directory, 'theirs')
      await mkdir(path, { mode: 0o700 })
      const ended = await serve(path, otherUser)
      expect(ended.code).toBe(77)
      expectMessage(ended, path, 'this user may not read and write there')
    })

    it('a file where the data directory should be', async () => {
      const path = join(directory, 'file')
      await writeFile(path, '')
      const ended = await serve(path)
      expect(ended.code).toBe(78)
      expectMessage(ended, path, 'not a directory')
    })

    it('a port that something else has', async () => {
      const other: Server = createServer()
      await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening))
      const address = other.address()
      const port = typeof address === 'object' ? address?.port : undefined
      const ended = await serve(join(directory, 'data'), {}, '--boot-http-listen', `127.0.0.1:${port}`)
      await new Promise((closed) => other.close(closed))
      expect(ended.code).toBe(69)
      expectMessage(ended, `127.0.0.1 port ${port}`, 'something else listens there')
    })

    it.skipIf(lowestFreePort <= 81)('a port that needs a permission', async () => {
      const path = join(directory, 'data')
      await mkdir(path)
      await chown(path, otherUser.uid, otherUser.gid)
      const ended = await serve(path, otherUser, '--boot-http-listen', '127.0.0.1:81')
      expect(ended.code).toBe(77)
      expectMessage(ended, '127.0.0.1 port 81', 'NET_BIND_SERVICE')
    })

    it('a second process on the same data directory: exit code 75, the owner is named, the first goes on', async () => {
      const service = await startRunningService({ config: { streams: {} } })
      try {
        const ended = await serve(service.dataDirectory)
        expect(ended.code).toBe(75)
        expectMessage(ended, `in use by process ${service.process().child.pid}`)
        expect((await service.get('/boot.ipxe')).status).toBe(200)
      } finally {
        await service.remove()
      }
    })

    it('as an ordinary user with a directory of its own, everything works', async () => {
      const path = join(directory, 'own')
      await mkdir(path)
      await chown(path, otherUser.uid, otherUser.gid)
      const ended = await serve(path, otherUser)
      // Ended by the test after it was up.
      expect(ended.code).toBeNull()
      expect(ended.stderr).toMatch(/^Next, in another terminal/m)
    })
  },
)
