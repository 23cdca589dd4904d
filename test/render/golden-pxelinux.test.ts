import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Arch } from '../../src/core/arch.ts'
import type { BootDecision } from '../../src/core/boot-decision.ts'
import type { BootClient, Firmware } from '../../src/core/client.ts'
import type { Host } from '../../src/core/host.ts'
import { operatorArgumentProblem, pxelinuxArgumentProblem } from '../../src/core/kernel-argument-rules.ts'
import { reason } from '../../src/core/reason.ts'
import { makeBootimage, sha256Of } from '../fakes/bootimages.ts'
import { makeCatalog, servedFile } from '../fakes/catalogs.ts'
import { expectGolden } from '../fakes/golden.ts'
import { makeClient } from '../fakes/machines.ts'
import { readPetitboot, readPxelinux } from '../fakes/pxelinux.ts'
import { playScenario, scenarios } from '../fakes/script-scenarios.ts'
import { bootId, context, rendererOver } from '../fakes/scripts.ts'

const baseUrl = 'http://192.0.2.10:8080'
const bootimage = makeBootimage()

/** A PXELINUX on a BIOS by TFTP and one that knows HTTP, a petitboot, a U-Boot. */
const machines: readonly (readonly [string, Arch, Firmware, 'http' | 'tftp'])[] = [
  ['bios-tftp', 'x86_64', 'bios', 'tftp'],
  ['bios-http', 'x86_64', 'bios', 'http'],
  ['petitboot', 'ppc64le', 'open-firmware', 'http'],
  ['u-boot', 'aarch64', 'unknown', 'tftp'],
]
const ofSeveralInitrds = 'live-rootfs-and-extra-as-initrds'

interface Asked {
  readonly fetch?: 'http' | 'tftp'
  readonly client?: Partial<BootClient>
}

function configFor(host: Partial<Host>, { fetch = 'tftp', client }: Asked = {}): string {
  const scenario = { host: { mode: 'live', ...host }, catalog: () => ({ current: bootimage }) } as const
  const played = playScenario(scenario, 'x86_64', { firmware: 'bios', loader: 'pxelinux', ...client })
  return rendererOver(played.catalog).pxelinux(played.decision, played.client, { ...context, baseUrl, fetch })
}

const rendered: (readonly [string, string])[] = []

describe('each decision for PXELINUX, petitboot and U-Boot', () => {
  for (const [name, scenario] of Object.entries(scenarios)) {
    for (const [machine, arch, firmware, fetch] of machines) {
      const file = `pxelinux/${name}-${machine}.cfg`
      if (name === ofSeveralInitrds && firmware !== 'bios') continue
      it(file, () => {
        const { catalog, client, decision } = playScenario(scenario, arch, { firmware, loader: 'pxelinux' })
        const config = rendererOver(catalog).pxelinux(decision, client, { ...context, baseUrl, fetch })
        rendered.push([file, config])
        expectGolden(file, config)
      })
    }
  }

  it.each(['http', 'tftp'] as const)('pxelinux/chainload by %s', (fetch) => {
    const decision: BootDecision = {
      kind: 'chainload',
      loader: 'undionly.kpxe',
      reasons: [reason('host-unknown')],
    }
    const file = `pxelinux/chainload-${fetch}.cfg`
    const config = rendererOver(makeCatalog()).pxelinux(decision, makeClient(), {
      ...context,
      baseUrl,
      fetch,
    })
    rendered.push([file, config])
    expectGolden(file, config)
  })
})

