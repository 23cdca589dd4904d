import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { BootDecision } from '../../src/core/boot-decision.ts'
import { ServiceError } from '../../src/core/errors.ts'
import { parseMac } from '../../src/core/mac.ts'
import { probeTrace } from '../../src/core/probe-mark.ts'
import { reason } from '../../src/core/reason.ts'
import { formatTraceparent } from '../../src/core/trace-context.ts'
import { readLoaderCatalogue } from '../../src/loaders/loader-catalogue.ts'
import { type BootRig, plainRenderer, startBootRig } from '../fakes/boot-rig.ts'
import { makeGrub, makeIpxe, makeShim } from '../fakes/loader-images.ts'
import { openRaw, requestRaw } from '../fakes/raw-http.ts'

let rig: BootRig
const ipxe = makeIpxe()
const shim = makeShim()
const grub = makeGrub()
const because = [reason('host-unknown')] as const
const live = { kind: 'hold', method: 'exit 1', reasons: because, arch: 'x86_64' } satisfies BootDecision

async function put(name: string, bytes: Buffer): Promise<void> {
  const path = join(rig.directory.path, 'loaders', name)
  await mkdir(join(path, '..'), { recursive: true })
  await writeFile(path, bytes)
}

function readAgain(): void {
  const directory = join(rig.directory.path, 'loaders')
  rig.loaders = readLoaderCatalogue({
    directories: [directory],
    defaults: [],
    sets: new Map([['fedora', join(directory, 'fedora')]]),
  })
}

beforeEach(async () => {
  rig = await startBootRig()
  rig.service.decide = () => live
  await put('ipxe.efi', ipxe)
  await put('undionly.kpxe', Buffer.from('ea0500c007', 'hex'))
  await put('fedora/shimx64.efi', shim)
  await put('fedora/grubx64.efi', grub)
  await put('snponly-arm64.efi', ipxe)
  readAgain()
})
afterEach(() => rig.stop())

const get = (target: string, headers: readonly string[] = []) => requestRaw(rig.port, target, { headers })
const head = (target: string) => requestRaw(rig.port, target, { method: 'HEAD' })
const levels = () => rig.log.lines.map(({ level }) => level)

