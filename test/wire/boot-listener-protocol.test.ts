import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type BootRig, startBootRig } from '../fakes/boot-rig.ts'
import { openRaw, type RawResponse, requestRaw } from '../fakes/raw-http.ts'

let rig: BootRig
let kernel: string
let rootfs: string

beforeAll(async () => {
  rig = await startBootRig()
  kernel = `/artifacts/${rig.image.kernel.sha256}/vmlinuz`
  rootfs = `/artifacts/${rig.image.rootfs?.sha256}/rootfs.img`
})
afterAll(() => rig.stop())
beforeEach(() => {
  rig.service.decide = () => ({ kind: 'ignore', reasons: [{ code: 'host-unknown', facts: {} }] })
})

const get = (target: string, headers: readonly string[] = []) => requestRaw(rig.port, target, { headers })
const head = (target: string, headers: readonly string[] = []) =>
  requestRaw(rig.port, target, { method: 'HEAD', headers })

function stable(target = 'kernel'): string {
  return `/streams/fcos-stable/x86_64/metal/pxe/${target}`
}

/** Every kind of answer there is. */
const everyTarget = () =>
  [
    '/boot.ipxe',
    '/autoexec.ipxe',
    '/ipxe?mac=52:54:00:ab:cd:ef&arch=x86_64&platform=efi',
    kernel,
    `${kernel}.sig`,
    rootfs,
    `${rootfs}.sig`,
    `/artifacts/${[...rig.catalog.awaited][0]}/x`,
    `/artifacts/${'0'.repeat(64)}/x`,
    '/artifacts/nonsense/x',
    '/streams/fcos-stable.json',
    '/streams/fcos-testing.json',
    '/streams/none.json',
    stable(),
    stable('kernel.sig'),
    stable('nothing'),
    '/streams/fcos-testing/x86_64/metal/pxe/kernel',
    '/',
    '/nothing/here',
    '/../etc/passwd',
  ] as const

describe('every answer', () => {
  test('HEAD equals GET without body, header for header (field case 88)', async () => {
    for (const target of everyTarget()) {
      const [full, empty] = [await get(target), await head(target)]
      const withoutDate = ({ head: text }: RawResponse) => text.replace(/\r\nDate: [^\r]*/, '')
      expect(withoutDate(empty), target).toBe(withoutDate(full))
      expect(full.headers.get('Content-Length'), target).toBe(String(full.body.length))
      expect(empty.body.length).toBe(0)
    }
  })

  test('names are spelt as old loaders compare them (field case 89)', async () => {
    for (const target of everyTarget()) {
      const { head: text } = await get(target)
      expect(text, target).toMatch(/^HTTP\/1\.1 \d{3} /)
      expect(text, target).toMatch(/\r\nContent-Length: \d+(\r\n|$)/)
      expect(text, target).toMatch(/\r\nContent-Type: /)
      expect(text, target).not.toMatch(/\r\n[a-z]/)
    }
  })

  test('never redirected, chunked, compressed, varied, with a cookie or an empty value (field cases 93, 94)', async () => {
    for (const target of everyTarget()) {
      const answer = await get(target, ['Accept-Encoding: gzip, br', 'Host: x', 'Cookie: a=b'])
      expect(Math.floor(answer.status / 100), target).not.toBe(3)
      for (const name of ['Transfer-Encoding', 'Content-Encoding', 'Vary', 'Set-Cookie', 'Location']) {
        expect(answer.headers.has(name), `${target} ${name}`).toBe(false)
      }
    }
  })

  test('a refusal is a short text that tells what to do, a script is a script', async () => {
    for (const target of everyTarget()) {
      const { status, headers, body } = await get(target)
      if (status === 200) continue
      expect([400, 404, 503], target).toContain(status)
      expect(headers.get('Content-Type')).toBe('text/plain; charset=utf-8')
      expect(headers.get('Cache-Control')).toBe('no-store')
      expect(body.toString()).toMatch(/^.{20,600}\n$/)
    }
  })
})

