import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BootClient } from '../../src/core/client.ts'
import { decideBoot } from '../../src/core/decide-boot.ts'
import type { Host } from '../../src/core/host.ts'
import { grubArgumentProblem, operatorArgumentProblem } from '../../src/core/kernel-argument-rules.ts'
import { grubWord } from '../../src/render/grub-word.ts'
import { makeBootimage } from '../fakes/bootimages.ts'
import { makeCatalog, status } from '../fakes/catalogs.ts'
import { type GrubWorld, grubWords, runGrub } from '../fakes/grub.ts'
import { makeClient, makeHost, makeInventory } from '../fakes/machines.ts'
import { bootId, context, rendererOver } from '../fakes/scripts.ts'

const baseUrl = 'http://192.0.2.10'
const service = '(http,192.0.2.10)'
const bootimage = makeBootimage()
const ready = makeCatalog({ current: bootimage })
const renderer = rendererOver(ready)

const onUefi = { net_default_mac: '52:54:00:ab:cd:ef', grub_cpu: 'x86_64', grub_platform: 'efi' }
const onArm = { ...onUefi, grub_cpu: 'arm64' }
const onBios = { ...onUefi, grub_cpu: 'i386', grub_platform: 'pc' }

function scriptFor(host: Partial<Host>, client: Partial<BootClient> = {}, catalog = ready): string {
  const machine = makeClient({ loader: 'grub', ...client })
  const inventory = makeInventory({ hosts: [makeHost({ stream: 'fcos-stable', mode: 'live', ...host })] })
  const decision = decideBoot(machine, { catalog, inventory, now: 0 })
  return rendererOver(catalog).grub(decision, machine, { ...context, baseUrl })
}

const entry = renderer.grubEntry({ baseUrl })
const waiting = scriptFor({}, {}, makeCatalog({ target: status(bootimage, 'downloading') }))
const isQuestion = (path: string) => path.includes('/grub/boot?')
const run = (script: string, world: GrubWorld = {}) => runGrub(script, { variables: onUefi, ...world })

describe("a word of GRUB's shell (field case 119)", () => {
  it.each([
    ['console=ttyS0,115200n8', 'console=ttyS0,115200n8'],
    ['ds=nocloud;s=http://x/', "'ds=nocloud;s=http://x/'"],
    ['a&b', "'a&b'"],
    ['a|b', "'a|b'"],
    ['a<b>c', "'a<b>c'"],
    ['$x', "'$x'"],
    ['"', `'"'`],
    ['{a}', "'{a}'"],
    ['#x', "'#x'"],
    [String.raw`a\b`, String.raw`'a\b'`],
    ['a b', "'a b'"],
    ["it's", String.raw`'it'\''s'`],
    ['kernel?boot=x', "'kernel?boot=x'"],
    ['*', "'*'"],
  ])('%j is written as %j', (text, written) => {
    expect(grubWord(text)).toBe(written)
  })

  it('is read back as what it was, alone and among others', () => {
    const word = fc
      .string({ minLength: 1, maxLength: 40 })
      .filter((text) => grubArgumentProblem(text) === undefined)
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 6 }), (words) => {
        expect(grubWords(words.map(grubWord).join(' '))).toEqual(words)
      }),
      { numRuns: 3000 },
    )
  })
})

describe('the first configuration', () => {
  it('asks as the machine that it is, by the NIC that boots', () => {
    const { paths, end } = run(entry, { fetch: () => 'exit\n' })
    expect(paths).toEqual([
      `${service}/grub/boot?mac=52:54:00:ab:cd:ef&uuid=00112233-4455-6677-8899-aabbccddeeff&arch=x86_64&platform=efi`,
    ])
    expect(end).toEqual({ kind: 'left', status: 0 })
  })

  it('gets an address first where firmware left none', () => {
    const { commands, paths } = run(entry, {
      variables: { ...onUefi, net_default_mac: '' },
      fetch: () => 'exit\n',
    })
    expect(commands.has('net_bootp')).toBe(true)
    expect(paths[0]).toContain('mac=52:54:00:ab:cd:ef&')
  })

  it('works on a build without smbios, which only leaves the UUID open', () => {
    const { paths } = run(entry, { lacks: ['smbios'], fetch: () => 'exit\n' })
    expect(paths[0]).toContain('&uuid=&arch=x86_64')
  })

  it('never gives up when nothing answers, and says what it tries (field case 128)', () => {
    const { end, sleeps, console } = run(entry, { fetch: () => false, sleepsAtMost: 100 })
    expect(end).toEqual({ kind: 'still-running' })
    expect(sleeps.slice(0, 7)).toEqual([5, 10, 20, 40, 60, 60, 60])
    expect(console).toContain('No answer from http://192.0.2.10/grub/boot')
    expect(console).toContain('Trying again in 60 seconds')
  })

  it('is quick again after an answer', () => {
    const fetch = (_path: string, count: number) => (count === 4 ? waiting : false)
    expect(run(entry, { fetch, sleepsAtMost: 6 }).sleeps).toEqual([5, 10, 20, 15, 5, 10])
  })

  it('renews its address every twentieth time', () => {
    let renewals = 0
    const fetch = () => {
      renewals += 1
      return waiting
    }
    const { commands } = run(entry, { fetch, sleepsAtMost: 19 })
    expect([renewals, commands.has('net_bootp')]).toEqual([19, false])
    expect(run(entry, { fetch, sleepsAtMost: 21 }).commands.has('net_bootp')).toBe(true)
  })
})

