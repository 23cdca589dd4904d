import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BootRig, startBootRig } from '../fakes/boot-rig.ts'
import { requestRaw } from '../fakes/raw-http.ts'

let rig: BootRig
beforeAll(async () => {
  rig = await startBootRig()
})
afterAll(() => rig.stop())

const get = (path: string, headers: readonly string[] = []) => requestRaw(rig.port, path, { headers })
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

describe('/streams/<stream>.json', () => {
  test('is stream metadata of what is current here, and every URL in it answers with that digest', async () => {
    const { status, headers, body } = await get('/streams/fcos-stable.json')
    expect([status, headers.get('Content-Type'), headers.get('Cache-Control')]).toEqual([
      200,
      'application/json',
      'no-cache',
    ])
    const document = JSON.parse(body.toString())
    expect(document).toMatchObject({
      stream: 'stable',
      metadata: { 'last-modified': '2026-11-02T08:00:00Z' },
    })
    const { release, formats } = document.architectures.x86_64.artifacts.metal
    expect(release).toBe(rig.bootimage.release)
    expect(Object.keys(formats.pxe)).toEqual(['kernel', 'initramfs', 'rootfs'])
    for (const artifact of Object.values<{ location: string; sha256: string; signature?: string }>(
      formats.pxe,
    )) {
      const { origin, pathname } = new URL(artifact.location)
      expect(origin).toBe(`http://127.0.0.1:${rig.port}`)
      expect(sha256((await get(pathname)).body)).toBe(artifact.sha256)
    }
    expect(formats.pxe.kernel.signature).toBe(`${formats.pxe.kernel.location}.sig`)
    expect((await get(new URL(formats.pxe.kernel.signature).pathname)).status).toBe(200)
    expect(formats.pxe.initramfs.signature).toBeUndefined()
  })

  test('has a strong tag, so that a reader can ask whether it moved', async () => {
    const first = await get('/streams/fcos-stable.json')
    const tag = first.headers.get('ETag')
    expect(tag).toBe(`"${sha256(first.body)}"`)
    expect((await get('/streams/fcos-stable.json', [`If-None-Match: ${tag}`])).status).toBe(304)
    expect((await get('/streams/fcos-stable.json', ['If-None-Match: "other"'])).status).toBe(200)
    expect((await get('/streams/fcos-stable.json', ['If-Match: "other"'])).status).toBe(412)
  })

  test('503 with what is going on while the first set is fetched', async () => {
    const fetching = await get('/streams/fcos-testing.json')
    expect([fetching.status, fetching.headers.get('Retry-After'), fetching.body.toString()]).toEqual([
      503,
      '10',
      '45.1.2.3 of fcos-testing for x86_64 is downloading.\n',
    ])
    const unread = await get('/streams/fcos-next.json')
    expect([unread.status, unread.body.toString()]).toEqual([
      503,
      'Stream fcos-next has no bootimage yet; its metadata is being read. Last error: UPSTREAM_UNREACHABLE, nothing answered.\n',
    ])
  })

  test('an unknown stream is 404 with those that there are', async () => {
    for (const path of ['/streams/none.json', '/streams/fcos-stable', '/streams/__proto__.json']) {
      const { status, body } = await get(path)
      expect([status, body.toString()]).toEqual([
        404,
        'No such stream here. There are: /streams/fcos-stable.json, /streams/fcos-testing.json, /streams/fcos-next.json.\n',
      ])
    }
  })
})

describe('the stable URL of the newest artifact', () => {
  const base = '/streams/fcos-stable/x86_64/metal/pxe'

  test('answers directly, and says which release and digest it is (field case 93)', async () => {
    const { kernel } = rig.image
    const { status, headers, body } = await get(`${base}/kernel`)
    expect([status, sha256(body)]).toEqual([200, kernel.sha256])
    expect(Object.fromEntries(headers)).toMatchObject({
      ETag: `"${kernel.sha256}"`,
      'Cache-Control': 'no-cache',
      'X-Pilotlight-Release': rig.bootimage.release,
      'X-Pilotlight-Sha256': kernel.sha256,
    })
    expect((await get(`${base}/kernel.sig`)).body.toString()).toBe('a detached signature')
  })

  test('takes ranges and other spellings of the architecture', async () => {
    const { status, body } = await get('/streams/fcos-stable/amd64/metal/pxe/rootfs', ['Range: bytes=0-9'])
    expect([status, body.length]).toEqual([206, 10])
  })

  test('404 lists what there is', async () => {
    const text = async (path: string) => {
      const { status, body } = await get(path)
      return `${status} ${body.toString().trim()}`
    }
    const { release } = rig.bootimage
    expect(await text(`${base}/disk`)).toBe(
      `404 ${release} of fcos-stable for x86_64 has: metal/pxe/kernel, metal/pxe/initramfs, metal/pxe/rootfs.`,
    )
    expect(await text('/streams/fcos-stable/aarch64/metal/pxe/kernel')).toBe(
      '404 Stream fcos-stable is kept for: x86_64.',
    )
    expect(await text('/streams/none/x86_64/metal/pxe/kernel')).toMatch(/^404 No such stream here/)
  })

  test('503 while the first set is fetched', async () => {
    const { status, headers } = await get('/streams/fcos-testing/x86_64/metal/pxe/kernel')
    expect([status, headers.get('Retry-After')]).toEqual([503, '10'])
  })

  test('G3 follows the switch: one tag before, another after, nothing in between', async () => {
    const before = await get(`${base}/kernel`)
    const file = await rig.addFile('newer-kernel', 'kernel', Buffer.from('a newer kernel'))
    const stream = rig.catalog.streams.get('fcos-stable')
    const arch = stream?.byArch.get('x86_64')
    if (stream === undefined || arch === undefined) throw new Error('unreachable: the rig has it')
    const image = { ...rig.image, kernel: file, bootimage: { ...rig.bootimage, release: '45.0.0.0' } }
    const byArch = new Map([['x86_64' as const, { ...arch, current: image }]])
    const kept = rig.catalog
    rig.catalog = { ...kept, streams: new Map([['fcos-stable', { ...stream, byArch }]]) }
    const after = await get(`${base}/kernel`)
    rig.catalog = kept
    expect([before.headers.get('X-Pilotlight-Release'), after.headers.get('X-Pilotlight-Release')]).toEqual([
      rig.bootimage.release,
      '45.0.0.0',
    ])
    expect(after.body.toString()).toBe('a newer kernel')
    expect(after.headers.get('ETag')).not.toBe(before.headers.get('ETag'))
  })
})
