import { describe, expect, it } from 'vitest'
import {
  type EffectiveSettings,
  effectiveSettings,
  type SettingsLayer,
} from '../../src/core/effective-settings.ts'
import { effectiveValues } from '../../src/core/effective-values.ts'
import type { RunTimeSetting, Target } from '../../src/core/fleet.ts'
import type { BootSettings, Host, Inventory, Origin, Pin } from '../../src/core/host.ts'
import { armInstall, endInstall } from '../../src/core/install.ts'
import {
  inLayerOrder,
  type RunTimeIndex,
  type RunTimeLayer,
  runTimeLayer,
} from '../../src/core/run-time-settings.ts'
import { sha256Of } from '../fakes/bootimages.ts'
import { makeGroup, makeHost, makeInventory, makeProfile, nodeMac } from '../fakes/machines.ts'

const now = Date.parse('2026-11-29T12:00:00Z')

/** The places that can speak, the most specific first; `inner` is the group with more selectors. */
const places = [
  'one-shot',
  'host at run time',
  'host',
  'inner group at run time',
  'inner group',
  'outer group at run time',
  'outer group',
  'profile',
] as const
type Place = (typeof places)[number]

const oneShotOrigin: Origin = { kind: 'one-shot', name: 'n01', by: 'alice', at: now }

function settle(said: Partial<Record<Place, BootSettings>>): EffectiveSettings {
  const host = makeHost({ ...said.host, labels: { site: 'edge', rack: '1' }, profile: 'worker' })
  const inventory = makeInventory({
    hosts: [host],
    groups: [
      makeGroup({ name: 'inner', labels: { site: 'edge', rack: '1' }, ...said['inner group'] }),
      makeGroup({ name: 'outer', labels: { site: 'edge' }, ...said['outer group'] }),
    ],
    profiles: [makeProfile({ name: 'worker', ...said.profile })],
  })
  const oneShot: SettingsLayer | undefined =
    said['one-shot'] === undefined ? undefined : { settings: said['one-shot'], origin: oneShotOrigin }
  const runTime: RunTimeIndex = {
    byHost: new Map([['n01', layersOf({ kind: 'host', name: 'n01' }, said['host at run time'])]]),
    byGroup: new Map(
      (['inner', 'outer'] as const).map((name) => [
        name,
        layersOf({ kind: 'group', name }, said[`${name} group at run time`]),
      ]),
    ),
    byMac: new Map(),
  }
  return effectiveSettings({ inventory: { ...inventory, runTime }, host, oneShot, firmware: 'uefi', now })
}

/** What can be set at run time: pins, and every mode but install. */
function layersOf(
  target: Target,
  { pins = [], mode, holdReason }: BootSettings = {},
): readonly RunTimeLayer[] {
  const stamp = { target, by: 'bob', at: 1, ...(holdReason === undefined ? {} : { reason: holdReason }) }
  const settings: RunTimeSetting[] = pins.map((pin) => ({ ...stamp, ...pin, kind: 'pin' }))
  if (mode !== undefined && mode !== 'install') settings.push({ ...stamp, kind: 'mode', mode })
  return inLayerOrder(settings.map(runTimeLayer))
}

/** Every subset of some places, in their order (field case 152). */
function subsetsOf<Some extends Place>(some: readonly Some[]): readonly (readonly Some[])[] {
  return Array.from({ length: 2 ** some.length }, (_, bits) =>
    some.filter((_place, index) => bits & (1 << index)),
  )
}

describe('the reason of what was set at run time', () => {
  it('is told once of each value', () => {
    const settings = settle({
      'host at run time': { mode: 'hold', holdReason: 'fan broken' },
      'inner group at run time': { pins: [{ release: '43.1', reason: 'NIC' }] },
    })
    const by = 'set by bob at 1970-01-01T00:00:00.001Z'
    expect(
      effectiveValues(settings).filter(({ field }) => ['mode', 'holdReason', 'pin'].includes(field)),
    ).toEqual([
      { field: 'mode', value: 'hold', origin: `host n01, ${by}: fan broken` },
      { field: 'holdReason', value: 'fan broken', origin: `host n01, ${by}` },
      { field: 'pin', value: '43.1 (NIC)', origin: `group inner, ${by}` },
    ])
  })
})