describe('the live script', () => {
  const script = scriptFor({ kernelArguments: ['console=tty0', 'console=ttyS0,115200n8'] })

  it('boots kernel and initramfs of one bootimage, tied to its boot (G2)', () => {
    const { end, kernel, initrds } = run(script)
    const path = ({ sha256, name }: { sha256: string; name: string }) =>
      `/artifacts/${sha256}/${name}?boot=${bootId}`
    expect(end).toEqual({ kind: 'booted' })
    expect(kernel?.path).toBe(`${service}${path(bootimage.kernel)}`)
    expect(initrds).toEqual([`${service}${path(bootimage.initramfs)}`])
    expect(kernel?.words).toEqual([
      `coreos.live.rootfs_url=${baseUrl}${bootimage.rootfs && path(bootimage.rootfs)}`,
      'rd.neednet=1',
      'BOOTIF=01-52-54-00-ab-cd-ef',
      'console=tty0',
      'console=ttyS0,115200n8',
    ])
  })

  it('has no BOOTIF where the MAC of the booting NIC is not known', () => {
    const uuid = '00112233-4455-6677-8899-aabbccddeeff' as BootClient['uuid']
    const ofUuid = scriptFor({ macs: [], uuid }, { macs: [], uuid })
    expect(run(ofUuid).kernel?.words.join(' ')).not.toContain('BOOTIF')
  })

  it.each([
    ['the kernel does not arrive', (path: string) => !path.includes('kernel')],
    ['the initramfs does not arrive', (path: string) => !path.includes('initramfs')],
  ])('asks again, for a new answer, when %s', (_name, arrives) => {
    const booting = scriptFor({})
    let asked = 0
    const fetch = (path: string) => {
      if (!isQuestion(path)) return asked > 2 || arrives(path)
      asked += 1
      return booting
    }
    const { end, sleeps, console } = run(script, { fetch })
    expect([end.kind, asked]).toEqual(['booted', 3])
    expect(sleeps).toEqual([10, 10, 10])
    expect(console.join('\n')).toContain('did not arrive or did not start')
  })

  it('asks again when the kernel cannot be started', () => {
    const { end, sleeps } = run(script, {
      boot: (count) => count > 2,
      fetch: (path) => !isQuestion(path) || script,
    })
    expect([end.kind, sleeps]).toEqual(['booted', [10, 10]])
  })

  it("hands over any operator's arguments unchanged, in their order", () => {
    const argument = fc
      .string({ minLength: 1, maxLength: 30 })
      .filter((text) => operatorArgumentProblem(text) === undefined)
    fc.assert(
      fc.property(fc.uniqueArray(argument, { maxLength: 8 }), (kernelArguments) => {
        const { end, kernel } = run(scriptFor({ kernelArguments }))
        expect(end.kind).toBe('booted')
        const words = kernel?.words ?? []
        expect(words.slice(words.length - kernelArguments.length)).toEqual(kernelArguments)
      }),
      { numRuns: 100 },
    )
  })
})

