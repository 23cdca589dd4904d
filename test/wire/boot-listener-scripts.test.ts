import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { BootDecision } from '../../src/core/boot-decision.ts'
import { ServiceError } from '../../src/core/errors.ts'
import { reason } from '../../src/core/reason.ts'
import { type BootRig, plainRenderer, startBootRig } from '../fakes/boot-rig.ts'
import { requestRaw } from '../fakes/raw-http.ts'

let rig: BootRig

beforeEach(async () => {
  rig = await startBootRig()
})
afterEach(() => rig.stop())

const target =
  '/ipxe?mac=52-54-00-ab-cd-ef&uuid=85cd0947-0000-4000-8000-000000000001&arch=x86_64&platform=efi'
const get = (path = target) => requestRaw(rig.port, path)
const head = (path = target) => requestRaw(rig.port, path, { method: 'HEAD' })
const because = [reason('host-unknown')] as const

const decisions: Readonly<Record<string, BootDecision>> = {
  ignore: { kind: 'ignore', reasons: because },
  local: { kind: 'local', reasons: because, method: 'exit 1' },
  wait: { kind: 'wait', reasons: because, wanted: { stream: 'fcos-stable', arch: 'x86_64' } },
  hold: { kind: 'hold', reasons: because, method: 'exit 1' },
  'hold, then 404': { kind: 'hold', reasons: because, method: 'http-404' },
}

describe('/ipxe', () => {
  test('for nobody is the script that finds out who it is, and says what is missing', async () => {
    const { status, body } = await get('/ipxe')
    const [first, ...rest] = body.toString().split('\n')
    const entry = (await get('/boot.ipxe')).body.toString()
    expect([status, first]).toEqual([200, '#!ipxe'])
    expect(rest.slice(0, 3).join('\n')).toMatch(
      /needs to know the machine[\s\S]*\?mac=[\s\S]*pilotlight explain --mac/,
    )
    expect([first, ...rest.slice(3)].join('\n')).toBe(entry)
    await get('/grub/grub.cfg')
    await head('/boot.ipxe')
    expect(rig.events).toEqual(
      ['ipxe', 'boot.ipxe', 'grub.cfg'].map((name) => ({
        type: 'entry-sent',
        at: rig.time.now(),
        name,
        address: '127.0.0.1',
      })),
    )
  })

  test('asks for the machine that speaks, mints a boot id, is never kept', async () => {
    const { status, headers, body } = await get()
    expect(status).toBe(200)
    expect(headers.get('Content-Type')).toBe('text/plain; charset=utf-8')
    expect(headers.get('Cache-Control')).toBe('no-store')
    expect(body.toString()).toBe(
      `#!ipxe\n# ignore boot000000000000000001 http://127.0.0.1:${rig.port}\nexit\n`,
    )
    expect(rig.service.answered).toEqual([
      {
        macs: ['52:54:00:ab:cd:ef'],
        uuid: '85cd0947-0000-4000-8000-000000000001',
        serial: undefined,
        arch: 'x86_64',
        firmware: 'uefi',
        loader: 'ipxe',
        address: '127.0.0.1',
      },
    ])
  })

  test('HEAD mints nothing and tells the length that GET will have (field cases 88, 161)', async () => {
    const empty = await head()
    expect([rig.service.answered.length, rig.service.explained.length]).toEqual([0, 1])
    expect(empty.headers.get('Content-Length')).toBe(String((await get()).body.length))
    expect(rig.service.answered.length).toBe(1)
  })

  test.each(Object.keys(decisions))('G11 %s is a complete script with status 200', async (name) => {
    const decision = decisions[name]
    if (decision === undefined) throw new Error('unreachable')
    rig.service.decide = () => decision
    const { status, body } = await get()
    expect([status, body.subarray(0, 7).toString(), body.at(-1)]).toEqual([200, '#!ipxe\n', 0x0a])
  })

  test('404 is for those who chose it', async () => {
    rig.service.decide = () => ({ kind: 'local', reasons: because, method: 'http-404' })
    const { status, body } = await get()
    expect([status, body.toString()]).toEqual([
      404,
      'This machine boots from its own disk, and its localBoot is http-404: this answer sends it there.\n',
    ])
    expect((await head()).headers.get('Content-Length')).toBe(String(body.length))
    const choosing = await startBootRig({ ignoredMachines: 'http-404' })
    expect((await requestRaw(choosing.port, target)).status).toBe(404)
    await choosing.stop()
  })

  test('strings made to inject give the script of a clean machine (field case 117)', async () => {
    const clean = (await get()).body.toString().replace(/boot\d+/, '')
    for (const text of [
      'a && shell',
      'x || reboot',
      '${cwduri}',
      '%0Ashell',
      '\r\nSet-Cookie: a=b',
      '\u0000',
    ]) {
      const value = encodeURIComponent(text)
      const { body, headers } = await get(`${target}&serial=${value}&asset=${value}&hostname=${value}`)
      expect(body.toString().replace(/boot\d+/, '')).toBe(clean)
      expect(headers.has('Set-Cookie')).toBe(false)
    }
  })

  test('an admin can choose the address and port in URLs', async () => {
    const configured = await startBootRig({ urls: { address: '192.0.2.10', port: 80 } })
    expect((await requestRaw(configured.port, '/boot.ipxe')).body.toString()).toBe(
      '#!ipxe\nchain http://192.0.2.10/ipxe\n',
    )
    await configured.stop()
  })
})