describe('the most specific place wins, field by field', () => {
  const written = places.filter((place) => !place.endsWith('at run time'))
  const fields: readonly (readonly [
    string,
    readonly Place[],
    (place: Place) => BootSettings,
    (s: EffectiveSettings) => unknown,
  ])[] = [
    ['pin', places, (place) => ({ pins: [{ release: place }] }), (s) => s.pin?.value.release],
    ['stream', written, (place) => ({ stream: place }), (s) => s.stream?.value],
    [
      'kernelArguments',
      written,
      (place) => ({ kernelArguments: [place] }),
      (s) => s.kernelArguments.value[0],
    ],
    ['ignition', written, (place) => ({ ignition: { url: place } }), (s) => s.ignition?.value.url],
    ['install.device', written, (place) => ({ install: { device: place } }), (s) => s.installDevice?.value],
    ['holdReason', written, (place) => ({ holdReason: place }), (s) => s.holdReason?.value],
    ['platformId', written, (place) => ({ platformId: place }), (s) => s.platformId.value],
    ['loader', written, (place) => ({ loader: place }), (s) => s.loader?.value],
    [
      'install.generation',
      written,
      (place) => ({ install: { generation: 2 + places.indexOf(place) } }),
      (s) => places[s.installGeneration.value - 2],
    ],
    [
      'extraInitrds',
      written,
      (place) => ({ extraInitrds: [{ path: place, sha256: sha256Of('x') }] }),
      (s) => s.extraInitrds.value[0]?.path,
    ],
  ]
  const defaults: Readonly<Record<string, string>> = { platformId: 'metal' }

  it.each(fields)(
    '%s: every subset of the places that can say it (field case 152)',
    (field, some, say, read) => {
      for (const speaking of subsetsOf(some)) {
        const said = Object.fromEntries(speaking.map((place) => [place, say(place)]))
        expect(read(settle(said)), speaking.join(' > ')).toBe(speaking[0] ?? defaults[field])
      }
    },
  )

  // Values of which there are too few to tell every place: who said it tells.
  const worded: readonly (readonly [
    keyof BootSettings,
    BootSettings,
    (s: EffectiveSettings) => Origin | undefined,
  ])[] = [
    ['localBoot', { localBoot: 'exit' }, (s) => s.localBoot.origin],
    ['rootfs', { rootfs: 'initrd' }, (s) => s.rootfs.origin],
    ['secureBoot', { secureBoot: false }, (s) => s.secureBoot?.origin],
    ['dhcpStyle', { dhcpStyle: 'binl' }, (s) => s.dhcpStyle?.origin],
  ]
  const originNames: Partial<Record<Place, string>> = {
    'one-shot': 'one-shot n01',
    host: 'host n01',
    'inner group': 'group inner',
    'outer group': 'group outer',
    profile: 'profile worker',
  }
  it.each(worded)(
    '%s: every subset of the places that can say it (field case 152)',
    (_field, say, originOf) => {
      for (const speaking of subsetsOf(written)) {
        const origin = originOf(settle(Object.fromEntries(speaking.map((place) => [place, say]))))
        const [first] = speaking
        const found =
          origin === undefined || origin.kind === 'default' ? undefined : `${origin.kind} ${origin.name}`
        expect(found, speaking.join(' > ')).toBe(first && originNames[first])
      }
    },
  )

  it('mode: hold from anywhere, else the most specific, whatever each of the places says', () => {
    for (let number = 0; number < 3 ** places.length; number += 1) {
      const words = places.map((_, index) => {
        const words = [undefined, index % 2 === 0 ? 'live' : 'local', 'hold'] as const
        return words[Math.floor(number / 3 ** index) % 3]
      })
      const said = Object.fromEntries(places.map((place, index) => [place, { mode: words[index] }]))
      const expected = words.includes('hold') ? 'hold' : words.find((word) => word !== undefined)
      if (settle(said).mode?.value !== expected) expect.fail(`${JSON.stringify(words)} is not ${expected}`)
    }
  })

  it('every value names its origin', () => {
    const settings = settle({
      'one-shot': { stream: 'rhcos' },
      host: { pins: [{ release: '44.1' }] },
      'outer group': { mode: 'live' },
      profile: { platformId: 'qemu' },
    })
    expect(settings.stream?.origin).toBe(oneShotOrigin)
    expect(settings.pin?.origin).toMatchObject({
      kind: 'host',
      name: 'n01',
      file: 'hosts.d/rack1.yaml',
      line: 3,
    })
    expect(settings.mode?.origin).toMatchObject({ kind: 'group', name: 'outer' })
    expect(settings.platformId.origin).toMatchObject({ kind: 'profile', name: 'worker' })
    expect(settings.rootfs).toEqual({ value: 'url', origin: { kind: 'default', name: '' } })
  })
})

