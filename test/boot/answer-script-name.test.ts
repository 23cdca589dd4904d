import { describe, expect, it } from 'vitest'
import {
  answerScriptName,
  type SaidByLoader,
  type ScriptAnswer,
  type ScriptQuestion,
} from '../../src/boot/answer-script-name.ts'
import { type NamingLoader, parseScriptName } from '../../src/boot/script-name.ts'
import { noSecrets } from '../../src/boot/secret-service.ts'
import type { BootClient } from '../../src/core/client.ts'
import { decideBoot } from '../../src/core/decide-boot.ts'
import type { Host, UnknownPolicy } from '../../src/core/host.ts'
import type { MacAddress } from '../../src/core/mac.ts'
import { nobodySeen, type SeenMachines } from '../../src/core/seen-machines.ts'
import { makeBootimage } from '../fakes/bootimages.ts'
import { makeCatalog } from '../fakes/catalogs.ts'
import { mac, makeHost, makeInventory, makeProfile, nodeMac, uuid } from '../fakes/machines.ts'
import { createRecordingLog } from '../fakes/recording-log.ts'
import { bootId, rendererOver } from '../fakes/scripts.ts'

const baseUrl = 'http://192.0.2.10'
const machineUuid = uuid('00112233-4455-6677-8899-aabbccddeeff')
const catalog = makeCatalog({ current: makeBootimage() })
const stranger = mac('52:54:00:00:00:99')
const live: Partial<Host> = { stream: 'fcos-stable', mode: 'live' }

interface Site {
  readonly hosts?: readonly Partial<Host>[]
  readonly unknown?: UnknownPolicy
  readonly seen?: Partial<SeenMachines>
  readonly ignoredMachines?: 'script' | 'http-404'
}

function siteOf({
  hosts = [{ ...live, uuid: machineUuid }],
  unknown,
  seen,
  ignoredMachines = 'script',
}: Site = {}) {
  const inventory = makeInventory({
    hosts: hosts.map(makeHost),
    profiles: [makeProfile({ name: 'p', stream: 'fcos-stable', mode: 'live' })],
    ...(unknown === undefined ? {} : { unknown }),
  })
  const answered: BootClient[] = []
  const log = createRecordingLog()
  const decide = (client: BootClient) => decideBoot(client, { catalog, inventory, now: 0 })
  const sources = {
    bootService: {
      answer(client: BootClient) {
        answered.push(client)
        return { decision: decide(client), bootId }
      },
      explain: decide,
    },
    renderer: rendererOver(catalog),
    secrets: noSecrets,
    seen: { ...nobodySeen, ...seen },
    ignoredMachines,
    log,
  }
  return { sources, answered, log }
}

function ask(
  site: ReturnType<typeof siteOf>,
  loader: NamingLoader,
  file: string,
  extra: Partial<ScriptQuestion> = {},
): ScriptAnswer {
  const name = parseScriptName(loader, file)
  if (name === undefined) throw new Error('no name')
  return answerScriptName({ loader, name, baseUrl, fetch: 'tftp', ...extra }, site.sources)
}

