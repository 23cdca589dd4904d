import type { Arch } from './arch.ts'
import type { BootDecision, BootParameters, WantedBootimage } from './boot-decision.ts'
import type { Bootimage } from './bootimage.ts'
import type { Catalog } from './catalog.ts'
import { chooseBootimage } from './choose-bootimage.ts'
import type { BootClient } from './client.ts'
import { type EffectiveSettings, effectiveSettings, type SettingsLayer } from './effective-settings.ts'
import type { Host, Inventory } from './host.ts'
import { ignitionUrlProblem, ipxeArgumentProblem, operatorArgumentProblem } from './kernel-argument-rules.ts'
import { legacyDiskImage } from './legacy-disk-image.ts'
import { matchHost } from './match-host.ts'
import { originText } from './origin-text.ts'
import { isRaspberryPi } from './raspberry-pi.ts'
import { type Reason, reason } from './reason.ts'

/** Everything a decision depends on besides the client. */
export interface BootView {
  readonly catalog: Catalog
  readonly inventory: Inventory
  /** Ms since the epoch. */
  readonly now: number
  /** By host id; stands above everything else that is said of the host. */
  readonly oneShots?: ReadonlyMap<string, SettingsLayer>
  /** Mode `install` yields an install instead of a hold. Never set for a machine that really boots. */
  readonly installArmed?: boolean
}

/** The machine as we know it: its record, what counts for it and why. */
export interface Identification {
  readonly host?: Host
  readonly settings: EffectiveSettings
  /** How it was recognised; never empty. */
  readonly reasons: readonly [Reason, ...Reason[]]
}

type Parts = Identification & { readonly client: BootClient; readonly view: BootView; readonly arch?: Arch }
type Reasons = readonly [Reason, ...Reason[]]

/** Who the client is and which settings count for it; an unknown machine gets the configured profile or nothing. */
export function identify(client: BootClient, view: BootView): Identification {
  const { inventory, now, oneShots } = view
  const match = matchHost(client, inventory)
  const { unknown } = inventory
  const settings = effectiveSettings({
    inventory,
    host: match?.host,
    unknownProfile: unknown.kind === 'profile' ? unknown.profile : undefined,
    oneShot: match === undefined ? undefined : oneShots?.get(match.host.id),
    firmware: client.firmware,
    now,
  })
  if (match !== undefined) {
    const groups = settings.groups.map(({ name }) => reason('group-matched', { group: name }))
    return { host: match.host, settings, reasons: [match.reason, ...groups] }
  }
  const saysNothing = client.macs.length === 0 && client.uuid === undefined && client.serial === undefined
  const stranger = reason(saysNothing ? 'client-unidentified' : 'host-unknown')
  if (unknown.kind === 'ignore') return { settings, reasons: [reason('unknown-ignored'), stranger] }
  return { settings, reasons: [reason('unknown-gets-profile', { profile: unknown.profile }), stranger] }
}

/**
 * What a machine boots now, and why. Pure and total: the same client and view give the same decision, and nothing in
 * either makes it throw. Costs a few map lookups, however many hosts there are.
 *
 * `hold` from any place beats everything; then field by field one-shot, host, groups, profile, default (DESIGN §7).
 * `chainload` is never decided here: which loader a firmware needs is for the protocol that speaks with firmware.
 */
export function decideBoot(client: BootClient, view: BootView): BootDecision {
  const known = identify(client, view)
  if (known.host === undefined && view.inventory.unknown.kind === 'ignore') {
    return { kind: 'ignore', reasons: known.reasons }
  }
  const { host, settings, reasons } = known
  const parts: Parts = { client, view, host, settings, reasons, arch: undefined }
  const mode = settings.mode?.value
  if (mode === 'hold') return hold(parts, [reason('mode-hold', { why: holdText(settings) })])
  if (settings.profile !== undefined && settings.isProfileMissing) {
    return hold(parts, [reason('profile-missing', { profile: settings.profile.value })])
  }
  switch (mode) {
    case undefined:
      return hold(parts, [reason('mode-not-set')])
    case 'local':
      return { ...base(parts, [reason('mode-local')]), kind: 'local', method: settings.localBoot.value }
    case 'install':
      return decideInstall(parts)
    case 'live':
      return decideFromStream(parts)
  }
}

function holdText({ mode, holdReason }: EffectiveSettings): string {
  const where = mode === undefined ? '' : originText(mode.origin)
  return holdReason === undefined ? `no reason given, by ${where}` : `${holdReason.value}, by ${where}`
}

function decideInstall(parts: Parts): BootDecision {
  const { host, settings, view } = parts
  if (host === undefined) {
    const profile = settings.profile?.value ?? ''
    return hold(parts, [reason('unknown-never-installs', { profile })])
  }
  if (view.installArmed !== true) return hold(parts, [reason('install-not-armed')])
  const device = settings.installDevice?.value
  if (device === undefined) return hold(parts, [reason('install-device-missing')])
  const problem = ipxeArgumentProblem(device)
  if (problem !== undefined) return hold(parts, [badArgument(device, problem)])
  return decideFromStream(parts, { device, generation: settings.installGeneration.value })
}

interface Install {
  readonly device: string
  readonly generation: number
}