describe('hold', () => {
  it.each(places)('said by the %s alone brings its own reason', (holding) => {
    const said = Object.fromEntries(
      places.map((place) => [
        place,
        place === holding
          ? { mode: 'hold', holdReason: `by ${place}` }
          : { mode: 'live', holdReason: 'not this' },
      ]),
    )
    expect(settle(said as Partial<Record<Place, BootSettings>>).holdReason?.value).toBe(`by ${holding}`)
  })

  it('takes its reason from elsewhere when the holding place gives none', () => {
    const settings = settle({ host: { holdReason: 'disk is being replaced' }, profile: { mode: 'hold' } })
    expect(settings.holdReason?.value).toBe('disk is being replaced')
  })
})

describe('groups', () => {
  const labelled = (labels: Record<string, string>, name = 'g') => makeGroup({ name, labels, stream: name })
  const host = makeHost({ labels: { site: 'edge', rack: '1' } })
  const streamWith = (groups: Inventory['groups']) =>
    effectiveSettings({ inventory: makeInventory({ groups }), host, firmware: 'bios', now }).stream?.value

  it('select a host that carries all their labels', () => {
    expect(streamWith([labelled({ site: 'edge', rack: '1' })])).toBe('g')
    expect(streamWith([labelled({ site: 'edge', rack: '2' })])).toBeUndefined()
    expect(streamWith([labelled({ site: 'edge', room: 'a' })])).toBeUndefined()
  })

  it('are asked in the order of the inventory', () => {
    expect(streamWith([labelled({ rack: '1' }, 'a'), labelled({ site: 'edge' }, 'b')])).toBe('a')
    expect(streamWith([labelled({ rack: '2' }, 'a'), labelled({ site: 'edge' }, 'b')])).toBe('b')
  })

  it('do not mistake what every object inherits for a label', () => {
    expect(streamWith([labelled({ constructor: 'x' })])).toBeUndefined()
    expect(streamWith([labelled(JSON.parse('{"__proto__": "x"}'))])).toBeUndefined()
  })

  it('give their profile to a host that names none', () => {
    const inventory = makeInventory({
      groups: [makeGroup({ name: 'edge', labels: { site: 'edge' }, profile: 'worker' })],
      profiles: [makeProfile({ name: 'worker', stream: 'rhcos' })],
    })
    const settings = effectiveSettings({ inventory, host, firmware: 'bios', now })
    expect(settings.profile).toMatchObject({ value: 'worker', origin: { kind: 'group' } })
    expect(settings.stream?.value).toBe('rhcos')
  })

  it('never select an unknown machine', () => {
    const inventory = makeInventory({ groups: [makeGroup({ name: 'all', stream: 'x' })] })
    const settings = effectiveSettings({ inventory, unknownProfile: 'guest', firmware: 'bios', now })
    expect(settings.stream).toBeUndefined()
    expect(settings.profile?.value).toBe('guest')
    expect(settings.isProfileMissing).toBe(true)
  })
})

