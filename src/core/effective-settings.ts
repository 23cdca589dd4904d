import type { Arch } from './arch.ts'
import type { Effective } from './boot-decision.ts'
import type { Firmware } from './client.ts'
import type {
  BootSettings,
  Group,
  Host,
  InstallSettings,
  Inventory,
  LocalBootMethod,
  Origin,
  Pin,
} from './host.ts'
import { type InstallStanding, installStanding } from './install.ts'
import { installRecordOf } from './install-of-machine.ts'
import type { MacAddress } from './mac.ts'
import { originText } from './origin-text.ts'
import { isOver, type RunTimeLayer } from './run-time-settings.ts'

/** What one place says about a machine. */
export interface SettingsLayer {
  readonly settings: BootSettings
  readonly origin: Origin
}

type Setting<K extends keyof BootSettings> = Effective<NonNullable<BootSettings[K]>>

/** Every value that decides a boot, each with the place it came from. */
export interface EffectiveSettings {
  readonly profile?: Effective<string>
  /** The named profile does not exist. */
  readonly isProfileMissing: boolean
  readonly groups: readonly Group[]
  /** What it follows; that of the pin in force where the pin names one. */
  readonly stream?: Setting<'stream'>
  /** `hold` when any place says so: it beats everything. */
  readonly mode?: Setting<'mode'>
  readonly holdReason?: Setting<'holdReason'>
  readonly pin?: Effective<Pin>
  /** More specific than `pin`, but over; they do not count. */
  readonly expiredPins: readonly Effective<Pin>[]
  readonly kernelArguments: Setting<'kernelArguments'>
  readonly ignition?: Setting<'ignition'>
  readonly report?: Setting<'report'>
  readonly installDevice?: Effective<string>
  readonly installGeneration: Effective<number>
  readonly install: InstallStanding
  readonly localBoot: Setting<'localBoot'>
  readonly platformId: Setting<'platformId'>
  readonly rootfs: Setting<'rootfs'>
  readonly extraInitrds: Setting<'extraInitrds'>
  readonly loader?: Setting<'loader'>
  readonly secureBoot?: Setting<'secureBoot'>
  readonly dhcpStyle?: Setting<'dhcpStyle'>
}

export interface SettingsQuery {
  readonly inventory: Inventory
  /** Absent: an unknown machine, which gets `unknownProfile`, and what was said of a host that had its MAC. */
  readonly host?: Host
  readonly unknownProfile?: string
  /** What the machine asks with; those of the host's record count anyway. */
  readonly macs?: readonly MacAddress[]
  /** Pins of other architectures do not count; absent: only pins for all do. */
  readonly arch?: Arch
  /** Stands above everything else; for decisions as if. */
  readonly oneShot?: SettingsLayer
  readonly firmware: Firmware
  /** Ms since the epoch. */
  readonly now: number
}

const byDefault: Origin = { kind: 'default', name: '' }
const noList = { value: [], origin: byDefault }
const metal = { value: 'metal', origin: byDefault }
const rootfsByUrl = { value: 'url', origin: byDefault } as const
const firstGeneration = { value: 1, origin: byDefault }

/** Leaving network boot as the firmware understands it (field case 122): measured on SeaBIOS and EDK2. */
export function defaultLocalBoot(firmware: Firmware): LocalBootMethod {
  return firmware === 'bios' ? 'sanboot' : 'exit 1'
}

/**
 * Resolves every setting by itself, the most specific place first (DESIGN §7, field case 152): an install that is armed
 * or done, the host at run time, the host's record, each group at run time and by its record in the inventory's order,
 * the profile, the default. `install.device` and `install.generation` are two settings, so that a profile can name the
 * device and a host its generation.
 */
export function effectiveSettings(query: SettingsQuery): EffectiveSettings {
  const { inventory, host, unknownProfile, firmware, now } = query
  const groups = host === undefined ? [] : inventory.groupIndex.groupsOf(host)
  const profile = profileName(host, groups, unknownProfile)
  const profileRecord = profile === undefined ? undefined : inventory.profiles.get(profile.value)
  const layers = layersOf(query, groups)
  if (profileRecord !== undefined) layers.push({ settings: profileRecord, origin: profileRecord.origin })

  const holding = layers.find(({ settings }) => settings.mode === 'hold')
  const said = mostSpecific(layers, 'mode')
  const installGeneration = installSetting(layers, 'generation') ?? firstGeneration
  const install = standingOf(query, said, installGeneration)
  const { pin, expiredPins } = pinInForce(layers, query.arch, now)
  return {
    profile,
    isProfileMissing: profile !== undefined && profileRecord === undefined,
    groups,
    stream:
      pin?.value.stream === undefined
        ? mostSpecific(layers, 'stream')
        : { value: pin.value.stream, origin: pin.origin },
    mode: holding === undefined ? modeInForce(said, install) : { value: 'hold', origin: holding.origin },
    holdReason: mostSpecific(holding === undefined ? layers : [holding, ...layers], 'holdReason'),
    pin,
    expiredPins,
    kernelArguments: mostSpecific(layers, 'kernelArguments') ?? noList,
    ignition: mostSpecific(layers, 'ignition'),
    report: mostSpecific(layers, 'report'),
    installDevice: armedDevice(install) ?? installSetting(layers, 'device'),
    installGeneration,
    install,
    localBoot: mostSpecific(layers, 'localBoot') ?? {
      value: defaultLocalBoot(firmware),
      origin: byDefault,
    },
    platformId: mostSpecific(layers, 'platformId') ?? metal,
    rootfs: mostSpecific(layers, 'rootfs') ?? rootfsByUrl,
    extraInitrds: mostSpecific(layers, 'extraInitrds') ?? noList,
    loader: mostSpecific(layers, 'loader'),
    secureBoot: mostSpecific(layers, 'secureBoot'),
    dhcpStyle: mostSpecific(layers, 'dhcpStyle'),
  }
}