describe('a script that cannot be made', () => {
  test('is a 500 with a complete script that says so and asks again; logged once a minute', async () => {
    rig.renderer = {
      ...plainRenderer,
      ipxe() {
        throw new ServiceError('TEMPLATE_RENDER_FAILED', 'undefined variable: nothing')
      },
    }
    for (let round = 0; round < 5; round += 1) {
      const { status, body, headers } = await get()
      expect([status, headers.get('Content-Type')]).toEqual([500, 'text/plain; charset=utf-8'])
      expect(body.toString()).toBe(
        [
          '#!ipxe',
          '# Pilotlight could not make the boot script of this machine: TEMPLATE_RENDER_FAILED. Its log says more.',
          ':retry',
          'echo Pilotlight could not make a boot script for this machine (TEMPLATE_RENDER_FAILED); see its log',
          'echo Asking again in 30 seconds',
          'sleep 30',
          `chain http://127.0.0.1:${rig.port}/boot.ipxe || goto retry`,
          'goto retry',
          '',
        ].join('\n'),
      )
    }
    const errors = () => rig.log.lines.filter(({ level }) => level === 'error')
    expect(errors().map(({ message, fields }) => [message, fields.code])).toEqual([
      ['boot script could not be made', 'TEMPLATE_RENDER_FAILED'],
    ])
    await rig.time.advance(60_000)
    await get()
    expect(errors()).toHaveLength(2)
  })

  test('nor does a service that fails take the listener with it', async () => {
    rig.service.decide = () => {
      throw new Error('a bug')
    }
    expect((await get()).status).toBe(500)
    expect((await get('/boot.ipxe')).status).toBe(200)
    expect(rig.log.lines.map(({ level, message }) => [level, message])).toEqual([
      ['error', 'boot request failed'],
    ])
  })
})

test('every request is told with its route, method and status, once', async () => {
  await get('/boot.ipxe')
  await head('/ipxe')
  await get('/nothing')
  await get('/%2e%2e/x')
  await requestRaw(rig.port, '/ipxe', { method: 'POST' })
  await get(`/artifacts/${rig.image.kernel.sha256}/vmlinuz`)
  await get('/streams/fcos-stable.json')
  while (rig.requests.length < 7) await new Promise((resolve) => setImmediate(resolve))
  expect(rig.requests).toEqual([
    '/boot.ipxe GET 200',
    '/ipxe HEAD 200',
    '- GET 404',
    '- GET 400',
    '- POST 405',
    '/artifacts/:sha256/:name GET 200',
    '/streams/:document GET 200',
  ])
})
