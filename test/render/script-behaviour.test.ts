import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Catalog } from '../../src/core/catalog.ts'
import type { BootClient } from '../../src/core/client.ts'
import { decideBoot } from '../../src/core/decide-boot.ts'
import type { Host } from '../../src/core/host.ts'
import { operatorArgumentProblem } from '../../src/core/kernel-argument-rules.ts'
import { makeBootimage } from '../fakes/bootimages.ts'
import { makeCatalog, status } from '../fakes/catalogs.ts'
import { type IpxeWorld, runIpxe } from '../fakes/ipxe.ts'
import { makeClient, makeHost, makeInventory } from '../fakes/machines.ts'
import { baseUrl, bootId, context, rendererOver } from '../fakes/scripts.ts'

const bootimage = makeBootimage()
const ready = makeCatalog({ current: bootimage })
const renderer = rendererOver(ready)

const nic = { 'netX/mac': '52:54:00:ab:cd:ef' }
const onBios: IpxeWorld['settings'] = {
  ...nic,
  'netX/ip': '192.0.2.55',
  buildarch: 'i386',
  platform: 'pcbios',
  uuid: '00112233-4455-6677-8899-aabbccddeeff',
  serial: 'VMware-42 1c/7',
}
const onUefi: IpxeWorld['settings'] = { ...onBios, buildarch: 'x86_64', platform: 'efi' }
const onArm: IpxeWorld['settings'] = { ...onBios, buildarch: 'arm64', platform: 'efi' }

function scriptFor(host: Partial<Host>, client: Partial<BootClient> = {}, catalog: Catalog = ready): string {
  const machine = makeClient(client)
  const inventory = makeInventory({ hosts: [makeHost({ stream: 'fcos-stable', mode: 'live', ...host })] })
  const decision = decideBoot(machine, { catalog, inventory, now: 0 })
  return rendererOver(catalog).ipxe(decision, machine, context)
}

const entry = renderer.ipxeEntry({ baseUrl })
const leave = '#!ipxe\nexit 1\n'

describe('the entry script', () => {
  it.each([
    ['BIOS', onBios, '&lm=1'],
    ['UEFI', onUefi, ''],
    ['arm64', onArm, ''],
  ])('on %s asks with what the machine knows of itself', (_name, settings, longMode) => {
    const { urls, end } = runIpxe(entry, { settings, fetch: () => leave })
    expect(urls).toEqual([
      `${baseUrl}/ipxe?mac=52-54-00-ab-cd-ef&uuid=00112233-4455-6677-8899-aabbccddeeff&arch=${settings.buildarch}&platform=${settings.platform}&serial=VMware-42%201c%2F7&asset=${longMode}`,
    ])
    expect(end).toEqual({ kind: 'left', status: 1 })
  })

  it('tells a 32-bit CPU from an iPXE without cpuid', () => {
    const asked = (world: IpxeWorld) =>
      runIpxe(entry, { settings: onBios, fetch: () => leave, ...world }).urls[0]?.split('&asset=')[1]
    expect(asked({ cpuid: () => true })).toBe('&lm=1')
    expect(asked({ cpuid: (words) => words[0] !== '--ext' })).toBe('&lm=0')
    expect(asked({ lacks: ['cpuid'] })).toBe('')
  })

  it('asks at once when the NIC has an address already', () => {
    expect(runIpxe(entry, { settings: onUefi, fetch: () => leave }).commands.has('dhcp')).toBe(false)
  })

  it('configures the booting NIC and no other (field case 113)', () => {
    const names: (string | undefined)[] = []
    const dhcp = (name: string | undefined) => names.push(name) > 0
    runIpxe(entry, { settings: nic, dhcp, fetch: () => leave })
    expect(names).toEqual(['netX'])
  })

  it('configures any NIC when none was opened yet', () => {
    const names: (string | undefined)[] = []
    const dhcp = (name: string | undefined) => names.push(name) > 0
    runIpxe(entry, { dhcp, fetch: () => leave })
    expect(names).toEqual([undefined])
  })

  it('outlasts a port that blocks for two minutes after the driver restarts (field case 58)', () => {
    const { end, sleeps, console } = runIpxe(entry, {
      settings: nic,
      dhcp: (_name, count) => count > 5,
      fetch: () => leave,
    })
    expect(sleeps).toEqual([5, 10, 20, 40, 60])
    expect(console).toContain('Attempt 5 failed: DHCP')
    expect(end).toEqual({ kind: 'left', status: 1 })
  })

  it('never gives up when nothing answers, and says what it tries (field case 128)', () => {
    const run = runIpxe(entry, { settings: onUefi, fetch: () => false, sleepsAtMost: 200 })
    expect(run.end).toEqual({ kind: 'still-running' })
    expect(run.sleeps.slice(0, 7)).toEqual([5, 10, 20, 40, 60, 60, 60])
    expect(run.console).toContain(`Attempt 1 failed: ${baseUrl}/ipxe`)
    expect(run.console).toContain('Trying again in 60 seconds')
  })

  it('keeps asking with its address when a second DHCP run fails', () => {
    const run = runIpxe(entry, {
      settings: onUefi,
      dhcp: () => false,
      fetch: (_url, count) => (count < 3 ? false : leave),
    })
    expect(run.sleeps).toEqual([5, 10])
    expect(run.end.kind).toBe('left')
  })

  it('works on a build without inc, which only counts its attempts', () => {
    const run = runIpxe(entry, { settings: onUefi, lacks: ['inc'], fetch: () => false, sleepsAtMost: 6 })
    expect(run.sleeps).toEqual([5, 10, 20, 40, 60, 60])
  })

  it('does not end on what is no script', () => {
    const page = '<html>login</html>'
    expect(runIpxe(entry, { settings: onUefi, fetch: () => page, sleepsAtMost: 9 }).end.kind).toBe(
      'still-running',
    )
  })
})

