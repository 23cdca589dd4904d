import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRaw, requestRaw } from '../fakes/raw-http.ts'
import {
  digestOf,
  digestsOfBoot,
  digestsOfSet,
  type RunningService,
  startRunningService,
  untilCurrent,
} from '../fakes/running-service.ts'
import { eventually } from '../fakes/service-process.ts'
import { startUpstreamSite, streamPath, type UpstreamSite } from '../fakes/upstream-site.ts'

/**
 * The field cases that show over HTTP, asked of the running service: everything between the upstream's document and
 * the bytes on the wire takes part. The listener alone is tested in boot-listener-*.test.ts, with many more requests.
 */
const older = '44.20260601.3.0'
const newer = '44.20260622.3.0'
const mac = '52:54:00:ab:cd:ef'
/** A rootfs that fits into no socket buffer. */
const sizes = { kernelBytes: 64 << 10, initramfsBytes: 160 << 10, rootfsBytes: 8 << 20 }
let site: UpstreamSite
let service: RunningService

beforeAll(async () => {
  site = await startUpstreamSite({ releases: [older, newer], arches: ['x86_64', 'aarch64'], sizes })
  service = await startRunningService({
    site,
    stream: { architectures: ['x86_64', 'aarch64'] },
    hosts: [
      {
        id: 'n01',
        macs: [mac],
        profile: 'worker',
        kernelArguments: ['console=tty0', 'console=ttyS0,115200n8', 'a;b'],
        ignition: { url: 'http://192.0.2.10/n01.ign' },
      },
      { id: 'by-serial', serial: 'VMware-42 1e', profile: 'worker', kernelArguments: ['found=serial'] },
    ],
  })
  await untilCurrent(service, older)
  await eventually(
    () => service.current('aarch64'),
    (current) => current === older,
  )
})
afterAll(async () => {
  await service?.remove()
  await site?.stop()
})

const x86 = () => site.set(older)
const pathOf = ({ sha256, name }: { sha256: string; name: string }) => `/artifacts/${sha256}/${name}`
const stablePath = (artifact: string, arch = 'x86_64') => `/streams/sample/${arch}/metal/pxe/${artifact}`

/** Every kind of boot path, each answered with 200. */
const bootPaths = () => [
  '/boot.ipxe',
  '/autoexec.ipxe',
  `/ipxe?mac=${mac}&arch=x86_64&platform=efi`,
  '/ipxe?mac=52:54:00:00:00:77&arch=x86_64',
  pathOf(x86().kernel),
  pathOf(x86().initramfs),
  pathOf(x86().rootfs),
  '/streams/sample.json',
  stablePath('kernel'),
  stablePath('rootfs', 'aarch64'),
]

const head = (target: string) => requestRaw(service.bootPort, target, { method: 'HEAD' })