describe('pins that are over', () => {
  const over: Pin = { release: 'old', until: now }
  const running: Pin = { release: 'new', until: now + 1 }

  it('do not count from their last moment on, and are told', () => {
    const settings = settle({ host: { pins: [over] } })
    expect(settings.pin).toBeUndefined()
    expect(settings.expiredPins.map(({ value }) => value)).toEqual([over])
  })

  it('leave the word to the next place that pins', () => {
    const settings = settle({ host: { pins: [over] }, 'inner group': { pins: [running] } })
    expect(settings.pin?.value).toEqual(running)
    expect(settings.pin?.origin.kind).toBe('group')
  })
})

describe('pins of architectures', () => {
  const pins: readonly Pin[] = [
    { release: 'all', stream: 'other' },
    { release: 'arm', arch: 'aarch64' },
  ]
  const pinOf = (arch: 'x86_64' | 'aarch64' | undefined, host: Partial<Host>, runTime?: RunTimeIndex) => {
    const known = makeHost({ stream: 'own', ...host })
    const inventory = makeInventory({ hosts: [known] })
    const settings = effectiveSettings({
      inventory: { ...inventory, runTime: runTime ?? inventory.runTime },
      host: known,
      arch,
      firmware: 'uefi',
      now,
    })
    return [settings.pin?.value.release, settings.stream?.value]
  }

  it('count for their own machines, and stand before one for all in the same place', () => {
    expect(pinOf('aarch64', { pins })).toEqual(['arm', 'own'])
    expect(pinOf('x86_64', { pins: pins.slice(1) })).toEqual([undefined, 'own'])
    expect(pinOf(undefined, { pins: pins.slice(1) })).toEqual([undefined, 'own'])
  })

  it('bring the stream that they name', () => {
    expect(pinOf('x86_64', { pins })).toEqual(['all', 'other'])
  })

  it('set at run time for all stand above one of the architecture in the record', () => {
    const target = { kind: 'host', name: 'n01' } as const
    const runTime = {
      byHost: new Map([['n01', layersOf(target, { pins: [{ release: 'now' }] })]]),
      byGroup: new Map(),
      byMac: new Map(),
    }
    expect(pinOf('aarch64', { pins }, runTime)).toEqual(['now', 'own'])
  })
})

describe('what was set at run time', () => {
  const target = { kind: 'host', name: 'n01' } as const
  const holds = runTimeLayer({
    kind: 'mode',
    mode: 'hold',
    target,
    by: 'bob',
    at: 1,
    reason: 'disk',
    until: now,
    macs: [nodeMac],
  })
  const withRunTime = (index: Partial<RunTimeIndex>, at: number, host?: Host) =>
    effectiveSettings({
      inventory: {
        ...makeInventory(host === undefined ? {} : { hosts: [host] }),
        runTime: { byHost: new Map(), byGroup: new Map(), byMac: new Map(), ...index },
      },
      ...(host === undefined ? { macs: [nodeMac] } : { host }),
      firmware: 'uefi',
      now: at,
    })

  it('ends to the millisecond', () => {
    const byHost = new Map([['n01', [holds]]])
    const host = makeHost({ mode: 'live' })
    expect(withRunTime({ byHost }, now - 1, host)).toMatchObject({
      mode: { value: 'hold' },
      holdReason: { value: 'disk', origin: { kind: 'host', name: 'n01', by: 'bob', at: 1, why: 'disk' } },
    })
    expect(withRunTime({ byHost }, now, host).mode?.value).toBe('live')
  })

  it('of a host that has gone stays with its MACs, whether nobody has them or another host', () => {
    const byMac = new Map([[nodeMac, [holds]]])
    expect(withRunTime({ byMac }, 0).mode?.value).toBe('hold')
    expect(withRunTime({ byMac }, 0, makeHost({ id: 'renamed', mode: 'live' })).mode?.value).toBe('hold')
  })
})

