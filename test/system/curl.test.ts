import { execFile, execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { digestOf, type RunningService, startRunningService, untilCurrent } from '../fakes/running-service.ts'
import { makeSigner } from '../fakes/signing.ts'
import { startUpstreamSite, type UpstreamSite } from '../fakes/upstream-site.ts'

const hasCurl = (() => {
  try {
    execFileSync('curl', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()
if (!hasCurl) process.stderr.write('test/system/curl.test.ts: there is no curl, its tests are skipped\n')

interface CurlResult {
  readonly code: number
  readonly stdout: Buffer
  readonly status: number
  /** Header lines as they came, of the last answer. */
  readonly head: string
}

const release = '44.20260601.3.0'
const sizes = { kernelBytes: 64 << 10, initramfsBytes: 160 << 10, rootfsBytes: 3 << 20 }
const roles = ['kernel', 'initramfs', 'rootfs'] as const

describe.skipIf(!hasCurl)('curl, a client that is not ours', () => {
  let directory: string
  let site: UpstreamSite
  let service: RunningService

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pilotlight-curl-'))
    site = await startUpstreamSite({ releases: [release], sizes })
    const signer = await makeSigner()
    await writeFile(join(directory, 'key.asc'), signer.publicKey)
    for (const role of roles) {
      const signature = await signer.sign(site.set(release)[role].bytes)
      site.publish(`${site.pathOf(release, role)}.sig`, Buffer.from(signature))
    }
    service = await startRunningService({
      site,
      stream: { signatures: 'required', keys: [join(directory, 'key.asc')] },
    })
    await untilCurrent(service, release)
  })
  afterAll(async () => {
    await service?.remove()
    await site?.stop()
    await rm(directory, { recursive: true, force: true })
  })

  /** Runs curl as machines have it: no proxy, no configuration of the user. */
  async function curl(url: string, ...options: readonly string[]): Promise<CurlResult> {
    const headFile = join(directory, 'head')
    const argv = ['-q', '-s', '-S', '--noproxy', '*', '--max-time', '30', '-D', headFile, ...options, url]
    await rm(headFile, { force: true })
    return new Promise((found) => {
      execFile('curl', argv, { encoding: 'buffer', maxBuffer: 64 << 20 }, async (error, stdout) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
        const head = await readFile(headFile, 'latin1').catch(() => '')
        const status = Number(/^HTTP\/\S+ (\d+)/.exec(head)?.[1] ?? 0)
        found({ code, stdout, status, head })
      })
    })
  }

  const boot = (path: string, ...options: readonly string[]) => curl(`${service.bootUrl}${path}`, ...options)
  const admin = (path: string, ...options: readonly string[]) =>
    curl(`${service.adminUrl}${path}`, ...options)
  const rootfs = () => site.set(release).rootfs
  const rootfsPath = () => `/artifacts/${rootfs().sha256}/${rootfs().name}`

  const everyRoute = () => [
    '/boot.ipxe',
    '/autoexec.ipxe',
    '/ipxe?mac=52-54-00-00-00-01&arch=x86_64&platform=efi',
    rootfsPath(),
    `${rootfsPath()}.sig`,
    '/streams/sample.json',
    '/streams/sample/x86_64/metal/pxe/kernel',
    '/streams/sample/x86_64/metal/pxe/kernel.sig',
  ]

  it('GET and HEAD of every route of the boot listener agree, also over HTTP/1.0', async () => {
    for (const path of everyRoute()) {
      const get = await boot(path)
      expect([path, get.code, get.status]).toEqual([path, 0, 200])
      const head = await boot(path, '-I')
      expect([path, head.code, head.status]).toEqual([path, 0, 200])
      const lengthOf = ({ head: text }: CurlResult) => Number(/^Content-Length: (\d+)\r$/m.exec(text)?.[1])
      expect([lengthOf(get), lengthOf(head)]).toEqual([get.stdout.length, get.stdout.length])
      const old = await boot(path, '--http1.0')
      expect([path, old.code, old.status, old.stdout.length]).toEqual([path, 0, 200, get.stdout.length])
      expect(get.head).not.toMatch(/^(Transfer-Encoding|Content-Encoding|Location|Vary|Set-Cookie):/im)
      expect((await boot(path, '--compressed')).head).not.toMatch(/^Content-Encoding:/im)
    }
  })

  it('without a Host header, over HTTP/1.1 and 1.0', async () => {
    for (const version of ['--http1.1', '--http1.0']) {
      const { code, status } = await boot('/boot.ipxe', version, '-H', 'Host:')
      expect([version, code, status]).toEqual([version, 0, 200])
    }
  })

  it('ranges: a part, a tail, several, nonsense, beyond the end', async () => {
    const { bytes } = rootfs()
    const ask = (range: string) => boot(rootfsPath(), '-H', `Range: ${range}`)
    const part = await ask('bytes=1000-1999')
    expect([part.status, part.stdout.equals(bytes.subarray(1000, 2000))]).toEqual([206, true])
    expect(part.head).toContain(`Content-Range: bytes 1000-1999/${bytes.length}\r\n`)
    expect((await ask('bytes=-7')).stdout.equals(bytes.subarray(-7))).toBe(true)
    for (const range of ['bytes=0-1,4-5', 'bytes=u-u', 'lines=1-2']) {
      const { status, stdout } = await ask(range)
      expect([range, status, stdout.length]).toEqual([range, 200, bytes.length])
    }
    expect((await ask(`bytes=${bytes.length}-`)).status).toBe(416)
  })

  it('a broken download is continued with -C -, also after the service was killed in between', async () => {
    const file = join(directory, 'rootfs.img')
    await boot(rootfsPath(), '-o', file, '-r', '0-999999')
    expect((await stat(file)).size).toBe(1_000_000)
    await service.restart('SIGKILL')
    const rest = await boot(rootfsPath(), '-o', file, '-C', '-')
    expect([rest.code, rest.status]).toEqual([0, 206])
    expect(digestOf(await readFile(file))).toBe(rootfs().sha256)
  })

  it('If-None-Match and If-Match count; If-Modified-Since does not, because no node may meet a 3xx', async () => {
    for (const path of [rootfsPath(), '/streams/sample.json', '/streams/sample/x86_64/metal/pxe/kernel']) {
      const { head } = await boot(path, '-I')
      const tag = /^ETag: (.*)\r$/m.exec(head)?.[1] ?? ''
      expect(tag).toMatch(/^"[0-9a-f]{64}"$/)
      const fresh = await boot(path, '-H', `If-None-Match: ${tag}`)
      expect([path, fresh.status, fresh.stdout.length]).toEqual([path, 304, 0])
      expect((await boot(path, '-H', 'If-None-Match: "other"')).status).toBe(200)
      expect((await boot(path, '-H', 'If-Match: "other"')).status).toBe(412)
    }
    const date = /^Last-Modified: (.*)\r$/m.exec((await boot(rootfsPath(), '-I')).head)?.[1] ?? ''
    expect((await boot(rootfsPath(), '-H', `If-Modified-Since: ${date}`)).status).toBe(200)
  })

  it.each(['//boot.ipxe', '/.//boot.ipxe', '///boot.ipxe', '/streams//sample.json'])(
    'doubled slashes: %s',
    async (path) => {
      expect((await boot(path, '--path-as-is')).status).toBe(200)
    },
  )

  it.each([
    '/../../../../etc/passwd',
    '//../../etc/passwd',
    '/artifacts/../../state.db',
    '/artifacts/..%2f..%2fstate.db',
    '/streams/..%5c..%5cstate.db',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/streams/%252e%252e/x.json',
    '/artifacts/%00',
    '/....//....//etc/passwd',
  ])('traversal: %s reaches nothing', async (path) => {
    const { status, stdout } = await boot(path, '--path-as-is')
    expect([400, 404]).toContain(status)
    expect(stdout.toString('latin1')).not.toMatch(/root:|SQLite/)
    const other = await admin(path, '--path-as-is')
    expect([400, 404]).toContain(other.status)
    expect(other.stdout.toString('latin1')).not.toMatch(/root:|SQLite/)
  })

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])(
    '%s changes nothing on the boot listener',
    async (method) => {
      const { status, head } = await boot('/boot.ipxe', '-X', method)
      expect(status).toBe(405)
      expect(head).toMatch(/^Allow: GET, HEAD\r$/m)
    },
  )

  it('the admin listener: health, figures and what the API is are open; everything else needs a token', async () => {
    for (const path of ['/livez', '/readyz', '/api/v1/openapi.json']) {
      const { status, stdout } = await admin(path)
      expect([path, status]).toEqual([path, 200])
      expect(() => JSON.parse(stdout.toString())).not.toThrow()
    }
    for (const path of ['/api/v1/streams', '/api/v1/explain?mac=52:54:00:00:00:01', '/api/v1/hosts']) {
      const { status, head } = await admin(path)
      expect([path, status]).toEqual([path, 401])
      expect(head).toMatch(/^www-authenticate: Bearer realm="pilotlight"\r$/im)
    }
    const metrics = await admin('/metrics')
    expect(metrics.stdout.toString()).toMatch(/^# HELP pilotlight_boot_decisions_total /m)
    for (const verb of ['sync', 'gc', 'verify', 'reload', 'render', 'import']) {
      const { status } = await admin(
        `/api/v1/${verb}`,
        '-X',
        'POST',
        '-H',
        'Content-Type: application/json',
        '-d',
        '{}',
      )
      expect([verb, status]).toEqual([verb, 401])
    }
    const socket = join(service.dataDirectory, 'control.sock')
    const synced = await curl(
      'http://localhost/api/v1/sync',
      '--unix-socket',
      socket,
      '-H',
      'Content-Type: application/json',
      '-d',
      '{}',
    )
    expect(synced.status).toBe(200)
  })

  it('coreos-installer: --stream-base-url, the location beside it, the .sig beside the artifact', async () => {
    const base = `${service.bootUrl}/streams/`
    const answer = await curl(`${base}sample.json`, '-A', 'coreos-installer')
    const document = JSON.parse(answer.stdout.toString())
    expect(document.stream).toBe('sample')
    for (const role of roles) {
      const { location, signature, sha256 } = document.architectures.x86_64.artifacts.metal.formats.pxe[role]
      const file = await curl(location)
      expect(digestOf(file.stdout)).toBe(sha256)
      // It never asks the document for the signature's place when it is given a URL: `.sig` is appended.
      for (const place of [signature, `${location}.sig`]) {
        const { status, stdout } = await curl(place)
        const original = await fetch(`${site.origin}${site.pathOf(release, role)}.sig`)
        expect([status, stdout.equals(Buffer.from(await original.arrayBuffer()))]).toEqual([200, true])
      }
    }
  })

  it('the rootfs fetch of the live initramfs: HEAD with --fail, then GET with retries', async () => {
    const url = `${service.bootUrl}${rootfsPath()}?boot=AAAAAAAAAAAAAAAAAAAAAA`
    expect(
      (await curl(url, '--head', '--fail', '--location', '--retry', '5', '--retry-delay', '5')).code,
    ).toBe(0)
    const got = await curl(url, '--fail', '--location', '--retry', '5', '--retry-delay', '5')
    expect([got.code, digestOf(got.stdout)]).toEqual([0, rootfs().sha256])
    const absent = await boot(`/artifacts/${'0'.repeat(64)}/x`, '--fail')
    expect([absent.code, absent.status]).toEqual([22, 404])
  })

  it('busybox wget habits: Connection: close is honoured', async () => {
    const { head, code } = await boot('/boot.ipxe', '-H', 'Connection: close')
    expect(code).toBe(0)
    expect(head).toMatch(/^Connection: close\r$/m)
  })
})
