import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { BootDecision } from '../../src/core/boot-decision.ts'
import { type BootId, parseBootId } from '../../src/core/boot-event.ts'
import { decideBoot } from '../../src/core/decide-boot.ts'
import { isServiceError, type ServiceError } from '../../src/core/errors.ts'
import type { Host } from '../../src/core/host.ts'
import { reason } from '../../src/core/reason.ts'
import { createRenderer } from '../../src/render/create-renderer.ts'
import { makeBootimage, someIdentity } from '../fakes/bootimages.ts'
import { makeCatalog } from '../fakes/catalogs.ts'
import { mac, makeClient, makeHost, makeInventory } from '../fakes/machines.ts'
import { baseUrl, bootId, context, rendererOver, templatesDirectory } from '../fakes/scripts.ts'
import { makeTemporaryDirectory } from '../fakes/temporary-directory.ts'

const catalog = makeCatalog({ current: makeBootimage() })
const directory = await makeTemporaryDirectory()
afterAll(() => directory.remove())

let adminDirectories = 0
function adminDirectory(files: Readonly<Record<string, string>>): string {
  adminDirectories += 1
  const path = join(directory.path, String(adminDirectories))
  mkdirSync(join(path, 'ipxe'), { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, 'ipxe', name), text)
  return path
}

function decide(host: Partial<Host> = {}): BootDecision {
  const inventory = makeInventory({ hosts: [makeHost({ stream: 'fcos-stable', mode: 'live', ...host })] })
  return decideBoot(makeClient(), { catalog, inventory, now: 0 })
}