/** Live and install alike: find the bootimage, then hand it out with what the machine needs beside it. */
function decideFromStream(parts: Parts, install?: Install): BootDecision {
  const { client, settings, view } = parts
  const refusal = argumentRefusal(settings, install === undefined ? 'live' : 'install')
  if (refusal !== undefined) return hold(parts, [refusal])
  if (settings.stream === undefined) return hold(parts, [reason('stream-not-set')])
  const stream = settings.stream.value
  const { arch, reasons: archReasons } = archOf(client, parts.host)
  if (arch === undefined) return hold(parts, [reason('arch-unknown')])

  const { host, reasons: known } = parts
  const reasonsSoFar: Reasons = archReasons.length === 0 ? known : [...known, ...archReasons]
  const placed: Parts = { client, view, host, settings, reasons: reasonsSoFar, arch }
  const choice = chooseBootimage({ stream, arch, pin: settings.pin }, view.catalog)
  if (choice.kind === 'hold') return hold(placed, choice.reasons)
  if (choice.kind === 'wait') return wait(placed, choice.reasons, choice.wanted)
  const { bootimage, reasons } = choice
  const unfit = unfitFor(bootimage, client, install)
  if (unfit !== undefined) return hold(placed, [unfit, ...reasons])
  const missing = missingInitrd(settings, view.catalog)
  if (missing !== undefined) {
    return wait(placed, [missing, ...reasons], { stream, arch, release: bootimage.release })
  }

  const parameters = parametersOf(settings)
  const told: Reasons = [...reasons, ...ignitionNotServed(settings)]
  if (install === undefined) return { ...base(placed, told), kind: 'live', bootimage, parameters }
  const armed = reason('install-armed', {
    generation: String(install.generation),
    device: install.device,
  })
  return { ...base(placed, [...told, armed]), kind: 'install', bootimage, parameters, ...install }
}

/** The host's record stands above what the machine says of itself. */
function archOf(
  client: BootClient,
  host: Host | undefined,
): { readonly arch?: Arch; readonly reasons: readonly Reason[] } {
  if (host?.arch !== undefined) return { arch: host.arch, reasons: [] }
  const pi = client.arch === 'x86_64' ? client.macs.find(isRaspberryPi) : undefined
  if (pi === undefined) return { arch: client.arch, reasons: [] }
  return { arch: 'aarch64', reasons: [reason('arch-of-raspberry-pi', { mac: pi, arch: 'aarch64' })] }
}

function unfitFor(
  bootimage: Bootimage,
  { firmware }: BootClient,
  install: Install | undefined,
): Reason | undefined {
  if (bootimage.kind === 'live') return undefined
  const { release } = bootimage
  if (install === undefined) return reason('legacy-installer-not-live', { release })
  if (legacyDiskImage(bootimage, firmware) !== undefined) return undefined
  return reason('install-image-missing', { release, firmware })
}

/** What no loader could write down is refused on the console, instead of failing where nobody looks. */
function argumentRefusal(settings: EffectiveSettings, mode: 'live' | 'install'): Reason | undefined {
  for (const argument of settings.kernelArguments.value) {
    const problem = operatorArgumentProblem(argument)
    if (problem !== undefined) return badArgument(argument, problem)
  }
  const platformId = settings.platformId.value
  const platformProblem = ipxeArgumentProblem(platformId)
  if (platformProblem !== undefined) return badArgument(platformId, platformProblem)
  const url = settings.ignition?.value.url
  const urlProblem = url === undefined ? undefined : ignitionUrlProblem(url, mode)
  return url === undefined || urlProblem === undefined ? undefined : badArgument(url, urlProblem)
}

function badArgument(argument: string, problem: string): Reason {
  return reason('kernel-argument-invalid', { argument: argument.slice(0, 80), problem })
}

function missingInitrd(settings: EffectiveSettings, catalog: Catalog): Reason | undefined {
  const missing = settings.extraInitrds.value.find(({ sha256 }) => !catalog.files.has(sha256))
  if (missing === undefined) return undefined
  return reason('extra-initrd-missing', { name: missing.path, sha256: missing.sha256 })
}

function ignitionNotServed({ ignition }: EffectiveSettings): readonly Reason[] {
  if (ignition === undefined || ignition.value.url !== undefined) return []
  const kind = ignition.value.file === undefined ? 'text in the configuration' : 'file'
  return [reason('ignition-not-served', { kind })]
}

function parametersOf(settings: EffectiveSettings): BootParameters {
  return {
    kernelArguments: settings.kernelArguments.value,
    ignition: settings.ignition?.value,
    platformId: settings.platformId.value,
    rootfs: settings.rootfs.value,
    extraInitrds: settings.extraInitrds.value,
  }
}

function hold(parts: Parts, reasons: Reasons): BootDecision {
  return { ...base(parts, reasons), kind: 'hold', method: parts.settings.localBoot.value }
}

function wait(parts: Parts, reasons: Reasons, wanted: WantedBootimage): BootDecision {
  return { ...base(parts, reasons), kind: 'wait', wanted }
}

/** What decided comes first; who the machine is and which pins are over come after. */
function base({ host, arch, settings, reasons }: Parts, deciding: Reasons) {
  const { expiredPins, pin } = settings
  const all: [Reason, ...Reason[]] = [...deciding, ...reasons]
  for (const { value } of expiredPins) all.push(reason('pin-expired', { release: value.release }))
  return { reasons: all, host, arch, pin }
}