describe('the live script', () => {
  const script = scriptFor({ kernelArguments: ['console=tty0', 'console=ttyS0,115200n8'] })

  it('boots kernel and initramfs of one bootimage, tied to its boot (G2)', () => {
    const run = runIpxe(script, { settings: onUefi })
    expect(run.end).toEqual({ kind: 'booted' })
    const url = ({ sha256, name }: { sha256: string; name: string }) =>
      `${baseUrl}/artifacts/${sha256}/${name}?boot=${bootId}`
    expect(run.kernel?.url).toBe(url(bootimage.kernel))
    expect(run.initrds).toEqual([{ name: 'main', url: url(bootimage.initramfs) }])
    expect(run.kernel?.words).toEqual([
      'initrd=main',
      `coreos.live.rootfs_url=${bootimage.rootfs && url(bootimage.rootfs)}`,
      'rd.neednet=1',
      'BOOTIF=01-52-54-00-ab-cd-ef',
      'console=tty0',
      'console=ttyS0,115200n8',
    ])
  })

  it('begins again after a failed fetch, from a clean slate', () => {
    const run = runIpxe(script, {
      settings: onUefi,
      fetch: (url, count) => !(url.includes('initramfs') && count < 4),
    })
    expect(run.sleeps).toEqual([5, 10, 20])
    expect(run.initrds).toHaveLength(1)
    expect(run.console).toContain(`Attempt 1 failed: ${run.initrds[0]?.url}`)
    expect(run.end.kind).toBe('booted')
  })

  it('G2 asks anew after four failures, and takes every file of the new answer anew', () => {
    const next = makeBootimage({ release: '44.20260803.3.0' })
    const answer = scriptFor({}, {}, makeCatalog({ current: next }))
    const run = runIpxe(script, {
      settings: onUefi,
      fetch(url) {
        if (url.endsWith('/boot.ipxe')) return entry
        if (url.includes('/ipxe?')) return answer
        return !url.includes(bootimage.initramfs.sha256)
      },
    })
    expect(run.end).toEqual({ kind: 'booted' })
    expect(run.sleeps).toEqual([5, 10, 20, 40])
    expect(run.kernel?.url).toContain(next.kernel.sha256)
    expect(run.initrds.map(({ url }) => url)).toEqual([expect.stringContaining(next.initramfs.sha256)])
  })

  it('asks on, once a minute, while nobody answers', () => {
    const run = runIpxe(script, {
      settings: onUefi,
      fetch(url, count) {
        if (url.endsWith('/boot.ipxe')) return count > 3 ? entry : false
        return url.includes('/ipxe?') ? leave : false
      },
    })
    expect(run.end.kind).toBe('left')
    expect(run.sleeps).toEqual([5, 10, 20, 40, 60, 60, 60])
    expect(run.console).toContain(`Attempt 5 failed: ${baseUrl}/boot.ipxe`)
  })

  it('begins again when the kernel cannot be started', () => {
    const run = runIpxe(script, { settings: onUefi, boot: (count) => count > 2 })
    expect(run.sleeps).toEqual([5, 10])
    expect(run.end.kind).toBe('booted')
  })

  it("hands over any operator's arguments unchanged, in their order (field case 118)", () => {
    const argument = fc
      .string({ minLength: 1, maxLength: 30 })
      .filter((text) => operatorArgumentProblem(text) === undefined)
    fc.assert(
      fc.property(fc.uniqueArray(argument, { maxLength: 8 }), (kernelArguments) => {
        const run = runIpxe(scriptFor({ kernelArguments }), { settings: onUefi })
        expect(run.end.kind).toBe('booted')
        const words = run.kernel?.words ?? []
        expect(words.slice(words.length - kernelArguments.length)).toEqual(kernelArguments)
      }),
      { numRuns: 100 },
    )
  })

  it.each(['a;b', 'x||y', 'x&&y', 'a#b', 'a{b}', '$x', '"', "'", 'a\\b', ':label', '--name', '%24'])(
    'hands over %j as it is (field case 118)',
    (argument) => {
      const run = runIpxe(scriptFor({ kernelArguments: ['before', argument, 'after'] }), { settings: onUefi })
      expect(run.kernel?.words.slice(-3)).toEqual(['before', argument, 'after'])
    },
  )
})