describe('an install by an admin', () => {
  const armed = armInstall(undefined, 1, { host: 'n01', by: 'alice', at: 5, device: '/dev/vda' })
  const withInstall = (record: typeof armed, mode: 'live' | 'hold') => {
    const host = makeHost({ mode, install: { device: '/dev/sda' } })
    const inventory = { ...makeInventory({ hosts: [host] }), installs: new Map([['n01', record]]) }
    return effectiveSettings({ inventory, host, firmware: 'uefi', now })
  }

  it('stands above every mode but hold, and says by whom', () => {
    const origin = { kind: 'one-shot', name: 'n01', by: 'alice', at: 5 }
    expect(withInstall({ ...armed, until: now + 1 }, 'live')).toMatchObject({
      mode: { value: 'install', origin },
      installDevice: { value: '/dev/vda', origin },
    })
    expect(withInstall({ ...armed, until: now + 1 }, 'hold').mode?.value).toBe('hold')
  })

  it('that is over leaves local by whoever ended it', () => {
    const done = endInstall(armed, { as: 'installed', by: 'bob', at: 6 })
    expect(withInstall(done, 'live')).toMatchObject({
      mode: { value: 'local', origin: { kind: 'one-shot', by: 'bob', at: 6 } },
      installDevice: { value: '/dev/sda' },
    })
  })
})

describe('install settings', () => {
  it('device and generation come from where each is said', () => {
    const settings = settle({
      host: { install: { generation: 2 } },
      profile: { install: { device: '/dev/sda', generation: 1 } },
    })
    expect(settings.installDevice).toMatchObject({ value: '/dev/sda', origin: { kind: 'profile' } })
    expect(settings.installGeneration).toMatchObject({ value: 2, origin: { kind: 'host' } })
  })
})

describe('leaving network boot', () => {
  it.each([
    ['bios', 'sanboot'],
    ['uefi', 'exit 1'],
    ['open-firmware', 'exit 1'],
    ['unknown', 'exit 1'],
  ] as const)('on %s firmware defaults to %s (field case 122)', (firmware, method) => {
    const settings = effectiveSettings({ inventory: makeInventory(), host: makeHost(), firmware, now })
    expect(settings.localBoot.value).toBe(method)
  })
})

describe('effective values for explain', () => {
  it('name value and origin of everything that counts', () => {
    const settings = settle({
      'one-shot': { mode: 'live' },
      host: { pins: [{ release: '43.1', reason: 'NIC', until: now + 1000 }], ignition: { inline: 'secret' } },
      profile: {
        stream: 'fcos-stable',
        kernelArguments: ['console=tty0', 'quiet'],
        extraInitrds: [{ path: '/x.cpio', sha256: sha256Of('x') }],
      },
    })
    const values = new Map(
      effectiveValues(settings).map(({ field, value, origin }) => [field, [value, origin]]),
    )
    expect(values.get('mode')).toEqual(['live', 'one-shot n01, set by alice at 2026-11-29T12:00:00.000Z'])
    expect(values.get('pin')).toEqual([
      '43.1 until 2026-11-29T12:00:01.000Z (NIC)',
      'host n01 (hosts.d/rack1.yaml:3)',
    ])
    expect(values.get('ignition')?.[0]).toBe('(inline)')
    expect(values.get('kernelArguments')).toEqual([
      'console=tty0 quiet',
      'profile worker (pilotlight.yaml:10)',
    ])
    expect(values.get('platformId')).toEqual(['metal', 'default'])
    expect(values.get('extraInitrds')?.[0]).toBe(`/x.cpio@${sha256Of('x').slice(0, 16)}`)
  })

  it('shows a time that is none instead of failing', () => {
    const settings = settle({ host: { pins: [{ release: 'x', until: Number.POSITIVE_INFINITY }] } })
    expect(effectiveValues(settings).find(({ field }) => field === 'pin')?.value).toBe('x until Infinity')
  })
})

it('secureBoot of a host stands above that of its profile, where it says false as well', () => {
  const profiles = [makeProfile({ name: 'p', secureBoot: true })]
  const settingsOf = (host: Partial<Host>) => {
    const known = makeHost({ profile: 'p', ...host })
    const inventory = makeInventory({ hosts: [known], profiles })
    return effectiveSettings({ inventory, host: known, firmware: 'uefi', now: 0 }).secureBoot?.value
  }
  expect([settingsOf({}), settingsOf({ secureBoot: false })]).toEqual([true, false])
})
