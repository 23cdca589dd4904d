import type { Arch } from './arch.ts'
import type { BootDecision, BootParameters, WantedBootimage } from './boot-decision.ts'
import type { Bootimage } from './bootimage.ts'
import type { Catalog } from './catalog.ts'
import { chooseBootimage } from './choose-bootimage.ts'
import type { BootClient } from './client.ts'
import { type EffectiveSettings, effectiveSettings, type SettingsLayer } from './effective-settings.ts'
import type { InstallRecord } from './fleet.ts'
import type { Host, Inventory } from './host.ts'
import { ignitionUrlProblem, ipxeArgumentProblem, operatorArgumentProblem } from './kernel-argument-rules.ts'
import { legacyDiskImage } from './legacy-disk-image.ts'
import { matchHost } from './match-host.ts'
import { originText, timeText } from './origin-text.ts'
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
}

/** The machine as we know it: its record, what counts for it and why. */
export interface Identification {
  readonly host?: Host
  readonly settings: EffectiveSettings
  /** What it boots for; pins of other architectures do not count. */
  readonly arch?: Arch
  /** Why that one, where the machine said another. */
  readonly archReasons: readonly Reason[]
  /** How it was recognised; never empty. */
  readonly reasons: readonly [Reason, ...Reason[]]
}

type Parts = Identification & { readonly client: BootClient; readonly view: BootView }
type Reasons = readonly [Reason, ...Reason[]]

/** Who the client is and which settings count for it; an unknown machine gets the configured profile or nothing. */
export function identify(client: BootClient, view: BootView): Identification {
  const { inventory, now, oneShots } = view
  const match = matchHost(client, inventory)
  const { unknown } = inventory
  const { arch, archReasons } = archOf(client, match?.host)
  const settings = effectiveSettings({
    inventory,
    host: match?.host,
    unknownProfile: unknown.kind === 'profile' ? unknown.profile : undefined,
    macs: client.macs,
    arch,
    oneShot: match === undefined ? undefined : oneShots?.get(match.host.id),
    firmware: client.firmware,
    now,
  })
  if (match !== undefined) {
    const groups = settings.groups.map(({ name }) => reason('group-matched', { group: name }))
    return { host: match.host, settings, arch, archReasons, reasons: [match.reason, ...groups] }
  }
  const saysNothing = client.macs.length === 0 && client.uuid === undefined && client.serial === undefined
  const stranger = reason(saysNothing ? 'client-unidentified' : 'host-unknown')
  const policy =
    unknown.kind === 'ignore'
      ? reason('unknown-ignored')
      : reason('unknown-gets-profile', { profile: unknown.profile })
  return { settings, arch, archReasons, reasons: [policy, stranger] }
}

/**
 * What a machine boots now, and why. Pure and total: the same client and view give the same decision, and nothing in
 * either makes it throw. Costs a few map lookups, however many hosts there are.
 *
 * `hold` from any place beats everything; then field by field the most specific place (`effectiveSettings`).
 * `chainload` is never decided here: which loader a firmware needs is for the protocol that speaks with firmware.
 */
export function decideBoot(client: BootClient, view: BootView): BootDecision {
  const known = identify(client, view)
  const { settings } = known
  const mode = settings.mode?.value
  const { host, reasons, archReasons } = known
  const parts: Parts = { client, view, host, settings, reasons, archReasons, arch: undefined }
  if (host === undefined && view.inventory.unknown.kind === 'ignore' && mode !== 'hold') {
    return { kind: 'ignore', reasons }
  }
  if (mode === 'hold') return hold(parts, [reason('mode-hold', { why: holdText(settings) })])
  if (settings.profile !== undefined && settings.isProfileMissing) {
    return hold(parts, [reason('profile-missing', { profile: settings.profile.value })])
  }
  switch (mode) {
    case undefined:
      return hold(parts, [reason('mode-not-set')])
    case 'local':
      return local(parts, localReason(settings))
    case 'install':
      return decideInstall(parts, known.arch)
    case 'live':
      return decideFromStream(parts, known.arch)
  }
}