describe('the waiting script', () => {
  const script = scriptFor({}, {}, makeCatalog({ target: status(bootimage, 'downloading') }))

  it('says what it waits for and asks again through the entry script, without end (G11)', () => {
    const fetch = (url: string) => (url.endsWith('/boot.ipxe') ? entry : script)
    const run = runIpxe(script, { settings: onUefi, fetch, sleepsAtMost: 100 })
    expect(run.end).toEqual({ kind: 'still-running' })
    expect(new Set(run.sleeps)).toEqual(new Set([15]))
    expect(run.console).toContain(
      `Pilotlight: this machine waits for fcos-stable ${bootimage.release} for x86_64`,
    )
    expect(run.console).toContain(`Reason: bootimage ${bootimage.release} of fcos-stable is being fetched`)
  })

  it('boots as soon as the answer is another one', () => {
    const booting = scriptFor({})
    let asked = 0
    const fetch = (url: string) => {
      if (url.endsWith('/boot.ipxe')) return entry
      if (!url.includes('/ipxe?')) return true
      asked += 1
      return asked < 3 ? script : booting
    }
    const run = runIpxe(script, { settings: onUefi, fetch })
    expect(run.sleeps).toEqual([15, 15, 15])
    expect(run.end).toEqual({ kind: 'booted' })
  })

  it('renews its address every twentieth time', () => {
    const renewals: unknown[] = []
    const fetch = (url: string) => (url.endsWith('/boot.ipxe') ? entry : script)
    const dhcp = (name: unknown) => renewals.push(name) > 0
    runIpxe(script, { settings: onUefi, fetch, dhcp, sleepsAtMost: 61 })
    expect(renewals).toEqual(['netX', 'netX', 'netX'])
  })

  it('outlasts a service that restarts', () => {
    const run = runIpxe(script, {
      settings: onUefi,
      fetch: (_url, count) => (count < 4 ? false : '#!ipxe\nexit 1\n'),
    })
    expect(run.sleeps).toEqual([15, 5, 10, 20])
    expect(run.console).toContain(`Attempt 1 failed: ${baseUrl}/boot.ipxe`)
  })
})

describe('leaving network boot (field case 122)', () => {
  it.each([
    ['bios', undefined, { kind: 'sanbooted' }],
    ['uefi', undefined, { kind: 'left', status: 1 }],
    ['unknown', undefined, { kind: 'left', status: 1 }],
    ['uefi', 'exit', { kind: 'left', status: 0 }],
    ['bios', 'exit 1', { kind: 'left', status: 1 }],
    ['bios', 'http-404', { kind: 'sanbooted' }],
    ['uefi', 'dhcp-silent', { kind: 'left', status: 1 }],
  ] as const)('%s firmware, localBoot %s', (firmware, localBoot, end) => {
    expect(runIpxe(scriptFor({ mode: 'local', localBoot }, { firmware })).end).toEqual(end)
  })

  it('falls back to exit 1 where the BIOS finds no disk', () => {
    const script = scriptFor({ mode: 'local' }, { firmware: 'bios' })
    expect(runIpxe(script, { sanboot: false }).end).toEqual({ kind: 'left', status: 1 })
  })

  it('a held machine shows why for ten minutes first (G11)', () => {
    const run = runIpxe(scriptFor({ mode: 'hold', holdReason: 'disk is being replaced' }))
    expect(run.sleeps).toEqual([600])
    expect(run.console.join('\n')).toContain('disk is being replaced')
    expect(run.end).toEqual({ kind: 'left', status: 1 })
  })

  it('an ignored machine is told so and leaves at once', () => {
    const machine = makeClient({ macs: [], firmware: 'bios' })
    const decision = decideBoot(machine, { catalog: ready, inventory: makeInventory(), now: 0 })
    const run = runIpxe(renderer.ipxe(decision, machine, context))
    expect(run.sleeps).toEqual([5])
    expect(run.console.join('\n')).toContain('unknown machines are ignored')
    expect(run.end).toEqual({ kind: 'sanbooted' })
  })
})

describe("an admin's own words in a script", () => {
  it.each(['x || reboot', 'a && shell', '${netX/mac}', 'line\nshell', 'end\\', '# x', 'ü', '-n', '`x`'])(
    'hold reason %j is shown, never run (field case 117)',
    (holdReason) => {
      const script = scriptFor({ mode: 'hold', holdReason })
      const plain = scriptFor({ mode: 'hold', holdReason: 'plain' })
      const run = runIpxe(script)
      expect(run.end).toEqual({ kind: 'left', status: 1 })
      expect(run.commands).toEqual(runIpxe(plain).commands)
      expect(script.split('\n')).toHaveLength(plain.split('\n').length)
    },
  )
})