describe('/loaders/<file>', () => {
  test('what pilotlight doctor fetches is answered like everything else, and is no step of a boot', async () => {
    const traceparent = formatTraceparent({
      traceId: probeTrace('0123456789ab'),
      parentId: '00f067aa0ba902b7',
      isSampled: false,
    })
    const asked = [`traceparent: ${traceparent}`]
    expect((await get('/loaders/ipxe.efi', asked)).body.equals(ipxe)).toBe(true)
    expect((await get('/boot.ipxe', asked)).status).toBe(200)
    await get('/loaders/ipxe.efi')
    while (!rig.events.some(({ type }) => type === 'artifact-sent')) await new Promise(setImmediate)
    expect(rig.events.map(({ type }) => type)).toEqual(['artifact-progress', 'artifact-sent'])
  })

  test('is the file, in the header lines that firmware reads (field cases 88, 89, 91, 97)', async () => {
    const { status, head: lines, headers, body } = await get('/loaders/ipxe.efi')
    expect([status, body.equals(ipxe)]).toEqual([200, true])
    expect(lines).toContain(`\r\nContent-Type: application/efi\r\nContent-Length: ${ipxe.length}\r\n`)
    expect(headers.get('ETag')).toBe(`"${rig.loaders.loaders.get('ipxe.efi')?.sha256}"`)
    expect(headers.get('Cache-Control')).toBe('no-cache')
    expect(headers.has('Transfer-Encoding') || headers.has('Content-Encoding')).toBe(false)
  })

  test('HEAD and GET on one connection, as UEFI HTTP Boot asks (field case 87)', async () => {
    const connection = await openRaw(rig.port)
    const ask = (method: string) => connection.send(`${method} /loaders/ipxe.efi HTTP/1.1\r\nHost: x\r\n\r\n`)
    ask('HEAD')
    const empty = await connection.next('HEAD')
    ask('GET')
    const full = await connection.next('GET')
    connection.destroy()
    expect(empty.headers.get('Content-Length')).toBe(String(ipxe.length))
    expect([empty.body.length, full.body.equals(ipxe)]).toEqual([0, true])
    expect(full.headers.get('Connection') ?? 'keep-alive').toBe('keep-alive')
  })

  test('can be resumed, and only where it is still the same file (field cases 95, 97)', async () => {
    const etag = (await head('/loaders/ipxe.efi')).headers.get('ETag')
    const part = await get('/loaders/ipxe.efi', ['Range: bytes=100-199', `If-Match: ${etag}`])
    expect([part.status, part.headers.get('Content-Range')]).toEqual([206, `bytes 100-199/${ipxe.length}`])
    expect(part.body.equals(ipxe.subarray(100, 200))).toBe(true)
    expect((await get('/loaders/ipxe.efi', ['Range: bytes=u-u'])).status).toBe(200)
    expect((await get('/loaders/ipxe.efi', ['Range: bytes=0-9', 'If-Match: "other"'])).status).toBe(412)
    expect((await get('/loaders/ipxe.efi', [`If-None-Match: ${etag}`])).status).toBe(304)
  })

  test('a BIOS loader is an octet stream', async () => {
    expect((await head('/loaders/undionly.kpxe')).headers.get('Content-Type')).toBe(
      'application/octet-stream',
    )
  })

  test('that is missing says what supplies it, and that is worth a line', async () => {
    const { status, body } = await get('/loaders/snponly-riscv64.efi')
    expect([status, body.toString()]).toEqual([
      404,
      'There is no snponly-riscv64.efi here. To have it: build it: make bin-riscv64-efi/snponly.efi in ipxe/src.\n',
    ])
    expect(levels()).toEqual(['info'])
  })

  test('that is refused says why (field case 14)', async () => {
    const { status, body } = await get('/loaders/snponly-arm64.efi')
    expect([status, body.toString()]).toEqual([
      404,
      'snponly-arm64.efi is not served: its PE machine is 8664 (efi-x64), efi-arm64 needs AA64. See `pilotlight loaders`.\n',
    ])
  })

  test.each(['../kernel.sig', '%2e%2e/kernel.sig', '..%2fkernel.sig', 'fedora/../../kernel.sig', '.hidden'])(
    'nothing beside the loaders is reached by %s (field case 75)',
    async (name) => {
      await put('.hidden', ipxe)
      expect([400, 404]).toContain((await get(`/loaders/${name}`)).status)
    },
  )

  test('that changed on disk is not sent under the tag of the old one; the catalogue is read again', async () => {
    await put('ipxe.efi', makeIpxe({ words: ['http', 'https'] }))
    const { status, headers, body } = await get('/loaders/ipxe.efi')
    expect([status, headers.get('Retry-After')]).toEqual([503, '2'])
    expect(body.toString()).toContain('ipxe.efi is ')
    expect(rig.problems).toEqual([expect.stringMatching(/^ipxe\.efi (?:wrong-size|changed-since-verified)$/)])
    readAgain()
    expect((await get('/loaders/ipxe.efi')).status).toBe(200)
    await rm(join(rig.directory.path, 'loaders/ipxe.efi'))
    expect((await get('/loaders/ipxe.efi')).status).toBe(503)
    expect(rig.problems[1]).toBe('ipxe.efi absent')
  })

  test('is told as an event, like any file', async () => {
    await get('/loaders/ipxe.efi')
    while (rig.events.length < 2) await new Promise((resolve) => setImmediate(resolve))
    expect(rig.events).toMatchObject([
      { type: 'artifact-progress', role: 'loader', name: 'ipxe.efi', loaderArch: 'x86_64', reachedBytes: 0 },
      { type: 'artifact-sent', role: 'loader', status: 200, sentBytes: ipxe.length, completed: true },
    ])
  })
})