function holdText({ mode, holdReason }: EffectiveSettings): string {
  // What was set at run time gives its reason twice: as one of its own, and as its origin's.
  const where = mode === undefined ? '' : originText({ ...mode.origin, why: undefined })
  return holdReason === undefined ? `no reason given, by ${where}` : `${holdReason.value}, by ${where}`
}

function localReason({ mode, install }: EffectiveSettings): Reason {
  const isByInstall = mode?.origin.kind === 'one-shot' && install.kind === 'over'
  if (isByInstall) return installOverReason(install.record)
  return reason('mode-local', { origin: mode === undefined ? '' : originText(mode.origin) })
}

/** Why an install lets its machine boot from the disk, and what to do where that is not what is wanted (G11). */
function installOverReason(record: InstallRecord): Reason {
  const { host, state, changedAt, changedBy: by, armedAt, armedBy, serves, mostServes, until } = record
  const facts = { host, generation: String(record.generation) }
  if (state === 'exhausted') {
    const limit =
      serves >= mostServes ? `${serves} scripts handed out` : `its time ended at ${timeText(until)}`
    return reason('install-exhausted', { ...facts, limit, at: timeText(armedAt), by: armedBy })
  }
  const code = state === 'disarmed' ? 'install-disarmed' : 'install-done'
  return reason(code, { ...facts, at: timeText(changedAt), by })
}

function local(parts: Parts, why: Reason): BootDecision {
  return { ...base(parts, [why]), kind: 'local', method: parts.settings.localBoot.value }
}

function decideInstall(parts: Parts, arch: Arch | undefined): BootDecision {
  const { host, settings } = parts
  if (host === undefined) {
    const profile = settings.profile?.value ?? ''
    return hold(parts, [reason('unknown-never-installs', { profile })])
  }
  const { install } = settings
  if (install.kind === 'over') return local(parts, installOverReason(install.record))
  const device = settings.installDevice?.value
  if (install.kind === 'none' || device === undefined) return hold(parts, [reason('install-device-missing')])
  const problem = ipxeArgumentProblem(device)
  if (problem !== undefined) return hold(parts, [badArgument(device, problem)])
  return decideFromStream(parts, arch, { device, record: install.record })
}

interface Install {
  readonly device: string
  readonly record: InstallRecord
}

/** Live and install alike: find the bootimage, then hand it out with what the machine needs beside it. */
function decideFromStream(parts: Parts, arch: Arch | undefined, install?: Install): BootDecision {
  const { client, settings, view } = parts
  const refusal = argumentRefusal(settings, install === undefined ? 'live' : 'install')
  if (refusal !== undefined) return hold(parts, [refusal])
  if (settings.stream === undefined) return hold(parts, [reason('stream-not-set')])
  const stream = settings.stream.value
  if (arch === undefined) return hold(parts, [reason('arch-unknown')])

  const { host, archReasons, reasons: known } = parts
  const reasonsSoFar: Reasons = archReasons.length === 0 ? known : [...known, ...archReasons]
  const placed: Parts = { client, view, host, settings, archReasons, reasons: reasonsSoFar, arch }
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
  if (install === undefined) return { ...base(placed, reasons), kind: 'live', bootimage, parameters }
  const { device, record } = install
  const { generation, armedBy: by, source, armedAt } = record
  const at = source === 'admin' ? ` at ${timeText(armedAt)}` : ''
  const armed = reason('install-armed', { generation: String(generation), device, by: `${by}${at}` })
  return { ...base(placed, [...reasons, armed]), kind: 'install', bootimage, parameters, device, generation }
}

/** The host's record stands above what the machine says of itself. */
function archOf(
  client: BootClient,
  host: Host | undefined,
): { readonly arch?: Arch; readonly archReasons: readonly Reason[] } {
  if (host?.arch !== undefined) return { arch: host.arch, archReasons: [] }
  const pi = client.arch === 'x86_64' ? client.macs.find(isRaspberryPi) : undefined
  if (pi === undefined) return { arch: client.arch, archReasons: [] }
  return { arch: 'aarch64', archReasons: [reason('arch-of-raspberry-pi', { mac: pi, arch: 'aarch64' })] }
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

function parametersOf(settings: EffectiveSettings): BootParameters {
  return {
    kernelArguments: settings.kernelArguments.value,
    ignition: settings.ignition?.value,
    report: settings.report?.value,
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