/** Every place that speaks of the machine but its profile, the most specific first. */
function layersOf({ inventory, host, macs, oneShot, now }: SettingsQuery, groups: readonly Group[]) {
  const { byHost, byGroup, byMac } = inventory.runTime
  const layers: SettingsLayer[] = []
  const addRunTime = (more: readonly RunTimeLayer[] = []) => {
    for (const layer of more) if (layer.setting.kind === 'pin' || !isOver(layer, now)) layers.push(layer)
  }
  if (oneShot !== undefined) layers.push(oneShot)
  if (host !== undefined && byHost.size > 0) addRunTime(byHost.get(host.id))
  if (byMac.size > 0)
    for (const mac of new Set([...(macs ?? []), ...(host?.macs ?? [])])) addRunTime(byMac.get(mac))
  if (host !== undefined) layers.push({ settings: host, origin: host.origin })
  for (const group of groups) {
    if (byGroup.size > 0) addRunTime(byGroup.get(group.name))
    layers.push({ settings: group, origin: group.origin })
  }
  return layers
}

/** Unknown machines are never installed, so there is nothing to say of them. */
function standingOf(
  { inventory, host, now }: SettingsQuery,
  mode: Setting<'mode'> | undefined,
  generation: Effective<number>,
): InstallStanding {
  if (host === undefined) return { kind: 'none' }
  const armedBy = () =>
    originText(generation.origin.kind === 'default' && mode !== undefined ? mode.origin : generation.origin)
  const record = installRecordOf(host, inventory, now)
  return installStanding({
    host: host.id,
    ...(record === undefined ? {} : { record }),
    ...(mode === undefined ? {} : { mode: mode.value }),
    generation: generation.value,
    armedBy,
    now,
  })
}

/** What an admin armed, or what came of it, stands above every mode but `hold`. */
function modeInForce(
  said: Setting<'mode'> | undefined,
  install: InstallStanding,
): Setting<'mode'> | undefined {
  if (said?.origin.kind === 'one-shot') return said
  if (install.kind === 'none' || install.record.source === 'file') return said
  const { kind, record } = install
  const name = record.host
  return kind === 'armed'
    ? { value: 'install', origin: { kind: 'one-shot', name, by: record.armedBy, at: record.armedAt } }
    : { value: 'local', origin: { kind: 'one-shot', name, by: record.changedBy, at: record.changedAt } }
}

function armedDevice(install: InstallStanding): Effective<string> | undefined {
  if (install.kind !== 'armed' || install.record.device === undefined) return undefined
  const { host, device, armedBy, armedAt } = install.record
  return { value: device, origin: { kind: 'one-shot', name: host, by: armedBy, at: armedAt } }
}

function profileName(
  host: Host | undefined,
  groups: readonly Group[],
  unknownProfile: string | undefined,
): Effective<string> | undefined {
  if (host === undefined) {
    return unknownProfile === undefined ? undefined : { value: unknownProfile, origin: byDefault }
  }
  if (host.profile !== undefined) return { value: host.profile, origin: host.origin }
  const group = groups.find(({ profile }) => profile !== undefined)
  return group?.profile === undefined ? undefined : { value: group.profile, origin: group.origin }
}

function mostSpecific<K extends keyof BootSettings>(
  layers: readonly SettingsLayer[],
  field: K,
): Setting<K> | undefined {
  for (const { settings, origin } of layers) {
    const value = settings[field]
    if (value !== undefined) return { value: value as NonNullable<BootSettings[K]>, origin }
  }
  return undefined
}

function installSetting<K extends keyof InstallSettings>(
  layers: readonly SettingsLayer[],
  field: K,
): Effective<NonNullable<InstallSettings[K]>> | undefined {
  for (const { settings, origin } of layers) {
    const value = settings.install?.[field]
    if (value !== undefined) return { value: value as NonNullable<InstallSettings[K]>, origin }
  }
  return undefined
}

/**
 * The first place with a pin for this architecture that is not over. Within a place the architecture's own pin stands
 * before one for all.
 */
function pinInForce(
  layers: readonly SettingsLayer[],
  arch: Arch | undefined,
  now: number,
): { readonly pin?: Effective<Pin>; readonly expiredPins: readonly Effective<Pin>[] } {
  const expiredPins: Effective<Pin>[] = []
  for (const { settings, origin } of layers) {
    const { pins } = settings
    if (pins === undefined) continue
    const ours = pins.filter((pin) => pin.arch !== undefined && pin.arch === arch)
    const everyones = pins.filter((pin) => pin.arch === undefined)
    for (const pin of [...ours, ...everyones]) {
      if (pin.until === undefined || now < pin.until) return { pin: { value: pin, origin }, expiredPins }
      expiredPins.push({ value: pin, origin })
    }
  }
  return { expiredPins }
}