describe('/loaders/<set>/<file>', () => {
  test('shim finds its second stage beside itself, however it joins the names', async () => {
    expect((await get('/loaders/fedora/shimx64.efi')).body.equals(shim)).toBe(true)
    for (const path of [
      '/loaders/fedora/grubx64.efi',
      '/loaders/fedora//grubx64.efi',
      '//loaders/fedora/./grubx64.efi',
    ]) {
      const { status, headers, body } = await get(path)
      expect([status, headers.get('Content-Type'), body.equals(grub)]).toEqual([200, 'application/efi', true])
    }
  })

  test('and at the root, where it lost its folder (field case 26)', async () => {
    for (const path of ['/grubx64.efi', '//grubx64.efi'])
      expect((await get(path)).body.equals(grub)).toBe(true)
    expect((await get('/grubaa64.efi')).status).toBe(404)
  })

  test('what it only looks for is 404 at once, and no line in the log (field case 84)', async () => {
    for (const name of ['revocations_sku.efi', 'revocations_sbat.efi', 'shim_certificate_0.efi']) {
      const { status, headers } = await get(`/loaders/fedora/${name}`)
      expect([status, headers.get('Content-Length') !== undefined]).toEqual([404, true])
    }
    expect(new Set(levels())).toEqual(new Set(['debug']))
  })
})

const asGrub = 'mac=52:54:00:ab:cd:ef&uuid=85cd0947-0000-4000-8000-000000000001&arch=x86_64&platform=efi'

describe('/grub/boot', () => {
  test('asks for the machine that speaks, mints a boot id, is never kept', async () => {
    const { status, headers, body } = await get(`/grub/boot?${asGrub}`)
    expect([status, headers.get('Content-Type'), headers.get('Cache-Control')]).toEqual([
      200,
      'text/plain; charset=utf-8',
      'no-store',
    ])
    expect(body.toString()).toBe(`# hold boot000000000000000001 http://127.0.0.1:${rig.port}\n`)
    expect(rig.service.answered).toEqual([
      {
        macs: ['52:54:00:ab:cd:ef'],
        uuid: '85cd0947-0000-4000-8000-000000000001',
        arch: 'x86_64',
        firmware: 'uefi',
        loader: 'grub',
        address: '127.0.0.1',
      },
    ])
  })

  test('HEAD mints nothing and tells the length that GET will have (field cases 88, 161)', async () => {
    const empty = await head(`/grub/boot?${asGrub}`)
    expect(rig.service.answered).toEqual([])
    expect(empty.headers.get('Content-Length')).toBe(String((await get(`/grub/boot?${asGrub}`)).body.length))
  })

  test.each([
    ['arch=i386&platform=pc', 'x86_64', 'bios'],
    ['arch=x86_64&platform=efi', 'x86_64', 'uefi'],
    ['arch=arm64&platform=efi', 'aarch64', 'uefi'],
    ['arch=powerpc&platform=ieee1275', 'ppc64le', 'open-firmware'],
    ['arch=i386&platform=efi', undefined, 'uefi'],
    ['arch=sparc64&platform=ieee1275', undefined, 'open-firmware'],
  ])('%s is %s with %s firmware', async (said, arch, firmware) => {
    await get(`/grub/boot?mac=52:54:00:ab:cd:ef&uuid=&${said}`)
    expect(rig.service.answered[0]).toMatchObject({ firmware })
    expect(rig.service.answered[0]?.arch).toBe(arch)
  })

  test('without a word it is a machine that nobody knows', async () => {
    expect((await get('/grub/boot')).status).toBe(200)
    expect(rig.service.answered[0]).toMatchObject({ macs: [], firmware: 'unknown' })
  })

  test('a script that cannot be made is a 500 with one that says so', async () => {
    rig.renderer = {
      ...plainRenderer,
      grub() {
        throw new ServiceError('TEMPLATE_RENDER_FAILED')
      },
    }
    const { status, body } = await get(`/grub/boot?${asGrub}`)
    expect(status).toBe(500)
    expect(body.toString()).toContain(`configfile (http,127.0.0.1:${rig.port})/grub/grub.cfg\n`)
  })
})