describe('the waiting script', () => {
  it('says what it waits for and asks again, without end (G11)', () => {
    const { end, sleeps, console } = run(waiting, { fetch: () => waiting, sleepsAtMost: 200 })
    expect(end).toEqual({ kind: 'still-running' })
    expect(new Set(sleeps)).toEqual(new Set([15]))
    expect(console).toContain(
      `Pilotlight: this machine waits for fcos-stable ${bootimage.release} for x86_64`,
    )
    expect(console).toContain(`Reason: bootimage ${bootimage.release} of fcos-stable is being fetched`)
  })

  it('boots as soon as the answer is another one', () => {
    const booting = scriptFor({})
    let asked = 0
    const fetch = (path: string) => {
      if (!isQuestion(path)) return true
      asked += 1
      return asked < 3 ? waiting : booting
    }
    const { end, sleeps } = run(entry, { fetch })
    expect([end.kind, sleeps]).toEqual(['booted', [15, 15]])
  })

  it('outlasts a service that restarts', () => {
    const fetch = (_path: string, count: number) => (count < 4 ? false : 'set answered=yes\nexit\n')
    expect(run(waiting, { fetch }).sleeps).toEqual([15, 5, 10, 20])
  })
})

describe('leaving network boot (field case 122)', () => {
  const disks = { '/EFI/fedora/shimx64.efi': 'hd0,gpt2', '/EFI/BOOT/BOOTX64.EFI': 'hd0,gpt2' }
  const armDisks = { '/EFI/BOOT/BOOTAA64.EFI': 'hd1,gpt1' }

  // The loader of a disk is told that it came from there: a shim that thinks it came from the network would look for
  // its second stage on the network, and GRUB itself fails where it has no route.
  it.each([
    [
      'UEFI starts what the distribution put on the disk',
      undefined,
      onUefi,
      disks,
      'hd0,gpt2',
      '/EFI/fedora/shimx64.efi',
    ],
    [
      'arm64 starts the removable loader of its disk',
      undefined,
      onArm,
      armDisks,
      'hd1,gpt1',
      '/EFI/BOOT/BOOTAA64.EFI',
    ],
    ['sanboot is the same', 'sanboot', onUefi, disks, 'hd0,gpt2', '/EFI/fedora/shimx64.efi'],
    ['BIOS starts the first disk', undefined, onBios, { '+1': 'hd0' }, 'hd0', '+1'],
  ] as const)('%s', (_name, localBoot, variables, found, disk, file) => {
    const script = scriptFor({ mode: 'local', localBoot })
    const { end } = run(script, { variables, disks: found })
    expect(end).toEqual({ kind: 'chainloaded', path: `(${disk})${file}`, cameFrom: disk })
  })

  it.each([onUefi, onArm, onBios, { ...onUefi, grub_platform: 'ieee1275' }])(
    'without a disk it goes back to firmware: %j',
    (variables) => {
      expect(run(scriptFor({ mode: 'local' }), { variables }).end).toEqual({ kind: 'left', status: 0 })
    },
  )

  it('exit looks for no disk', () => {
    const { end, commands } = run(scriptFor({ mode: 'local', localBoot: 'exit' }), { disks })
    expect([end.kind, commands.has('search')]).toEqual(['left', false])
  })

  it('a disk that does not start gives the next one a chance', () => {
    const { end } = run(scriptFor({ mode: 'local' }), { disks, boot: (count) => count > 1 })
    expect(end).toMatchObject({ kind: 'chainloaded', path: '(hd0,gpt2)/EFI/BOOT/BOOTX64.EFI' })
  })

  it('a held machine shows why for ten minutes first (G11)', () => {
    const { sleeps, console, end } = run(scriptFor({ mode: 'hold', holdReason: 'disk is being replaced' }))
    expect([sleeps, end.kind]).toEqual([[600], 'left'])
    expect(console.join('\n')).toContain('disk is being replaced')
  })

  it('an ignored machine is told so and leaves at once', () => {
    const machine = makeClient({ macs: [], loader: 'grub' })
    const decision = decideBoot(machine, { catalog: ready, inventory: makeInventory(), now: 0 })
    const { sleeps, console, end } = run(renderer.grub(decision, machine, { ...context, baseUrl }))
    expect([sleeps, end.kind]).toEqual([[5], 'left'])
    expect(console.join('\n')).toContain('unknown machines are ignored')
  })
})

describe("an admin's own words in a script", () => {
  it.each(["'; reboot; '", '$(x)', '${x}', 'line\nreboot', 'end\\', '# x', 'ü', '-n', '`x`', '"x'])(
    'hold reason %j is shown, never run (field case 117)',
    (holdReason) => {
      const script = scriptFor({ mode: 'hold', holdReason })
      const plain = scriptFor({ mode: 'hold', holdReason: 'plain' })
      expect(run(script).commands).toEqual(run(plain).commands)
      expect(script.split('\n')).toHaveLength(plain.split('\n').length)
    },
  )
})