describe('connections', () => {
  test('HEAD then GET on one connection, no close, kept for more than 30 s (field case 87)', async () => {
    const connection = await openRaw(rig.port)
    connection.send(
      `HEAD ${kernel} HTTP/1.1\r\nHost: x\r\nUser-Agent: UefiHttpBoot/1.0\r\nAccept: */*\r\n\r\n`,
    )
    const first = await connection.next('HEAD')
    expect(first.headers.get('Connection')).toBe('keep-alive')
    expect(first.headers.get('Keep-Alive')).toMatch(/^timeout=(3\d|[4-9]\d|\d{3,})$/)
    connection.send(`GET ${kernel} HTTP/1.1\r\nHost: x\r\n\r\n`)
    const second = await connection.next('GET')
    expect(second.body.length).toBe(Number(first.headers.get('Content-Length')))
    connection.destroy()
  })

  test('a whole boot goes over one connection, as iPXE does it', async () => {
    const connection = await openRaw(rig.port)
    for (const target of ['/boot.ipxe', '/ipxe?mac=525400abcdef', kernel, rootfs, '/ipxe?mac=525400abcdef']) {
      connection.send(
        `GET ${target} HTTP/1.1\r\nConnection: keep-alive\r\nUser-Agent: iPXE/1.0.0+\r\nHost: x\r\n\r\n`,
      )
      expect((await connection.next()).status).toBe(200)
    }
    connection.destroy()
  })

  test('requests sent ahead of their answers are answered in order', async () => {
    const connection = await openRaw(rig.port)
    const targets = [rootfs, '/boot.ipxe', kernel, `${kernel}.sig`, '/nothing']
    connection.send(targets.map((target) => `GET ${target} HTTP/1.1\r\n\r\n`).join(''))
    const answers: RawResponse[] = []
    for (const _ of targets) answers.push(await connection.next())
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 404])
    const [first, second, third, fourth] = answers.map(({ body }) => body)
    expect([first?.length, third?.length]).toEqual([5_000_001, 10_000])
    expect([second?.subarray(0, 6).toString(), fourth?.toString()]).toEqual([
      '#!ipxe',
      'a detached signature',
    ])
    connection.destroy()
  })

  test('HTTP/1.0 gets its answer and the end, or the next one when it asks for it', async () => {
    const closing = await openRaw(rig.port)
    closing.send(`GET ${kernel} HTTP/1.0\r\n\r\n`)
    const answer = await closing.next()
    expect([answer.status, answer.body.length]).toEqual([200, 10_000])
    expect((await closing.closed()).length).toBe(0)

    const kept = await openRaw(rig.port)
    for (let round = 0; round < 2; round += 1) {
      kept.send('GET /boot.ipxe HTTP/1.0\r\nConnection: keep-alive\r\n\r\n')
      expect((await kept.next()).headers.get('Connection')).toBe('keep-alive')
    }
    kept.destroy()
  })

  test('a request without a version is answered, then the connection ends', async () => {
    const connection = await openRaw(rig.port)
    connection.send('GET /boot.ipxe\r\n\r\n')
    expect((await connection.next()).status).toBe(200)
    expect((await connection.closed()).length).toBe(0)
  })

  test('Connection: close is honoured (busybox wget)', async () => {
    const connection = await openRaw(rig.port)
    connection.send('GET /boot.ipxe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    expect((await connection.next()).headers.get('Connection')).toBe('close')
    expect((await connection.closed()).length).toBe(0)
  })
})

describe('requests as they really come', () => {
  test('without Host, with doubled slashes, in absolute form', async () => {
    for (const target of ['//boot.ipxe', '/./boot.ipxe', '///boot.ipxe', 'http://other.example/boot.ipxe']) {
      const { status, body } = await get(target)
      expect([target, status, body.subarray(0, 7).toString()]).toEqual([target, 200, '#!ipxe\n'])
    }
  })

  test('URLs in scripts come from the connection, never from Host or the target', async () => {
    for (const [target, ...headers] of [
      ['/boot.ipxe', 'Host: evil.example', 'X-Forwarded-Host: evil.example', 'Forwarded: host=evil.example'],
      ['http://evil.example/boot.ipxe', 'Host: evil.example'],
    ] as const) {
      const { body } = await get(target, headers)
      expect(body.toString()).toBe(`#!ipxe\nchain http://127.0.0.1:${rig.port}/ipxe\n`)
    }
  })

  test.each([
    '/..%2fetc/passwd',
    '/../etc/passwd',
    '/..\\etc\\passwd',
    '/a/../../etc/passwd',
    '/artifacts/../../etc/passwd',
    '/artifacts/%2e%2e%2f%2e%2e%2fetc/passwd',
    '/artifacts/%252e%252e/x',
    '/artifacts/%5c..%5cx',
    '/artifacts/x%00/y',
    '/streams/..%2f..%2fstate.db',
    '/streams/%2e%2e/state.json',
    '/....//x',
    '/artifacts/....//x',
  ])('%s reaches nothing (field case 75)', async (target) => {
    const { status, body } = await get(target)
    expect([400, 404]).toContain(status)
    expect(body.toString()).not.toContain('root:')
  })

  test('a request line of 8 KiB is read, a longer one is 414, a larger header 431 (field case 121)', async () => {
    const query = (length: number) => `/ipxe?mac=525400abcdef&asset=${'x'.repeat(length)}`
    expect((await get(query(8100))).status).toBe(200)
    expect((await get(query(9000))).status).toBe(414)
    const large = await get('/boot.ipxe', [`X-Large: ${'x'.repeat(20_000)}`])
    expect([large.status, large.headers.get('Connection')]).toEqual([431, 'close'])
  })

  test('twenty unknown header lines do no harm', async () => {
    const lines = Array.from({ length: 20 }, (_, index) => `X-Vendor-${index}: value ${index}`)
    expect((await get('/boot.ipxe', lines)).status).toBe(200)
  })
})