describe('section C: HTTP and UEFI HTTP boot', () => {
  it('field case 87: a whole boot over one connection, HEAD before each GET, which stays open', async () => {
    const connection = await openRaw(service.bootPort)
    for (const target of bootPaths()) {
      connection.send(`HEAD ${target} HTTP/1.1\r\nHost: x\r\nUser-Agent: UefiHttpBoot/1.0\r\n\r\n`)
      const first = await connection.next('HEAD')
      expect(first.headers.get('Connection')).not.toBe('close')
      connection.send(`GET ${target} HTTP/1.1\r\nHost: x\r\nUser-Agent: UefiHttpBoot/1.0\r\n\r\n`)
      const second = await connection.next('GET')
      expect([second.status, second.body.length]).toEqual([200, Number(first.headers.get('Content-Length'))])
    }
    connection.destroy()
  })

  it('field case 88: HEAD tells size and type of every boot path, scripts too', async () => {
    for (const target of bootPaths()) {
      const [full, empty] = [await service.get(target), await head(target)]
      for (const name of ['Content-Length', 'Content-Type', 'ETag']) {
        expect([target, name, empty.headers.get(name)]).toEqual([target, name, full.headers.get(name)])
      }
      expect([full.status, empty.status, empty.body.length]).toEqual([200, 200, 0])
      expect(full.body.length).toBe(Number(full.headers.get('Content-Length')))
    }
  })

  it('field cases 89, 93, 94: names in their letter case, no redirect, no chunks, no compression, no Vary', async () => {
    for (const target of [...bootPaths(), '/none', '/streams/none.json', `/artifacts/${'0'.repeat(64)}/x`]) {
      const answer = await service.get(target, ['Host: x', 'Accept-Encoding: gzip, deflate, br, zstd'])
      expect(answer.head).toMatch(/^HTTP\/1\.1 (200|404) /)
      expect(answer.head).toMatch(/\r\nContent-Length: \d+(\r\n|$)/)
      expect(answer.head).toMatch(/\r\nContent-Type: \S/)
      expect(answer.head).not.toMatch(/\r\n(Transfer-Encoding|Content-Encoding|Vary|Set-Cookie|Location):/i)
    }
  })

  it('field case 91: types by what a file is', async () => {
    expect((await head(pathOf(x86().kernel))).headers.get('Content-Type')).toBe('application/octet-stream')
    expect((await head('/boot.ipxe')).headers.get('Content-Type')).toBe('text/plain; charset=utf-8')
    expect((await head('/streams/sample.json')).headers.get('Content-Type')).toBe('application/json')
  })

  it('field case 95: ranges that make no sense are ignored, those that do are answered', async () => {
    const { bytes } = x86().rootfs
    const ask = (range: string) => service.get(pathOf(x86().rootfs), [`Range: ${range}`])
    for (const range of [
      'bytes=u-u',
      'bytes=-1540874240--1540857857',
      'bytes=',
      'lines=0-1',
      'bytes=0-1,5-9',
    ]) {
      const { status, body } = await ask(range)
      expect([range, status, body.length]).toEqual([range, 200, bytes.length])
    }
    const part = await ask('bytes=100-199')
    expect([part.status, part.headers.get('Content-Range')]).toEqual([206, `bytes 100-199/${bytes.length}`])
    expect(part.body.equals(bytes.subarray(100, 200))).toBe(true)
    expect((await ask('bytes=-10')).body.equals(bytes.subarray(-10))).toBe(true)
    const beyond = await ask(`bytes=${bytes.length}-`)
    expect([beyond.status, beyond.headers.get('Content-Range')]).toEqual([416, `bytes */${bytes.length}`])
  })

  it('field case 97: a strong tag and a date that survive a restart, and a resume with either', async () => {
    const target = pathOf(x86().rootfs)
    const before = await head(target)
    expect(before.headers.get('ETag')).toBe(`"${x86().rootfs.sha256}"`)
    await service.restart('SIGKILL')
    const after = await head(target)
    for (const name of ['ETag', 'Last-Modified'])
      expect(after.headers.get(name)).toBe(before.headers.get(name))
    const resume = (condition: string) => service.get(target, ['Range: bytes=1000-', condition])
    const rest = x86().rootfs.bytes.subarray(1000)
    for (const condition of [
      `If-Match: ${before.headers.get('ETag')}`,
      `If-Unmodified-Since: ${before.headers.get('Last-Modified')}`,
      `If-Range: ${before.headers.get('ETag')}`,
    ]) {
      const { status, body } = await resume(condition)
      expect([condition, status, body.equals(rest)]).toEqual([condition, 206, true])
    }
    expect((await resume('If-Match: "something else"')).status).toBe(412)
    expect((await resume('If-Range: "something else"')).status).toBe(200)
  })

  it('field cases 103, 148: every spelling of a MAC is the same host', async () => {
    const spellings = [
      '52:54:00:ab:cd:ef',
      '52-54-00-ab-cd-ef',
      '525400ABCDEF',
      '5254.00ab.cdef',
      '52%3A54%3A00%3AAB%3ACD%3AEF',
      '01-52-54-00-ab-cd-ef&mac=52:54:00:ab:cd:ef',
    ]
    for (const spelling of spellings) {
      expect(await service.script(spelling), spelling).toContain('# Host: n01, boot ')
    }
    for (const nobody of ['ff:ff:ff:ff:ff:ff', '00:00:00:00:00:00', '01:00:5e:00:00:01', 'x']) {
      expect(await service.script(nobody), nobody).toContain('# Host: unknown, boot ')
    }
  })

  it('field case 108: a gzip kernel of aarch64 is unpacked for iPXE, both digests are kept, x86 is left alone', async () => {
    const { kernel } = site.set(older, 'aarch64')
    const plain = gunzipSync(kernel.bytes)
    const script = await service.script('52:54:00:00:00:aa', 'arch=arm64&platform=efi')
    expect(script).toContain(`/artifacts/${digestOf(plain)}/`)
    expect((await service.get(`/artifacts/${digestOf(plain)}/kernel`)).body.equals(plain)).toBe(true)
    expect((await service.get(pathOf(kernel))).body.equals(kernel.bytes)).toBe(true)
    expect(await service.script(mac)).toContain(`/artifacts/${x86().kernel.sha256}/`)
  })

  it.each([
    '/../etc/passwd',
    '/..\\..\\etc\\passwd',
    '/a/../../etc/passwd',
    '/....//....//etc/passwd',
    '/artifacts/%2e%2e%2f%2e%2e%2fstate.db',
    '/artifacts/%252e%252e/state.db',
    '/artifacts/..%5c..%5cstate.db',
    '/artifacts/x%00/state.db',
    '/streams/..%2f..%2fstate.json',
    '/streams/../state.db',
    '//../state.db',
  ])('field case 75: %s reaches nothing', async (target) => {
    const { status, body } = await service.get(target)
    expect([400, 404]).toContain(status)
    expect(body.toString()).not.toMatch(/root:|SQLite/)
  })
})

