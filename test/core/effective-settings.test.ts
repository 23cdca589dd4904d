import { describe, expect, it } from 'vitest'
import {
  type EffectiveSettings,
  effectiveSettings,
  type SettingsLayer,
} from '../../src/core/effective-settings.ts'
import { effectiveValues } from '../../src/core/effective-values.ts'
import type { BootSettings, Host, Inventory, Origin, Pin } from '../../src/core/host.ts'
import { sha256Of } from '../fakes/bootimages.ts'
import { makeGroup, makeHost, makeInventory, makeProfile } from '../fakes/machines.ts'

const now = Date.parse('2026-11-29T12:00:00Z')

/** The places that can speak, the most specific first. */
const places = ['one-shot', 'host', 'group', 'profile'] as const
type Place = (typeof places)[number]

const oneShotOrigin: Origin = { kind: 'one-shot', name: 'n01', by: 'alice', at: now }

function settle(said: Partial<Record<Place, BootSettings>>): EffectiveSettings {
  const host = makeHost({ ...said.host, labels: { site: 'edge' }, profile: 'worker' })
  const groups = said.group === undefined ? [] : [makeGroup({ name: 'edge', ...said.group })]
  const inventory = makeInventory({
    hosts: [host],
    groups,
    profiles: [makeProfile({ name: 'worker', ...said.profile })],
  })
  const oneShot: SettingsLayer | undefined =
    said['one-shot'] === undefined ? undefined : { settings: said['one-shot'], origin: oneShotOrigin }
  return effectiveSettings({ inventory, host, oneShot, firmware: 'uefi', now })
}

/** Every subset of the places: 16 combinations (field case 152). */
const combinations = Array.from({ length: 16 }, (_, bits) =>
  places.filter((_place, index) => bits & (1 << index)),
)

describe('the most specific place wins, field by field', () => {
  const fields: readonly (readonly [
    string,
    (place: Place) => BootSettings,
    (s: EffectiveSettings) => unknown,
  ])[] = [
    ['stream', (place) => ({ stream: place }), (s) => s.stream?.value],
    ['pin', (place) => ({ pin: { release: place } }), (s) => s.pin?.value.release],
    ['kernelArguments', (place) => ({ kernelArguments: [place] }), (s) => s.kernelArguments.value[0]],
    ['ignition', (place) => ({ ignition: { url: place } }), (s) => s.ignition?.value.url],
    ['install.device', (place) => ({ install: { device: place } }), (s) => s.installDevice?.value],
    ['holdReason', (place) => ({ holdReason: place }), (s) => s.holdReason?.value],
    ['platformId', (place) => ({ platformId: place }), (s) => s.platformId.value],
    ['loader', (place) => ({ loader: place }), (s) => s.loader?.value],
  ]
  const defaults: Readonly<Record<string, string>> = { platformId: 'metal' }

  for (const [field, say, read] of fields) {
    it.each(combinations)(`${field}: said by %j %j %j %j (field case 152)`, (...speaking) => {
      const said = Object.fromEntries(speaking.filter(Boolean).map((place) => [place, say(place as Place)]))
      expect(read(settle(said))).toBe(speaking[0] ?? defaults[field])
    })
  }

  it('every value names its origin', () => {
    const settings = settle({
      'one-shot': { stream: 'rhcos' },
      host: { pin: { release: '44.1' } },
      group: { mode: 'live' },
      profile: { platformId: 'qemu' },
    })
    expect(settings.stream?.origin).toBe(oneShotOrigin)
    expect(settings.pin?.origin).toMatchObject({
      kind: 'host',
      name: 'n01',
      file: 'hosts.d/rack1.yaml',
      line: 3,
    })
    expect(settings.mode?.origin).toMatchObject({ kind: 'group', name: 'edge' })
    expect(settings.platformId.origin).toMatchObject({ kind: 'profile', name: 'worker' })
    expect(settings.rootfs).toEqual({ value: 'url', origin: { kind: 'default', name: '' } })
  })
})

describe('hold', () => {
  it.each(places)('said by the %s alone beats live said by all others', (holding) => {
    const said = Object.fromEntries(
      places.map((place) => [
        place,
        place === holding
          ? { mode: 'hold', holdReason: `by ${place}` }
          : { mode: 'live', holdReason: 'not this' },
      ]),
    )
    const settings = settle(said as Partial<Record<Place, BootSettings>>)
    expect(settings.mode?.value).toBe('hold')
    expect(settings.holdReason?.value).toBe(`by ${holding}`)
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
    const settings = settle({ host: { pin: over } })
    expect(settings.pin).toBeUndefined()
    expect(settings.expiredPins.map(({ value }) => value)).toEqual([over])
  })

  it('leave the word to the next place that pins', () => {
    const settings = settle({ host: { pin: over }, group: { pin: running } })
    expect(settings.pin?.value).toBe(running)
    expect(settings.pin?.origin.kind).toBe('group')
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
      host: { pin: { release: '43.1', reason: 'NIC', until: now + 1000 }, ignition: { inline: 'secret' } },
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
    const settings = settle({ host: { pin: { release: 'x', until: Number.POSITIVE_INFINITY } } })
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