function failureOf(run: () => unknown): ServiceError {
  try {
    run()
  } catch (error) {
    if (isServiceError(error)) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

const withTemplates = (files: Readonly<Record<string, string>>) =>
  rendererOver(catalog, { adminDirectory: adminDirectory(files) })

describe("an admin's template", () => {
  it('stands in place of the shipped one; what was decided is still told at the top (G10)', () => {
    const renderer = withTemplates({ 'local.liquid': '#!ipxe\necho {{ host }}: {{ reason }}\nexit 1\n' })
    expect(renderer.ipxe(decide({ mode: 'local' }), makeClient(), context)).toBe(
      '#!ipxe\n# Pilotlight: local\n# Host: n01, boot AAECAwQFBgcICQoLDA0ODw\n# Reason: boots from its own disk: mode local of host n01 (hosts.d/rack1.yaml:3)\n' +
        '# Reason: host n01 has MAC 52:54:00:ab:cd:ef\necho n01: boots from its own disk: mode local of host n01 (hosts.d/rack1.yaml:3)\nexit 1\n',
    )
  })

  it('can have parts of its own and replace shipped ones', () => {
    const renderer = withTemplates({
      'local.liquid': "#!ipxe\n{% render '_bye', who: host %}\n{% render '_leave', leave: leave %}",
      '_bye.liquid': 'echo bye {{ who }}\n',
      '_leave.liquid': 'exit 7\n',
    })
    const script = renderer.ipxe(decide({ mode: 'local' }), makeClient(), context)
    expect(script.split('\n').slice(-3)).toEqual(['echo bye n01', 'exit 7', ''])
  })

  it('saved by a Windows editor still makes a script (field case 115)', () => {
    const renderer = withTemplates({ 'local.liquid': '\uFEFF#!ipxe\r\nexit 1\r\n' })
    const script = renderer.ipxe(decide({ mode: 'local' }), makeClient(), context)
    expect(script).toMatch(/^#!ipxe\n/)
    expect(script).not.toContain('\r')
  })

  it('directory without iPXE templates changes nothing', () => {
    const empty = join(directory.path, 'empty')
    mkdirSync(empty, { recursive: true })
    const renderer = rendererOver(catalog, { adminDirectory: empty })
    expect(renderer.ipxeEntry({ baseUrl })).toBe(rendererOver(catalog).ipxeEntry({ baseUrl }))
  })
})

describe('a bad template is refused when it is loaded, with file and line', () => {
  it.each([
    [
      'a tag that is not closed',
      { 'hold.liquid': '#!ipxe\nimgfree\n{% if leave %}\nexit\n' },
      'hold.liquid:3:1: ',
    ],
    ['an unknown tag', { 'hold.liquid': '#!ipxe\n{% shell %}\n' }, 'hold.liquid:2:1: '],
    ['an unknown filter', { 'hold.liquid': '#!ipxe\n\necho {{ host | rot13 }}\n' }, 'hold.liquid:3:6: '],
    ['a misspelt variable', { 'hold.liquid': '#!ipxe\necho {{ hots }}\n' }, 'hold.liquid:2:9: '],
    [
      "another template's variable",
      { 'hold.liquid': '#!ipxe\necho {{ kernel_url }}\n' },
      'hold.liquid:2:9: ',
    ],
    [
      'a misspelt variable in a branch that is rarely taken',
      {
        'live.liquid': '#!ipxe\n{% if host == "one in a million" %}{{ hots }}{% endif %}\n',
      },
      'live.liquid:2:39: ',
    ],
    ['a misspelt variable in a part', { '_boot.liquid': 'kernel {{ kernel }}\n' }, '_boot.liquid:1:11: '],
    ['a part that is not there', { 'hold.liquid': "#!ipxe\n{% render '_gone' %}\n" }, 'hold.liquid:2:1: '],
    [
      'a file outside',
      { 'hold.liquid': "#!ipxe\n{% render '../../../../etc/passwd' %}\n" },
      'hold.liquid:2:1: ',
    ],
    ['an absolute file', { 'hold.liquid': "#!ipxe\n{% include '/etc/passwd' %}\n" }, 'hold.liquid:2:1: '],
    ['a first line that is no iPXE', { 'hold.liquid': '\n#!ipxe\nexit\n' }, 'hold.liquid:1:1: '],
    [
      'a first line that a dash joined to the next',
      { 'hold.liquid': '#!ipxe\n{%- if true %}exit{% endif %}\n' },
      'hold.liquid:1:1: ',
    ],
    [
      'a loop without end',
      { 'hold.liquid': '#!ipxe\n{% for i in (1..1000000000) %}x{% endfor %}\n' },
      'hold.liquid:2:1: ',
    ],
  ])('%s', (_name, files, place) => {
    const error = failureOf(() => withTemplates(files))
    expect(error.code).toBe('TEMPLATE_INVALID')
    expect(error.message).toContain(`/ipxe/${place}`)
  })

  it('a name that is no template is told with the names there are', () => {
    const error = failureOf(() => withTemplates({ 'lvie.liquid': '#!ipxe\n' }))
    expect(error).toMatchObject({ code: 'TEMPLATE_INVALID' })
    expect(error.message).toMatch(/lvie\.liquid.*live, install/)
  })

  it('one shipped template that is not there', () => {
    const files = { 'entry.liquid': '#!ipxe\n' }
    const options = { templatesDirectory: adminDirectory(files), catalog: { current: () => catalog } }
    expect(failureOf(() => createRenderer(options)).message).toContain('template live.liquid is missing')
  })

  it('shipped templates that are not there', () => {
    const options = {
      templatesDirectory: join(directory.path, 'nowhere'),
      catalog: { current: () => catalog },
    }
    expect(failureOf(() => createRenderer(options)).code).toBe('TEMPLATE_INVALID')
  })
})

describe('rendering', () => {
  const renderer = rendererOver(catalog)

  it.each([
    'http://192.0.2.10:8080',
    'http://192.0.2.10',
    'https://boot.example',
    'http://[2001:db8::10]:8080',
  ])('begins URLs with %s', (url) => {
    const script = renderer.ipxe(decide(), makeClient(), { ...context, baseUrl: url })
    expect(script).toContain(`\nkernel ${url}/artifacts/`)
  })

  it.each([
    'http://192.0.2.10/',
    'http://a b',
    'http://x/${y}',
    'ftp://x',
    '//x',
    'http://[::1',
    'http://x\n',
  ])('refuses to begin URLs with %j', (url) => {
    const error = failureOf(() => renderer.ipxe(decide(), makeClient(), { ...context, baseUrl: url }))
    expect(error.code).toBe('TEMPLATE_RENDER_FAILED')
    expect(failureOf(() => renderer.ipxeEntry({ baseUrl: url })).code).toBe('TEMPLATE_RENDER_FAILED')
  })

  it('refuses an argument that iPXE would cut, whoever let it through (field case 118)', () => {
    const decision = decide()
    if (decision.kind !== 'live') throw new Error('expected live')
    const parameters = { ...decision.parameters, kernelArguments: ['a', '||', 'b'] }
    const error = failureOf(() => renderer.ipxe({ ...decision, parameters }, makeClient(), context))
    expect(error).toMatchObject({
      code: 'KERNEL_ARGUMENT_INVALID',
      details: { argument: '||', dialect: 'ipxe' },
    })
  })

  it('writes no half script where a template fails for one machine alone', () => {
    const text = "#!ipxe\nimgfree\n{% if host == 'n01' %}{{ reasons[9].text }}{% endif %}\nexit 1\n"
    const own = withTemplates({ 'local.liquid': text })
    const error = failureOf(() => own.ipxe(decide({ mode: 'local' }), makeClient(), context))
    expect(error).toMatchObject({ code: 'TEMPLATE_RENDER_FAILED', details: { template: 'local' } })
    expect(own.ipxe(decide({ id: 'n02', mode: 'local' }), makeClient(), context)).toContain('exit 1')
  })

  it('refuses a legacy install without an image for the firmware instead of writing half a script', () => {
    const bootimage = makeBootimage({ kind: 'legacy-installer' })
    const decision = decide()
    if (decision.kind !== 'live') throw new Error('expected live')
    const install: BootDecision = {
      ...decision,
      kind: 'install',
      bootimage: { ...bootimage, disks: [] },
      device: '/dev/sda',
      generation: 1,
    }
    expect(failureOf(() => renderer.ipxe(install, makeClient(), context)).code).toBe('TEMPLATE_RENDER_FAILED')
  })

  it('spells hostile names of metadata harmlessly', () => {
    const bootimage = makeBootimage()
    const kernel = { ...bootimage.kernel, name: '../a b?x=${y}\n||#' }
    const decision = decide()
    if (decision.kind !== 'live') throw new Error('expected live')
    const hostile = { ...decision, bootimage: { ...bootimage, kernel } }
    const script = renderer.ipxe(hostile, makeClient(), context)
    expect(script).toContain(`/${kernel.sha256}/.._a_b_x_y_?boot=`)
  })
})

describe('scripts that are kept', () => {
  const otherBoot = parseBootId('ZZZZZZZZZZZZZZZZZZZZZZ') as BootId

  it('differ only in the boot id for the same decision', () => {
    const renderer = rendererOver(catalog)
    const first = renderer.ipxe(decide(), makeClient(), context)
    const second = renderer.ipxe(decide(), makeClient(), { ...context, bootId: otherBoot })
    expect(second).toBe(first.replaceAll(context.bootId, otherBoot))
    expect(second).not.toContain(context.bootId)
  })

  it('are shared by hosts, and still name each host and its reasons (G10)', () => {
    const renderer = rendererOver(catalog)
    const first = renderer.ipxe(decide(), makeClient(), context)
    const other = mac('52:54:00:00:00:02')
    const inventory = makeInventory({
      hosts: [makeHost({ id: 'n02', macs: [other], stream: 'fcos-stable', mode: 'live' })],
    })
    const client = makeClient({ macs: [other] })
    const second = renderer.ipxe(decideBoot(client, { catalog, inventory, now: 0 }), client, context)
    expect(second).toBe(first.replaceAll('n01', 'n02').replaceAll('52:54:00:ab:cd:ef', '52:54:00:00:00:02'))
  })

  it.each<[string, Partial<Host>]>([
    ['kernel arguments', { kernelArguments: ['quiet'] }],
    ['Ignition', { ignition: { url: 'http://192.0.2.20/a.ign' } }],
    ['platform', { ignition: { url: 'http://192.0.2.20/a.ign' }, platformId: 'qemu' }],
    ['rootfs', { rootfs: 'initrd' }],
    ['network', { kernelArguments: ['vlan=a:b'] }],
    ['mode', { mode: 'local' }],
    ['reason of a hold', { mode: 'hold', holdReason: 'a' }],
    ['reason of another hold', { mode: 'hold', holdReason: 'b' }],
  ])('are never taken for another when %s differs', (_name, host) => {
    const used = rendererOver(catalog)
    for (const sketch of [{}, { mode: 'hold', holdReason: 'c' } as const, { kernelArguments: ['x'] }]) {
      used.ipxe(decide(sketch), makeClient(), context)
    }
    const fresh = rendererOver(catalog)
    const client = makeClient()
    expect(used.ipxe(decide(host), client, context)).toBe(fresh.ipxe(decide(host), client, context))
  })

  it('follow the address, the firmware and the bootimage', () => {
    let snapshot = catalog
    const renderer = createRenderer({ templatesDirectory, catalog: { current: () => snapshot } })
    const script = (url: string) => renderer.ipxe(decide(), makeClient(), { ...context, baseUrl: url })
    expect(script('http://192.0.2.10')).not.toBe(script('http://192.0.2.11'))
    const local = decide({ mode: 'local', localBoot: 'http-404' })
    expect(renderer.ipxe(local, makeClient({ firmware: 'bios' }), context)).toContain('sanboot')
    expect(renderer.ipxe(local, makeClient({ firmware: 'uefi' }), context)).not.toContain('sanboot')
    const before = script(baseUrl)
    const current = makeBootimage({ release: '45.1' })
    snapshot = makeCatalog({ current })
    const inventory = makeInventory({ hosts: [makeHost({ stream: 'fcos-stable', mode: 'live' })] })
    const decision = decideBoot(makeClient(), { catalog: snapshot, inventory, now: 0 })
    const after = renderer.ipxe(decision, makeClient(), context)
    expect(after).toContain(current.kernel.sha256)
    expect(before).not.toContain(current.kernel.sha256)
  })

  it('follow all of that for one decision that is handed in again and again', () => {
    const current = makeBootimage({ arch: 'aarch64' })
    const plain = makeCatalog({ arch: 'aarch64', current })
    const { sha256, name } = makeBootimage({ release: 'unpacked' }).kernel
    const file = { sizeBytes: 1, modifiedAt: 0, path: '/x', identity: someIdentity }
    const kernel = { sha256, name, role: 'kernel', ...file } as const
    const uncompressed = new Map([[current.kernel.sha256, kernel]])
    const unpacked = makeCatalog({ arch: 'aarch64', current, uncompressed })
    let snapshot = plain
    const renderer = createRenderer({ templatesDirectory, catalog: { current: () => snapshot } })
    const client = makeClient({ arch: 'aarch64' })
    const inventory = makeInventory({ hosts: [makeHost({ stream: 'fcos-stable', mode: 'live' })] })
    const decision = decideBoot(client, { catalog: plain, inventory, now: 0 })
    const script = (url = baseUrl) => renderer.ipxe(decision, client, { ...context, baseUrl: url })
    expect(script()).toContain(`${baseUrl}/artifacts/`)
    expect(script('http://192.0.2.11')).not.toContain(baseUrl)
    expect(script()).not.toContain(sha256)
    snapshot = unpacked
    expect(script()).toContain(sha256)
    const other = parseBootId('BBECAwQFBgcICQoLDA0ODw') ?? bootId
    expect(renderer.ipxe(decision, client, { baseUrl, bootId: other })).toBe(
      script().replaceAll(bootId, other),
    )
  })

  it('stay few: a script that was dropped is rendered again, the same', () => {
    const renderer = rendererOver(catalog, { cachedScripts: 2 })
    const scripts = () =>
      ['a', 'b', 'c', 'd'].map((word) =>
        renderer.ipxe(decide({ kernelArguments: [word] }), makeClient(), context),
      )
    const first = scripts()
    const second = scripts()
    expect(second).toEqual(first)
    expect(new Set(first).size).toBe(4)
  })

  it('of a chainload names the loader', () => {
    const decision: BootDecision = {
      kind: 'chainload',
      loader: 'ipxe.efi',
      reasons: [reason('host-unknown')],
    }
    expect(rendererOver(catalog).ipxe(decision, makeClient(), context)).toContain(
      '/loaders/ipxe.efi || goto retry',
    )
  })
})