describe('what is no GET', () => {
  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'])(
    '%s is 405 with Allow, and changes nothing (field case 161)',
    async (method) => {
      const asked = rig.service.answered.length
      const answer = await requestRaw(rig.port, '/ipxe?mac=525400abcdef', { method })
      expect([answer.status, answer.headers.get('Allow')]).toEqual([405, 'GET, HEAD'])
      expect(rig.service.answered.length).toBe(asked)
    },
  )

  test('CONNECT is 405 and the end', async () => {
    const connection = await openRaw(rig.port)
    connection.send('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n')
    expect((await connection.next()).status).toBe(405)
    expect((await connection.closed()).length).toBe(0)
  })

  test('a small body is dropped and the connection goes on', async () => {
    const connection = await openRaw(rig.port)
    connection.send('POST /x HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello')
    expect((await connection.next()).status).toBe(405)
    connection.send('GET /boot.ipxe HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi')
    expect((await connection.next()).status).toBe(200)
    connection.destroy()
  })

  test('a large or endless body is answered at once and ends the connection', async () => {
    for (const header of ['Content-Length: 99999999', 'Transfer-Encoding: chunked']) {
      const connection = await openRaw(rig.port)
      connection.send(`PUT /x HTTP/1.1\r\n${header}\r\n\r\n`)
      const answer = await connection.next()
      expect([answer.status, answer.headers.get('Connection')]).toEqual([405, 'close'])
      await connection.closed()
    }
  })

  test('Expect: 100-continue gets the final answer, no interim one', async () => {
    const connection = await openRaw(rig.port)
    connection.send('POST /x HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n')
    expect((await connection.next()).status).toBe(405)
    connection.destroy()
    const strange = await get('/boot.ipxe', ['Expect: the-unexpected'])
    expect(strange.status).toBe(200)
  })

  test('an upgrade is not taken up', async () => {
    const answer = await get('/boot.ipxe', ['Connection: Upgrade', 'Upgrade: h2c'])
    expect(answer.status).toBe(200)
  })
})

describe('what is no HTTP', () => {
  test.each([
    ['a TLS hello', Buffer.from('160301020001fc0303', 'hex')],
    ['an unknown method', 'FETCH /boot.ipxe HTTP/1.1\r\n\r\n'],
    ['blanks in the target', 'GET /a b c HTTP/1.1\r\n\r\n'],
    ['a control byte in a header', 'GET / HTTP/1.1\r\nX: a\u0000b\r\n\r\n'],
    ['two lengths', 'POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
    ['a length and chunks', 'POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ['words', 'hello there\r\n\r\n'],
  ])('%s is a 400 that can be read, and the end', async (_, bytes) => {
    const connection = await openRaw(rig.port)
    connection.send(bytes)
    const answer = await connection.next()
    expect([answer.status, answer.headers.get('Connection')]).toEqual([400, 'close'])
    expect(answer.head).toMatch(/\r\nContent-Length: \d+\r\n/)
    expect((await connection.closed()).length).toBe(0)
  })

  test('garbage behind a request does not harm the answer to it', async () => {
    const connection = await openRaw(rig.port)
    connection.send(`GET ${rootfs} HTTP/1.1\r\n\r\n\u0001garbage\r\n\r\n`)
    expect((await connection.next()).body.length).toBe(5_000_001)
    expect((await connection.next()).status).toBe(400)
    await connection.closed()
  })
})