const kindOf = (answer: ScriptAnswer) =>
  answer.kind === 'script' ? (/^# Pilotlight: (\S+)/.exec(answer.text)?.[1] ?? 'entry') : answer.kind
const onUefi: SaidByLoader = { macs: [nodeMac], arch: 'x86_64', firmware: 'uefi' }
const ofMac = '01-52-54-00-ab-cd-ef'

describe('PXELINUX', () => {
  it('finds its machine by UUID, and goes on to the MAC where no host has it', () => {
    expect(kindOf(ask(siteOf(), 'pxelinux', machineUuid))).toBe('live')
    expect(kindOf(ask(siteOf({ hosts: [live] }), 'pxelinux', machineUuid))).toBe('not-here')
  })

  it('finds it by UUID in the other byte order (field case 155)', () => {
    expect(kindOf(ask(siteOf(), 'pxelinux', '33221100-5544-7766-8899-aabbccddeeff'))).toBe('live')
  })

  it('is taken for a BIOS PC where nobody saw its firmware', () => {
    const site = siteOf()
    expect(kindOf(ask(site, 'pxelinux', ofMac, { address: '192.0.2.55' }))).toBe('live')
    expect(site.answered).toEqual([
      { macs: [nodeMac], arch: 'x86_64', firmware: 'bios', loader: 'pxelinux', address: '192.0.2.55' },
    ])
  })

  it('is what its firmware said by DHCP: a petitboot, a U-Boot', () => {
    const seen = { machineOf: () => ({ arch: 'ppc64le', firmware: 'open-firmware' }) as const }
    const site = siteOf({ seen })
    ask(site, 'pxelinux', ofMac)
    expect(site.answered[0]).toMatchObject({ arch: 'ppc64le', firmware: 'open-firmware' })
  })

  it('is a board where U-Boot says so in the last names of its list', () => {
    const site = siteOf()
    ask(site, 'pxelinux', 'default-arm-bcm2711')
    expect(site.answered[0]).toMatchObject({ macs: [], arch: 'aarch64', firmware: 'unknown' })
  })

  it('is known by its address where DHCP gave or saw it (field case 80)', () => {
    const seen = { macOf: (address: string) => (address === '192.0.2.55' ? nodeMac : undefined) }
    const site = siteOf({ seen })
    expect(kindOf(ask(site, 'pxelinux', 'c0000237'))).toBe('live')
    expect(kindOf(ask(site, 'pxelinux', 'C0000238'))).toBe('not-here')
    expect(kindOf(ask(site, 'pxelinux', 'C000023'))).toBe('not-here')
    expect(kindOf(ask(site, 'pxelinux', 'default', { address: '192.0.2.55' }))).toBe('live')
    expect(site.answered.map(({ macs }) => macs)).toEqual([[nodeMac], [nodeMac]])
  })

  it('that nobody knows gets what unknown machines get, by its MAC and by the last name', () => {
    const strange = '01-52-54-00-00-00-99'
    expect(kindOf(ask(siteOf(), 'pxelinux', strange))).toBe('ignore')
    expect(kindOf(ask(siteOf(), 'pxelinux', 'default'))).toBe('ignore')
    const unknown: UnknownPolicy = { kind: 'profile', profile: 'p' }
    expect(kindOf(ask(siteOf({ unknown }), 'pxelinux', strange))).toBe('live')
    expect(kindOf(ask(siteOf({ unknown }), 'pxelinux', 'default'))).toBe('live')
  })

  it('goes on from names that mean nobody, and where an admin wants no answer', () => {
    expect(kindOf(ask(siteOf(), 'pxelinux', 'linux.cfg'))).toBe('not-here')
    expect(kindOf(ask(siteOf({ ignoredMachines: 'http-404' }), 'pxelinux', 'default'))).toBe('not-here')
    const hosts = [{ mode: 'local', localBoot: 'http-404' } as const]
    expect(kindOf(ask(siteOf({ hosts }), 'pxelinux', ofMac))).toBe('not-here')
  })

  it('names files as it was asked', () => {
    const text = (fetch: 'http' | 'tftp') => {
      const answer = ask(siteOf(), 'pxelinux', ofMac, { fetch })
      return answer.kind === 'script' ? answer.text : ''
    }
    expect(text('tftp')).toContain('KERNEL /artifacts/')
    expect(text('http')).toContain('KERNEL http://192.0.2.10/artifacts/')
  })
})

describe('GRUB', () => {
  it('gets the first configuration under its last name, which asks as the machine that it is', () => {
    const site = siteOf()
    const answer = ask(site, 'grub', 'grub.cfg')
    expect(answer.kind === 'script' && answer.text).toContain('source "(http,192.0.2.10)/grub/boot?mac=')
    expect(site.answered).toEqual([])
  })

  it('gets it as well under its own name, where nobody knows its architecture', () => {
    expect(kindOf(ask(siteOf(), 'grub', `grub.cfg-${ofMac}`))).toBe('entry')
    expect(kindOf(ask(siteOf(), 'grub', `grub.cfg-${machineUuid}`))).toBe('entry')
  })

  it.each([
    ['of the host record', { hosts: [{ ...live, arch: 'x86_64' } as const] }],
    [
      'that its firmware said',
      { seen: { machineOf: () => ({ arch: 'x86_64', firmware: 'uefi' }) as const } },
    ],
  ])('gets the decision under its own name, with the architecture %s', (_name, site) => {
    expect(kindOf(ask(siteOf(site), 'grub', `grub.cfg-${ofMac}`))).toBe('live')
  })

  it('gets the decision when it asks as itself', () => {
    const site = siteOf()
    expect(kindOf(ask(site, 'grub', 'grub.cfg', { said: onUefi }))).toBe('live')
    expect(site.answered).toEqual([{ macs: [nodeMac], arch: 'x86_64', firmware: 'uefi', loader: 'grub' }])
  })

  it('that cannot say who it is is known by its address, or gets what unknown machines get', () => {
    const seen = { macOf: () => nodeMac }
    const said = { arch: 'x86_64', firmware: 'uefi' } as const
    const address = '192.0.2.55'
    expect(kindOf(ask(siteOf({ seen }), 'grub', 'grub.cfg', { said, address }))).toBe('live')
    expect(kindOf(ask(siteOf(), 'grub', 'grub.cfg', { said, address }))).toBe('ignore')
  })

  it('that asks is always decided, never told to ask', () => {
    expect(kindOf(ask(siteOf(), 'grub', 'grub.cfg', { said: { macs: [nodeMac] } }))).toBe('hold')
    expect(kindOf(ask(siteOf(), 'grub', 'grub.cfg', { said: {} }))).toBe('ignore')
  })

  it('goes on from a UUID and an address that nobody has', () => {
    expect(kindOf(ask(siteOf({ hosts: [live] }), 'grub', `grub.cfg-${machineUuid}`))).toBe('not-here')
    expect(kindOf(ask(siteOf(), 'grub', 'grub.cfg-C0000237'))).toBe('not-here')
  })

  it('that asks in a loop is told how to leave, where others get no answer', () => {
    const hosts = [{ mode: 'local', localBoot: 'http-404', arch: 'x86_64' } as const]
    expect(kindOf(ask(siteOf({ hosts }), 'grub', `grub.cfg-${ofMac}`))).toBe('not-here')
    expect(kindOf(ask(siteOf({ hosts }), 'grub', 'grub.cfg', { said: onUefi }))).toBe('local')
    const said = { ...onUefi, macs: [stranger] }
    expect(kindOf(ask(siteOf({ ignoredMachines: 'http-404' }), 'grub', 'grub.cfg', { said }))).toBe('ignore')
  })
})

describe('a probe', () => {
  it('mints no boot, and is as long as what comes later', () => {
    const site = siteOf()
    const lengthOf = (isProbe: boolean) => {
      const answer = ask(site, 'grub', 'grub.cfg', { said: onUefi, isProbe })
      return answer.kind === 'script' ? answer.text.length : -1
    }
    const probed = lengthOf(true)
    expect(site.answered).toEqual([])
    expect(lengthOf(false)).toBe(probed)
    expect(site.answered).toHaveLength(1)
  })
})

describe('a script that cannot be made', () => {
  it('is one that says so and asks again, in the dialect that is read', () => {
    const hosts = [{ ...live, arch: 'x86_64', kernelArguments: ['my.initrd=x'] } as const]
    const site = siteOf({ hosts })
    const answer = ask(site, 'pxelinux', ofMac)
    expect(answer).toEqual({
      kind: 'failed',
      text: [
        '# Pilotlight could not make a boot script for this machine (KERNEL_ARGUMENT_INVALID), see its log',
        'SAY Pilotlight could not make a boot script for this machine (KERNEL_ARGUMENT_INVALID), see its log',
        'SAY Asking again in 30 seconds',
        'DEFAULT pilotlight',
        'PROMPT 1',
        'TIMEOUT 300',
        'TOTALTIMEOUT 600',
        'LABEL pilotlight',
        'CONFIG /pxelinux.cfg/01-52-54-00-ab-cd-ef',
        '',
      ].join('\n'),
    })
    expect(site.log.lines.map(({ level, message }) => [level, message])).toEqual([
      ['error', 'boot script could not be made'],
    ])
  })

  it('goes back to the first configuration, for a GRUB that did not come from there', () => {
    const site = siteOf()
    const failing = { ...site.sources.renderer, grub: site.sources.renderer.pxelinux as never }
    const broken = {
      ...site.sources,
      renderer: { ...failing, grub: () => failing.grubEntry({ baseUrl: 'https://x' }) },
    }
    const question = {
      loader: 'grub',
      name: { by: 'default' },
      said: onUefi,
      baseUrl,
      fetch: 'http',
    } as const
    const answer = answerScriptName(question, broken)
    expect(answer.kind).toBe('failed')
    expect(answer.kind === 'failed' && answer.text).toContain('configfile (http,192.0.2.10)/grub/grub.cfg\n')
    const secure = answerScriptName({ ...question, baseUrl: 'https://192.0.2.10' }, site.sources)
    expect(secure.kind === 'failed' && secure.text).not.toContain('configfile')
  })

  it('a defect of ours is not made a script of', () => {
    const site = siteOf()
    const broken = {
      ...site.sources,
      renderer: {
        ...site.sources.renderer,
        pxelinux(): string {
          throw new TypeError('boom')
        },
      },
    }
    const name = { by: 'mac', mac: nodeMac as MacAddress } as const
    expect(() => answerScriptName({ loader: 'pxelinux', name, baseUrl, fetch: 'http' }, broken)).toThrow(
      'boom',
    )
  })
})
