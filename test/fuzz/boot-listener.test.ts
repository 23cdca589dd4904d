import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BootRig, startBootRig } from '../fakes/boot-rig.ts'
import { openRaw, requestRaw } from '../fakes/raw-http.ts'

const isSoak = process.env.SOAK === '1'
const requests = isSoak ? 100_000 : 10_000
const perConnection = 20

let rig: BootRig
beforeAll(async () => {
  rig = await startBootRig()
})
afterAll(() => rig.stop())

/** Parts of paths that mean something here, and those that attack. */
const pathPart = fc.oneof(
  fc.constantFrom(
    'boot.ipxe',
    'ipxe',
    'autoexec.ipxe',
    'artifacts',
    'streams',
    'fcos-stable.json',
    'fcos-testing',
    'x86_64',
    'metal',
    'pxe',
    'kernel',
    'KERNEL-DIGEST',
    '..',
    '.',
    '',
    '%2e%2e',
    '%2f',
    '%00',
    '....',
    '~root',
    '__proto__',
    'constructor',
  ),
  fc.string({ minLength: 1, maxLength: 12 }).map((text) => encodeURIComponent(text)),
)
const query = fc.oneof(
  fc.constant(''),
  fc.webQueryParameters().map((text) => `?${text}`),
  fc
    .array(
      fc.tuple(
        fc.constantFrom('mac', 'uuid', 'serial', 'arch', 'platform', 'lm', 'boot'),
        fc.string({ maxLength: 20 }),
      ),
    )
    .map((pairs) => `?${pairs.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join('&')}`),
)
const target = fc
  .tuple(fc.array(pathPart, { maxLength: 7 }), query)
  .map(([parts, rest]) => `/${parts.join('/')}${rest}`)
const headerLine = fc.oneof(
  fc.constantFrom(
    'Host: x',
    'Range: bytes=0-9',
    'Range: bytes=-5',
    'Range: bytes=u-u',
    'Range: bytes=99999999999-',
    'If-Match: *',
    'If-Match: "x"',
    'If-None-Match: *',
    'If-Range: "x"',
    'Expect: 100-continue',
    'Upgrade: h2c',
    'Connection: keep-alive',
    'Accept-Encoding: gzip',
    'Content-Length: 0',
  ),
  fc
    .string({ unit: fc.constantFrom(...'abcXYZ019 -_=;"\u00e9,/'), maxLength: 30 })
    .map((text) => `X-Fuzz: ${text}`),
)
const request = fc.record({
  method: fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS'),
  target,
  headers: fc.array(headerLine, { maxLength: 4 }),
})

test(
  'no request, however odd, is answered with anything but well-formed HTTP',
  async () => {
    const { sha256 } = rig.image.kernel
    await fc.assert(
      fc.asyncProperty(
        fc.array(request, { minLength: perConnection, maxLength: perConnection }),
        async (batch) => {
          const connection = await openRaw(rig.port)
          try {
            for (const { method, target: path, headers } of batch) {
              const lines = [
                `${method} ${path.replaceAll('KERNEL-DIGEST', sha256)} HTTP/1.1`,
                ...headers,
                '',
                '',
              ]
              connection.send(Buffer.from(lines.join('\r\n'), 'latin1'))
              const { status, headers: sent, body } = await connection.next(method)
              expect([200, 206, 304, 400, 404, 405, 412, 416, 503]).toContain(status)
              if (status !== 304) expect(sent.has('Content-Type')).toBe(true)
              if (status === 206) expect(body.length).toBeLessThan(11)
              if (sent.get('Connection') === 'close') return
            }
          } finally {
            connection.destroy()
          }
        },
      ),
      { numRuns: requests / perConnection },
    )
  },
  isSoak ? 600_000 : 60_000,
)

test('no bytes at all take the listener down', async () => {
  const start = fc.constantFrom(
    'GET / HTTP/1.1\r\n',
    'GET /',
    'POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n',
    '\r\n',
    '',
  )
  const noise = fc.uint8Array({ maxLength: 300 })
  await fc.assert(
    fc.asyncProperty(start, noise, async (text, bytes) => {
      const connection = await openRaw(rig.port)
      connection.send(Buffer.concat([Buffer.from(text), bytes, Buffer.from('\r\n\r\n')]))
      connection.socket.end()
      const answer = await connection.closed()
      if (answer.length > 0) expect(answer.subarray(0, 9).toString()).toBe('HTTP/1.1 ')
    }),
    { numRuns: isSoak ? 10_000 : 500 },
  )
  expect((await requestRaw(rig.port, '/boot.ipxe')).status).toBe(200)
  expect(rig.log.lines.filter(({ level }) => level === 'error')).toEqual([])
}, 120_000)