describe('the names that GRUB walks through', () => {
  test.each(['/grub/grub.cfg', '/grub.cfg', '//grub.cfg', '/loaders/grub.cfg', '/loaders/fedora/grub.cfg'])(
    '%s is the first configuration',
    async (path) => {
      expect((await get(path)).body.toString()).toBe(`source http://127.0.0.1:${rig.port}/grub/boot\n`)
      expect(rig.service.answered).toEqual([])
    },
  )

  test.each([
    '/grub/grub.cfg-01-52-54-00-ab-cd-ef',
    '/grub.cfg-01-52-54-00-ab-cd-ef',
    '/loaders/fedora/grub.cfg-01-52-54-00-ab-cd-ef',
  ])('%s is decided for that machine, where its architecture is known', async (path) => {
    rig.seen = {
      macOf: () => undefined,
      addressOf: () => undefined,
      machineOf: () => ({ arch: 'x86_64', firmware: 'uefi' }),
    }
    expect((await get(path)).body.toString()).toMatch(/^# hold boot/)
    expect(rig.service.answered[0]?.macs).toEqual(['52:54:00:ab:cd:ef'])
  })

  test('a name with what GRUB knows of itself needs nobody to have seen it', async () => {
    const path = '/grub/grub.cfg-01-52-54-00-ab-cd-ef?arch=arm64&platform=efi'
    expect((await get(path)).body.toString()).toMatch(/^# hold boot/)
    expect(rig.service.answered[0]).toMatchObject({ macs: ['52:54:00:ab:cd:ef'], arch: 'aarch64' })
  })

  test('an address is a machine that DHCP saw (field case 80)', async () => {
    rig.seen = {
      macOf: (address) => (address === '192.0.2.55' ? parseMac('52:54:00:ab:cd:ef') : undefined),
      addressOf: () => undefined,
      machineOf: () => ({ arch: 'x86_64', firmware: 'uefi' }),
    }
    expect((await get('/grub/grub.cfg-C0000237')).status).toBe(200)
    expect((await get('/grub/grub.cfg-C0000238')).status).toBe(404)
  })

  test.each(['/grub/x86_64-efi/command.lst', '/grub/grubenv', '/grub/grub.cfg-C00002', '/grub/grub.cfg-x'])(
    '%s is 404 at once, and no line in the log (field case 84)',
    async (path) => {
      expect((await get(path)).status).toBe(404)
      expect(levels()).toEqual(['debug'])
    },
  )
})

describe('/pxelinux.cfg/<name>', () => {
  test('is decided for the machine of that name, for one that fetches by HTTP', async () => {
    const { status, headers, body } = await get('/pxelinux.cfg/01-52-54-00-ab-cd-ef')
    expect([status, headers.get('Content-Type'), headers.get('Cache-Control')]).toEqual([
      200,
      'text/plain; charset=utf-8',
      'no-store',
    ])
    expect(body.toString()).toBe(`# hold boot000000000000000001 http://127.0.0.1:${rig.port} http\n`)
    expect(rig.service.answered).toMatchObject([
      {
        macs: ['52:54:00:ab:cd:ef'],
        arch: 'x86_64',
        firmware: 'bios',
        loader: 'pxelinux',
        address: '127.0.0.1',
      },
    ])
  })

  test('beside the loader as well, and by the last name of the list', async () => {
    expect((await get('/loaders/pxelinux.cfg/default')).status).toBe(200)
    expect(rig.service.answered[0]).toMatchObject({ macs: [] })
  })

  test('what loaders only look for is 404 at once, and no line in the log (field case 84)', async () => {
    const names = ['85cd0947-0000-4000-8000-000000000001', 'C0000237', 'C000023', 'C', 'linux.cfg']
    for (const name of names) expect((await get(`/pxelinux.cfg/${name}`)).status).toBe(404)
    expect(new Set(levels())).toEqual(new Set(['debug']))
    expect(rig.service.answered).toEqual([])
  })
})
