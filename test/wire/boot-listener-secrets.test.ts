import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { noSecrets, type SecretService } from '../../src/boot/secret-service.ts'
import { ServiceError } from '../../src/core/errors.ts'
import type { NodeReport } from '../../src/core/fleet.ts'
import { type BootRig, startBootRig } from '../fakes/boot-rig.ts'
import { openRaw, requestRaw } from '../fakes/raw-http.ts'
import { bootId } from '../fakes/scripts.ts'

const token = 'A'.repeat(64)
const report = '{"status":"booted"}'
const reported: NodeReport[] = []
const probes: boolean[] = []
let record: SecretService['record'] = noSecrets.record
let rig: BootRig

beforeAll(async () => {
  rig = await startBootRig({
    secrets: {
      ...noSecrets,
      ignition(asked, { isProbe }) {
        probes.push(isProbe === true)
        return asked === token ? { kind: 'config', text: '{"ä":1}' } : { kind: 'refused' }
      },
      reporter: (asked) => (asked === token ? { bootId, issuedAt: 0, host: 'n01' } : undefined),
      record: (...given) => record(...given),
    },
  })
})
afterAll(() => rig.stop())
afterEach(() => {
  reported.length = 0
  record = keep
})

async function keep(kept: NodeReport): Promise<'recorded'> {
  reported.push(kept)
  return 'recorded'
}
record = keep

const post = (body: string, extra: readonly string[] = []) =>
  [
    `POST /report/${token} HTTP/1.1`,
    'Host: x',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...extra,
    '',
    body,
  ].join('\r\n')

async function send(bytes: string) {
  const connection = await openRaw(rig.port)
  connection.send(bytes)
  const answer = await connection.next()
  connection.destroy()
  return answer
}

describe('/ignition on the wire', () => {
  test('HEAD equals GET without a body; the length is in bytes', async () => {
    const get = await requestRaw(rig.port, `/ignition/${token}`)
    expect(get.status).toBe(200)
    expect(get.headers.get('Content-Length')).toBe(String(get.body.length))
    const connection = await openRaw(rig.port)
    connection.send(`HEAD /ignition/${token} HTTP/1.0\r\n\r\n`)
    const head = await connection.next('HEAD')
    connection.destroy()
    expect(head.headers.get('Content-Length')).toBe(String(get.body.length))
    expect(probes).toEqual([false, true])
    expect(head.headers.get('Content-Type')).toBe('application/vnd.coreos.ignition+json')
  })

  test('G12 whatever is no good token gets one 404, and no line in the log has it', async () => {
    const other = 'B'.repeat(64)
    const answers = [
      `/ignition/${other}`,
      '/ignition/x',
      `//ignition///${other}`,
      `/ignition/${other}?x=${other}`,
    ].map((path) => requestRaw(rig.port, path))
    const bodies = new Set((await Promise.all(answers)).map(({ status, body }) => `${status} ${body}`))
    expect(bodies.size).toBe(1)
    expect(JSON.stringify(rig.log.lines)).not.toContain(other.slice(0, 20))
  })
})

describe('/report on the wire', () => {
  test('is taken with its length, in pieces, in chunks, and on a connection that goes on', async () => {
    expect((await send(post(report))).status).toBe(200)
    const chunked = `POST /report/${token} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${report.length.toString(16)}\r\n${report}\r\n0\r\n\r\n`
    expect((await send(chunked)).status).toBe(200)
    const connection = await openRaw(rig.port)
    const whole = post(report)
    connection.send(whole.slice(0, -5))
    connection.send(whole.slice(-5))
    expect((await connection.next()).status).toBe(200)
    connection.send(post(report))
    connection.send('GET /boot.ipxe HTTP/1.1\r\nHost: x\r\n\r\n')
    expect((await connection.next()).status).toBe(200)
    expect((await connection.next()).body.toString()).toMatch(/^#!ipxe/)
    connection.destroy()
    expect(reported).toHaveLength(4)
    expect(reported[0]).toMatchObject({ bootId, host: 'n01', status: 'booted', address: '127.0.0.1' })
  })

  test('that cannot be kept asks to come again, and what is no report says why', async () => {
    record = () => Promise.reject(new ServiceError('STATE_UNAVAILABLE'))
    const unavailable = await send(post(report))
    expect(unavailable.status).toBe(503)
    expect(unavailable.headers.get('Retry-After')).toBe('30')
    record = keep
    expect((await send(post('{"status"'))).body.toString()).toBe(
      'This report cannot be taken: it is not a JSON object.\n',
    )
    expect((await send(post('\u0000'.repeat(16 * 1024 + 1)))).status).toBe(413)
    expect((await send(post(''))).status).toBe(400)
    expect(reported).toEqual([])
  })

  test('is for POST alone, and POST is for it alone', async () => {
    const get = await requestRaw(rig.port, `/report/${token}`)
    expect([get.status, get.headers.get('Allow')]).toEqual([405, 'POST'])
    const other = await send(post(report).replace(`/report/${token}`, `/ignition/${token}`))
    expect([other.status, other.headers.get('Allow')]).toEqual([405, 'GET, HEAD'])
    expect((await send(post(report).replace(token, 'x'))).status).toBe(404)
    expect(reported).toEqual([])
  })

  test('a machine that goes in the middle of it leaves nothing behind', async () => {
    const connection = await openRaw(rig.port)
    connection.send(post(report).slice(0, -5))
    connection.destroy()
    expect((await send(post(report))).status).toBe(200)
    expect(reported).toHaveLength(1)
  })
})