describe('section D: boot scripts', () => {
  it('field cases 115, 110, 113: the magic first, names that match, the booting NIC', async () => {
    for (const target of bootPaths().filter((path) => /ipxe/.test(path))) {
      const { body } = await service.get(target)
      expect(body.subarray(0, 7).toString('hex')).toBe('2321697078650a')
      expect(body.at(-1)).toBe(0x0a)
      expect(body.includes(0x0d)).toBe(false)
      expect(body.toString()).not.toMatch(/net0|\$\{next-server\}/)
    }
    const script = await service.script(mac)
    expect(script).toMatch(/^initrd --name main http:\S+ \|\| goto retry$/m)
    expect(script).toMatch(/^kernel http:\S+ initrd=main .*BOOTIF=01-\$\{netX\/mac:hexhyp\}/m)
  })

  it.each([
    'a && shell',
    'x || reboot',
    '${cwduri}',
    '\nshell',
    '; shell',
    '#x',
    '"\'`$(x)',
    '\u00e9\u202e',
    'x\\',
  ])('field case 117: a client that says %j gets the script of one that says nothing', async (evil) => {
    const say = async (value: string) => {
      const names = ['hostname', 'asset', 'serial', 'manufacturer', 'product', 'uuid', 'foo']
      const query = names.map((name) => `${name}=${encodeURIComponent(value)}`).join('&')
      const script = await service.script('52:54:00:00:00:66', `arch=x86_64&platform=efi&${query}`)
      return script.replaceAll(/^# Host: unknown, boot (\S+)$/m.exec(script)?.[1] ?? '-', '')
    }
    expect(await say(evil)).toBe(await say(''))
  })

  it("field cases 118, 129: an operator's arguments in their order, those of CoreOS complete, none twice", async () => {
    const script = await service.script(mac)
    const words = /^kernel (.*) \|\| goto retry$/m.exec(script)?.[1]?.split(' ') ?? []
    expect(words.slice(-3)).toEqual(['console=tty0', 'console=ttyS0,115200n8', 'a;b'])
    expect(words).toEqual(
      expect.arrayContaining([
        'ignition.firstboot',
        'ignition.platform.id=metal',
        'ignition.config.url=http://192.0.2.10/n01.ign',
        expect.stringMatching(
          /^coreos\.live\.rootfs_url=http:\/\/127\.0\.0\.1:\d+\/artifacts\/[0-9a-f]{64}\//,
        ),
      ]),
    )
    expect(new Set(words).size).toBe(words.length)
  })

  it('field case 118: an argument that iPXE would cut is a mistake of the configuration, at its place', async () => {
    for (const argument of ['&&', '||', ';', '#x', 'a b', '${x}', 'x\\']) {
      await service.write(
        'hosts.d/bad.yaml',
        JSON.stringify({
          version: 1,
          hosts: [{ id: 'bad', macs: ['52:54:00:00:00:99'], kernelArguments: [argument] }],
        }),
      )
      const { error } = await service.control<{ error?: string }>('/api/v1/reload')
      expect(error, argument).toMatch(/bad\.yaml:1:\d+/)
    }
    await service.write('hosts.d/bad.yaml', JSON.stringify({ version: 1, hosts: [] }))
    expect(await service.control('/api/v1/reload')).not.toHaveProperty('error')
  })

  it('field case 121: blanks in serials, placeholders, unknown keys and a request line of 8 KiB', async () => {
    expect(await service.script('', 'serial=%20VMware-42%201e%0d%0a&arch=x86_64')).toContain('found=serial')
    for (const nothing of [
      'No%20Asset%20Tag',
      'To%20Be%20Filled%20By%20O.E.M.',
      'Default%20string',
      '0123456789',
    ]) {
      expect(await service.script('', `serial=${nothing}&arch=x86_64`)).toContain('# Host: unknown')
    }
    const long = await service.get(`/ipxe?mac=${mac}&arch=x86_64&filler=${'x'.repeat(8000)}`)
    expect([long.status, long.body.toString().includes('# Host: n01')]).toEqual([200, true])
  })

  it('field case 128: every fetch of every script is tried again, without end', async () => {
    for (const target of bootPaths().filter((path) => /ipxe/.test(path))) {
      const script = (await service.get(target)).body.toString()
      for (const line of script.split('\n').filter((it) => /^(chain|kernel|initrd)\b/.test(it))) {
        expect(line).toMatch(/ \|\| goto \w+$/)
      }
      expect(script).toMatch(/^echo Attempt \$\{attempt\} failed: \$\{url\}$/m)
      expect(script.trimEnd()).toMatch(/(?:\n|\|\| )goto \w+$/)
    }
  })
})

describe('sections E and F: metadata and cache', () => {
  it('field case 131: the location is used as the document spells it, whatever the names', async () => {
    const odd = '/odd place/v1.0?/../files;x=1/Kernel%20Image.bin'
    const location = `${site.origin}${odd.replace(' ', '%20').replace('?', '%3f')}`
    const document = JSON.parse(
      (await (await fetch(site.streamUrl)).text()).replaceAll('44.20260601.3.0', '44.20260610.3.0'),
    )
    const { pxe } = document.architectures.x86_64.artifacts.metal.formats
    const kernel = Buffer.from('a kernel under an odd name')
    pxe.kernel = { location, sha256: digestOf(kernel) }
    pxe.initramfs.location = `${site.origin}${site.pathOf(newer, 'initramfs')}`
    pxe.initramfs.sha256 = site.set(newer).initramfs.sha256
    pxe.rootfs.location = `${site.origin}${site.pathOf(newer, 'rootfs')}`
    pxe.rootfs.sha256 = site.set(newer).rootfs.sha256
    delete document.architectures.aarch64
    const asked = new URL(location).pathname
    site.publish(asked, kernel)
    site.publish(streamPath, JSON.stringify(document))
    await service.sync()
    await untilCurrent(service, '44.20260610.3.0')
    const [digest] = digestsOfBoot(await service.boot())
    expect(digest).toBe(digestOf(kernel))
  })

  it('field case 133: a second sync of the same metadata fetches no file at all', async () => {
    await service.sync()
    const before = site.requests.length
    await service.sync()
    await service.sync()
    expect(new Set(site.requests.slice(before).map(({ path }) => path))).toEqual(new Set([streamPath]))
  })

  it('field case 143: a stable URL moves at once; a download in progress keeps its old bytes to the end', async () => {
    const target = stablePath('rootfs')
    const connection = await openRaw(service.bootPort)
    connection.send(`GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`)
    connection.socket.pause()
    site.moveTo(newer)
    await service.sync()
    await untilCurrent(service, newer)
    const fresh = await service.get(target)
    expect(fresh.headers.get('X-Pilotlight-Release')).toBe(newer)
    expect(fresh.headers.get('X-Pilotlight-Sha256')).toBe(site.set(newer).rootfs.sha256)
    expect(digestOf(fresh.body)).toBe(site.set(newer).rootfs.sha256)
    connection.socket.resume()
    const old = await connection.next()
    expect(digestOf(old.body)).toBe(old.headers.get('X-Pilotlight-Sha256'))
    connection.destroy()
  })

  it('field case 142: a file newer than its document makes the document be read again, once, and ends in both digests', async () => {
    const path = site.pathOf(older, 'rootfs')
    const replaced = Buffer.from('the publisher replaced this file')
    site.publish(site.pathOf(newer, 'kernel'), replaced)
    const third = JSON.parse(
      await (await fetch(site.streamUrl)).text().then((text) => text.replaceAll(newer, '44.20260709.3.0')),
    )
    const { pxe } = third.architectures.x86_64.artifacts.metal.formats
    pxe.kernel = { location: `${site.origin}${site.pathOf(newer, 'kernel')}`, sha256: '1'.repeat(64) }
    pxe.initramfs = {
      location: `${site.origin}${site.pathOf(newer, 'initramfs')}`,
      sha256: site.set(newer).initramfs.sha256,
    }
    pxe.rootfs = { location: `${site.origin}${path}`, sha256: site.set(older).rootfs.sha256 }
    delete third.architectures.aarch64
    site.publish(streamPath, JSON.stringify(third))
    const before = { kernel: site.gets(site.pathOf(newer, 'kernel')), document: site.gets(streamPath) }
    await service.sync()
    const failed = await eventually(
      async () => (await service.bootimages()).find(({ release }) => release === '44.20260709.3.0'),
      (found) => found?.state === 'failed',
    )
    expect(failed?.failure).toMatchObject({ code: 'ARTIFACT_DIGEST_MISMATCH' })
    expect(failed?.failure?.message).toContain(
      `expected SHA-256 ${'1'.repeat(64)}, found ${digestOf(replaced)}`,
    )
    expect(site.gets(site.pathOf(newer, 'kernel')) - before.kernel).toBeLessThanOrEqual(6)
    expect(site.gets(streamPath) - before.document).toBeLessThanOrEqual(3)
    expect(await service.current()).toBe(newer)
    site.moveTo(newer)
  })

  it('field case 147: the state of each set can be seen, with bytes while it is fetched', async () => {
    const states = new Map(
      (await service.bootimages()).map((image) => [`${image.release} ${image.arch}`, image]),
    )
    expect(states.get(`${newer} x86_64`)).toMatchObject({ state: 'ready', sizeBytes: expect.any(Number) })
    expect(states.get('44.20260709.3.0 x86_64')).toMatchObject({
      state: 'failed',
      failure: { code: expect.any(String), at: expect.stringMatching(/^20\d\d-/) },
    })
  })

  it('stream metadata is republished with our locations, and every one of them is true', async () => {
    const document = JSON.parse((await service.get('/streams/sample.json')).body.toString())
    const { release, formats } = document.architectures.x86_64.artifacts.metal
    expect(release).toBe(newer)
    for (const role of ['kernel', 'initramfs', 'rootfs'] as const) {
      const { location, sha256 } = formats.pxe[role]
      const { pathname, host } = new URL(location)
      expect(host).toBe(`127.0.0.1:${service.bootPort}`)
      const { body } = await service.get(pathname)
      expect(createHash('sha256').update(body).digest('hex')).toBe(sha256)
    }
    expect(digestsOfSet(site.set(newer))).toContain(formats.pxe.rootfs.sha256)
  })
})
