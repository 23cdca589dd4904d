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
  readonly stream?: Setting<'stream'>
  /** `hold` when any place says so: it beats everything. */
  readonly mode?: Setting<'mode'>
  readonly holdReason?: Setting<'holdReason'>
  readonly pin?: Setting<'pin'>
  /** More specific than `pin`, but over; they do not count. */
  readonly expiredPins: readonly Effective<Pin>[]
  readonly kernelArguments: Setting<'kernelArguments'>
  readonly ignition?: Setting<'ignition'>
  readonly installDevice?: Effective<string>
  readonly installGeneration: Effective<number>
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
  /** Absent: an unknown machine, which gets `unknownProfile` and nothing else; groups select hosts only. */
  readonly host?: Host
  readonly unknownProfile?: string
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
 * Resolves every setting by itself, the most specific place first: one-shot, host, groups in the inventory's order,
 * profile, default (DESIGN §7, field case 152). `install.device` and `install.generation` are two settings, so that a
 * profile can name the device and a host its generation.
 */
export function effectiveSettings(query: SettingsQuery): EffectiveSettings {
  const { inventory, host, unknownProfile, oneShot, firmware, now } = query
  const groups = host === undefined ? [] : inventory.groupIndex.groupsOf(host)
  const profile = profileName(host, groups, unknownProfile)
  const profileRecord = profile === undefined ? undefined : inventory.profiles.get(profile.value)

  const layers: SettingsLayer[] = []
  if (oneShot !== undefined) layers.push(oneShot)
  if (host !== undefined) layers.push({ settings: host, origin: host.origin })
  for (const group of groups) layers.push({ settings: group, origin: group.origin })
  if (profileRecord !== undefined) layers.push({ settings: profileRecord, origin: profileRecord.origin })

  const holding = layers.find(({ settings }) => settings.mode === 'hold')
  const { pin, expiredPins } = pinInForce(layers, now)
  return {
    profile,
    isProfileMissing: profile !== undefined && profileRecord === undefined,
    groups,
    stream: mostSpecific(layers, 'stream'),
    mode: holding === undefined ? mostSpecific(layers, 'mode') : { value: 'hold', origin: holding.origin },
    holdReason: mostSpecific(holding === undefined ? layers : [holding, ...layers], 'holdReason'),
    pin,
    expiredPins,
    kernelArguments: mostSpecific(layers, 'kernelArguments') ?? noList,
    ignition: mostSpecific(layers, 'ignition'),
    installDevice: installSetting(layers, 'device'),
    installGeneration: installSetting(layers, 'generation') ?? firstGeneration,
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

/** An expired pin does not count: the next place that pins, pins. */
function pinInForce(
  layers: readonly SettingsLayer[],
  now: number,
): { readonly pin?: Effective<Pin>; readonly expiredPins: readonly Effective<Pin>[] } {
  const expiredPins: Effective<Pin>[] = []
  for (const { settings, origin } of layers) {
    const { pin } = settings
    if (pin === undefined) continue
    if (pin.until === undefined || now < pin.until) return { pin: { value: pin, origin }, expiredPins }
    expiredPins.push({ value: pin, origin })
  }
  return { expiredPins }
}