describe('every configuration', () => {
  it('is there to be looked at', () => {
    expect(rendered.length).toBe(Object.keys(scenarios).length * machines.length - 2 + 2)
  })

  it('has one label to boot, which is the default, or nothing at all', () => {
    for (const [file, config] of rendered) {
      const { labels, chosen, afterFailure } = readPxelinux(config)
      const [first, ...others] = labels
      const mayHaveNone = file.includes('petitboot')
      expect([file, first !== undefined || mayHaveNone]).toEqual([file, true])
      expect([file, chosen]).toEqual([file, first])
      expect([file, others]).toEqual([file, afterFailure === undefined ? [] : [afterFailure]])
    }
  })

  it('G10 says decision, host, boot and reasons in comments', () => {
    for (const [, config] of rendered) {
      const [subject, host, because] = config.split('\n')
      expect(subject).toMatch(/^# Pilotlight: (live|install|wait|hold|local|ignore|chainload)\b/)
      expect(host).toMatch(/^# Host: (n01|unknown), boot AAECAwQFBgcICQoLDA0ODw$/)
      expect(because).toMatch(/^# Reason: \S/)
    }
  })

  it('names files so that no prefix is put in front of them, in no more than 256 bytes', () => {
    for (const [file, config] of rendered) {
      for (const { kernel, initrds, config: again, program } of readPxelinux(config).labels) {
        for (const name of [kernel, ...initrds, again, program]) {
          if (name === undefined) continue
          const isAbsolute = file.includes('http') || file.includes('petitboot') ? /^http:\/\// : /^\/[a-z]/
          expect([file, name, isAbsolute.test(name), name.length < 256]).toEqual([file, name, true, true])
        }
      }
    }
  })

  it('ends with a line break and has neither CR nor an empty line', () => {
    for (const [, config] of rendered) expect(config).toMatch(/^(?:[^\r\n]+\n)+$/)
  })
})

describe('a live boot', () => {
  const { kernel, initramfs, rootfs } = bootimage
  const common = [
    `coreos.live.rootfs_url=${baseUrl}/artifacts/${rootfs?.sha256}/${rootfs?.name}?boot=${bootId}`,
    'rd.neednet=1',
  ]

  it('by TFTP fetches kernel and initramfs by TFTP, the system fetches its rootfs by HTTP (G2)', () => {
    const { chosen, waitsFor } = readPxelinux(configFor({ kernelArguments: ['console=ttyS0'] }))
    expect(chosen?.kernel).toBe(`/artifacts/${kernel.sha256}/kernel`)
    expect(chosen?.initrds).toEqual([`/artifacts/${initramfs.sha256}/main`])
    expect(chosen?.words).toEqual([...common, 'BOOTIF=01-52-54-00-ab-cd-ef', 'console=ttyS0'])
    expect(waitsFor).toBe(0)
  })

  it('by HTTP ties each file to its boot', () => {
    const { chosen } = readPxelinux(configFor({}, { fetch: 'http' }))
    expect(chosen?.kernel).toBe(`${baseUrl}/artifacts/${kernel.sha256}/kernel?boot=${bootId}`)
    expect(chosen?.initrds).toEqual([`${baseUrl}/artifacts/${initramfs.sha256}/main?boot=${bootId}`])
  })

  it('lets the loader say which NIC it is where nobody else knows', () => {
    const uuid = '00112233-4455-6677-8899-aabbccddeeff' as BootClient['uuid']
    const config = configFor({ macs: [], uuid }, { client: { macs: [], uuid } })
    expect(readPxelinux(config).chosen).toMatchObject({ addsBootInterface: true, words: common })
    expect(readPxelinux(configFor({})).chosen?.addsBootInterface).toBe(false)
  })

  it('asks anew what to boot ten seconds after a failure, and not later', () => {
    const { timeout, afterFailure } = readPxelinux(configFor({}))
    expect(timeout).toBe(100)
    expect(afterFailure).toMatchObject({ config: '/pxelinux.cfg/01-52-54-00-ab-cd-ef' })
  })

  it.each(['open-firmware', 'unknown'] as const)(
    'has nothing but its boot for %s firmware, whose loaders would show a second entry',
    (firmware) => {
      expect(readPxelinux(configFor({}, { client: { firmware } })).labels).toHaveLength(1)
    },
  )

  it('is the same to petitboot, which reads five words of it', () => {
    const config = configFor(
      { kernelArguments: ['console=hvc0'] },
      { fetch: 'http', client: { firmware: 'open-firmware' } },
    )
    const [label, ...others] = readPetitboot(config)
    const { chosen } = readPxelinux(config)
    expect(others).toEqual([])
    expect(label).toEqual({
      name: 'pilotlight',
      kernel: chosen?.kernel,
      initrds: chosen?.initrds,
      words: chosen?.words,
    })
  })

  it('of several initrds goes to PXELINUX, and is refused for those that load one', () => {
    const extra = { path: '/etc/x.cpio', sha256: sha256Of('extra') }
    const catalog = () => ({
      current: bootimage,
      files: [servedFile({ ...extra, name: 'x.cpio', role: 'initramfs' })],
    })
    const scenario = { host: { mode: 'live', rootfs: 'initrd', extraInitrds: [extra] }, catalog } as const
    const render = (firmware: Firmware) => {
      const played = playScenario(scenario, 'x86_64', { firmware })
      return rendererOver(played.catalog).pxelinux(played.decision, played.client, {
        ...context,
        baseUrl,
        fetch: 'tftp',
      })
    }
    expect(readPxelinux(render('bios')).chosen?.initrds).toEqual([
      `/artifacts/${initramfs.sha256}/main`,
      `/artifacts/${rootfs?.sha256}/rootfs`,
      `/artifacts/${extra.sha256}/extra0`,
    ])
    for (const firmware of ['open-firmware', 'unknown'] as const) {
      expect(() => render(firmware)).toThrow(/petitboot and U-Boot load one initrd, and this boot has 3/)
    }
  })
})

describe('the APPEND line', () => {
  it("hands over any operator's arguments unchanged, in their order", () => {
    const argument = fc
      .string({ minLength: 1, maxLength: 30 })
      .filter(
        (text) => operatorArgumentProblem(text) === undefined && pxelinuxArgumentProblem(text) === undefined,
      )
    fc.assert(
      fc.property(fc.uniqueArray(argument, { maxLength: 8 }), (kernelArguments) => {
        const words = readPxelinux(configFor({ kernelArguments })).chosen?.words ?? []
        expect(words.slice(words.length - kernelArguments.length)).toEqual(kernelArguments)
      }),
      { numRuns: 200 },
    )
  })

  it.each([';', '#', '"', "'", '\\', '$x', '{', '|', '&', '>', 'a=b,c', '-'])(
    'hands over %j as it is',
    (mark) => {
      const kernelArguments = ['before', `x${mark}y`, 'after']
      expect(readPxelinux(configFor({ kernelArguments })).chosen?.words.slice(-3)).toEqual(kernelArguments)
    },
  )

  it.each([
    ['$(x)', 'U-Boot would expand it'],
    ['a$(b', 'U-Boot would expand it'],
    ['my.initrd=x', 'petitboot would take it for the initrd'],
    ['INITRD=x', 'petitboot would take it for the initrd'],
  ])('refuses %j, which another reader would change: %s', (argument, problem) => {
    expect(() => configFor({ kernelArguments: [argument] })).toThrow(problem)
  })

  it('is refused when it is longer than PXELINUX takes', () => {
    const kernelArguments = Array.from({ length: 100 }, (_, index) => `argument.number=${index}`)
    expect(() => configFor({ kernelArguments })).toThrow(/more than 2000 characters/)
  })
})

describe('other decisions', () => {
  const local = (localBoot: Host['localBoot'], firmware: Firmware = 'bios') =>
    readPxelinux(configFor({ mode: 'local', localBoot }, { client: { firmware } }))

  it.each([
    [undefined, 'bios', 0],
    ['sanboot', 'bios', 0],
    ['exit', 'bios', -1],
    ['exit 1', 'bios', -1],
    [undefined, 'uefi', -1],
    [undefined, 'unknown', -1],
  ] as const)('localBoot %s on %s firmware is LOCALBOOT %i', (method, firmware, value) => {
    const { chosen, waitsFor } = local(method, firmware)
    expect([chosen?.localBoot, waitsFor]).toEqual([value, 0])
  })

  it('petitboot is given nothing to boot, and goes on to its disks', () => {
    const config = configFor({ mode: 'local' }, { client: { firmware: 'open-firmware' } })
    expect(readPetitboot(config)).toEqual([])
  })

  it('a held machine shows why for ten minutes, then leaves (G11)', () => {
    const { says, chosen, waitsFor, totalTimeout } = readPxelinux(
      configFor({ mode: 'hold', holdReason: 'disk is being replaced' }),
    )
    expect(says.join('\n')).toContain('disk is being replaced')
    expect([chosen?.localBoot, waitsFor, totalTimeout]).toEqual([0, 6000, 7200])
  })

  it.each([
    ['tftp', '/pxelinux.cfg/01-52-54-00-ab-cd-ef'],
    ['http', `${baseUrl}/pxelinux.cfg/01-52-54-00-ab-cd-ef`],
  ] as const)('a waiting machine reads its configuration again by %s, as itself (G11)', (fetch, name) => {
    const { says, chosen, waitsFor, totalTimeout } = readPxelinux(
      configFor({ pins: [{ release: '42.1' }] }, { fetch }),
    )
    expect(says.join('\n')).toContain('waits for fcos-stable 42.1 for x86_64')
    expect([chosen?.config, waitsFor]).toEqual([name, 150])
    expect(totalTimeout).toBeGreaterThan(waitsFor)
  })

  it('a waiting machine that is known by its UUID alone asks by that', () => {
    const uuid = '00112233-4455-6677-8899-aabbccddeeff' as BootClient['uuid']
    const config = configFor({ macs: [], uuid, pins: [{ release: '42.1' }] }, { client: { macs: [], uuid } })
    expect(readPxelinux(config).chosen?.config).toBe(`/pxelinux.cfg/${uuid}`)
  })

  it.each(['x\nLABEL y', 'x\rKERNEL z', '# x', '$(x)', 'ü'])(
    'hold reason %j is shown, never read (field case 117)',
    (holdReason) => {
      const shape = (config: string) => readPxelinux(config).labels
      expect(shape(configFor({ mode: 'hold', holdReason }))).toEqual(
        shape(configFor({ mode: 'hold', holdReason: 'x' })),
      )
    },
  )
})
