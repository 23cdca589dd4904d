import { describe, expect, it } from 'vitest'
import { bootGoesOnMs, createAddressGuard } from '../../src/boot/address-guard.ts'
import type { BootDecision } from '../../src/core/boot-decision.ts'
import { decideBoot } from '../../src/core/decide-boot.ts'
import type { MacAddress } from '../../src/core/mac.ts'
import { reasonText } from '../../src/core/reason.ts'
import { makeBootimage } from '../fakes/bootimages.ts'
import { makeCatalog } from '../fakes/catalogs.ts'
import { makeClient, makeHost, makeInventory } from '../fakes/machines.ts'
import { createRecordingLog } from '../fakes/recording-log.ts'
import { makeBootId } from '../fakes/stored-fleet.ts'

const own = '192.0.2.50'
const other = '192.0.2.51'
const mac = '52:54:00:ab:cd:ef' as MacAddress
const strange = '52:54:00:00:00:99' as MacAddress
const catalog = makeCatalog({ current: makeBootimage() })
const secret = { stream: 'fcos-stable', mode: 'live', ignition: { inline: '{}' } } as const

function decisionFor(settings: object, client = makeClient()): BootDecision {
  return decideBoot(client, { catalog, inventory: makeInventory({ hosts: [makeHost(settings)] }), now: 0 })
}

function setUp({
  leases = {},
  isOn = true,
}: {
  leases?: Readonly<Record<string, MacAddress>>
  isOn?: boolean
} = {}) {
  let now = Date.UTC(2026, 10, 30)
  const log = createRecordingLog()
  const guard = createAddressGuard({
    isOn: () => isOn,
    seen: {
      macOf: (address) => leases[address],
      addressOf: (wanted) => Object.entries(leases).find(([, held]) => held === wanted)?.[0],
      machineOf: () => undefined,
    },
    clock: { now: () => now },
    log,
  })
  const ask = (address: string, settings: object = secret, macs: readonly MacAddress[] = [mac]) =>
    guard.admit(decisionFor(settings), makeClient({ macs, address }))
  const pass = (ms: number): void => {
    now += ms
  }
  return { guard, log, ask, pass }
}
const why = ({ kind, reasons }: BootDecision) => `${kind}: ${reasonText(reasons[0])}`

describe('G12 bind: address, where DHCP has seen who holds an address', () => {
  it('G12 the machine is answered at its own address', () => {
    expect(setUp({ leases: { [own]: mac } }).ask(own).kind).toBe('live')
  })

  it('G12 an install script carries the token of its report, so it stays at the machine as well', () => {
    const { ask } = setUp({ leases: { [own]: mac, [other]: strange } })
    const install = { stream: 'fcos-stable', mode: 'install', install: { device: '/dev/sda' } } as const
    expect(ask(other, install).kind).toBe('hold')
    expect(ask(other, { ...install, report: false }).kind).toBe('install')
  })

  it('G12 whoever has another address by DHCP is refused, also when it names its own MAC beside', () => {
    const { ask, log } = setUp({ leases: { [own]: mac, [other]: strange } })
    const said = `hold: its Ignition config goes to its own address alone (boot.tokens.bind), and ${other} belongs to ${strange}`
    expect(why(ask(other))).toBe(said)
    expect(why(ask(other, secret, [strange, mac]))).toBe(said)
    expect(ask(own).kind).toBe('live')
    expect(log.lines).toHaveLength(1)
    expect(log.lines[0]).toMatchObject({ level: 'warn', fields: { address: other, more: 0 } })
  })

  it('G12 an address that nobody has by DHCP is not that of a machine that has one', () => {
    expect(why(setUp({ leases: { [own]: mac } }).ask(other))).toBe(
      `hold: its Ignition config goes to its own address alone (boot.tokens.bind), and it was seen with ${own}, not with ${other}`,
    )
  })
})

describe('G12 bind: address, where DHCP is not ours', () => {
  it('G12 the first address that asks is the one, until its boot has ended', () => {
    const { ask, pass } = setUp()
    expect(ask(own).kind).toBe('live')
    expect(why(ask(other))).toBe(
      `hold: its Ignition config goes to one address alone (boot.tokens.bind), and ${own} is booting as this host since 2026-11-30T00:00:00.000Z: ${other} waits until that boot has ended`,
    )
    pass(bootGoesOnMs - 1)
    expect(ask(own).kind).toBe('live')
    pass(bootGoesOnMs - 1)
    expect(ask(other).kind).toBe('hold')
    pass(1)
    expect(ask(other).kind).toBe('live')
    expect(ask(own).kind).toBe('hold')
  })

  it('G12 a boot that fetches its config goes on', () => {
    const { ask, guard, pass } = setUp()
    ask(own)
    pass(bootGoesOnMs - 1)
    guard.goesOn('n01', own)
    guard.goesOn('n01', other)
    pass(bootGoesOnMs - 1)
    expect(ask(other).kind).toBe('hold')
  })

  it('G12 a boot of before a restart goes on where it was, unless the machine was answered since', () => {
    const start = Date.UTC(2026, 10, 30)
    const attempt = { bootId: makeBootId(1), bootimage: makeBootimage().id, startedAt: start - 9 }
    const [older, newer] = [
      { ...attempt, host: 'n01', address: other, lastSeenAt: start - 2 },
      { ...attempt, host: 'n01', address: own, lastSeenAt: start - 1 },
    ]
    const { ask, guard, pass } = setUp()
    guard.restore([newer, older, { ...attempt, mac: strange, address: own, lastSeenAt: start + 9e9 }])
    expect(why(ask(other))).toContain(`${own} is booting as this host since 2026-11-29T23:59:59.991Z`)
    pass(bootGoesOnMs - 1)
    expect(ask(other).kind).toBe('live')
    guard.restore([newer])
    expect(ask(other).kind).toBe('live')
    expect(guard.addressOf(strange)).toBe(own)
  })

  it('a look takes no note', () => {
    const { ask, guard } = setUp()
    expect(guard.look(decisionFor(secret), makeClient({ address: other })).kind).toBe('live')
    expect(ask(own).kind).toBe('live')
    expect(guard.look(decisionFor(secret), makeClient({ address: other })).kind).toBe('hold')
  })
})

describe('what carries no secret', () => {
  it.each([
    ['nothing of Ignition', { stream: 'fcos-stable', mode: 'live' }],
    ["an admin's own URL", { ...secret, ignition: { url: 'http://192.0.2.9/x' } }],
    ['its own disk', { ...secret, mode: 'local' }],
  ])('goes to every address: %s', (_, settings) => {
    const { ask } = setUp({ leases: { [own]: mac } })
    expect(ask(other, settings).kind).not.toBe('hold')
  })

  it('nor does anything where it is off', () => {
    const { ask } = setUp({ isOn: false, leases: { [own]: mac } })
    expect(ask(other).kind).toBe('live')
  })
})
