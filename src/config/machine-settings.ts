import { type Arch, parseArch } from '../core/arch.ts'
import { parseSha256, type Sha256 } from '../core/digest.ts'
import type { BootSettings, Group, Host, Origin, Pin, Profile } from '../core/host.ts'
import { type Ipv4, parseIpv4 } from '../core/ipv4.ts'
import { type MacAddress, parseMac } from '../core/mac.ts'
import { parseUuid, type Uuid } from '../core/uuid.ts'
import type { RawBootSettings, RawGroup, RawHost, RawPin } from './machine-schema.ts'
import { parseUntil } from './until.ts'

/** Turns valid records into the domain's types. `absolute` resolves paths against the file they stand in. */
export type Absolute = (file: string) => string

export function buildHost(raw: RawHost, origin: Origin, absolute: Absolute): Host {
  const { id, macs = [], uuid, serial, arch, address, hostName, labels = {}, profile } = raw
  return {
    ...buildSettings(raw, absolute),
    id,
    macs: macs.map((mac) => parseMac(mac) as MacAddress),
    ...(uuid === undefined ? {} : { uuid: parseUuid(uuid) as Uuid }),
    ...(serial === undefined ? {} : { serial }),
    ...(arch === undefined ? {} : { arch: parseArch(arch) as Arch }),
    ...(address === undefined ? {} : { address: parseIpv4(address) as Ipv4 }),
    ...(hostName === undefined ? {} : { hostName }),
    labels,
    ...(profile === undefined ? {} : { profile }),
    origin,
  }
}

export function buildGroup(name: string, raw: RawGroup, origin: Origin, absolute: Absolute): Group {
  const { match, profile } = raw
  return {
    ...buildSettings(raw, absolute),
    name,
    labels: match.labels,
    ...(profile === undefined ? {} : { profile }),
    origin,
  }
}

export function buildProfile(
  name: string,
  raw: RawBootSettings,
  origin: Origin,
  absolute: Absolute,
): Profile {
  return { ...buildSettings(raw, absolute), name, origin }
}

/** One release for all, or one for each architecture. */
function buildPins({ release, releases = {}, until, ...said }: RawPin): readonly Pin[] {
  const shared = until === undefined ? said : { ...said, until: parseUntil(until) as number }
  if (release !== undefined) return [{ release, ...shared }]
  return Object.entries(releases).map(([arch, of]) => ({
    release: of,
    arch: parseArch(arch) as Arch,
    ...shared,
  }))
}

function buildSettings(raw: RawBootSettings, absolute: Absolute): BootSettings {
  const {
    stream,
    mode,
    pin,
    kernelArguments,
    ignition,
    report,
    install,
    localBoot,
    holdReason,
    platformId,
    rootfs,
    loader,
    secureBoot,
    dhcpStyle,
  } = raw
  const settings: { -readonly [Key in keyof BootSettings]: BootSettings[Key] } = {}
  if (stream !== undefined) settings.stream = stream
  if (mode !== undefined) settings.mode = mode
  if (pin !== undefined) settings.pins = buildPins(pin)
  if (kernelArguments !== undefined) settings.kernelArguments = kernelArguments
  if (ignition !== undefined) {
    settings.ignition =
      ignition.file === undefined ? ignition : { ...ignition, file: absolute(ignition.file) }
  }
  if (report !== undefined) settings.report = report
  if (install !== undefined) settings.install = install
  if (localBoot !== undefined) settings.localBoot = localBoot
  if (holdReason !== undefined) settings.holdReason = holdReason
  if (platformId !== undefined) settings.platformId = platformId
  if (rootfs !== undefined) settings.rootfs = rootfs
  if (raw.extraInitrds !== undefined) {
    settings.extraInitrds = raw.extraInitrds.map(({ path, sha256 }) => ({
      path: absolute(path),
      sha256: parseSha256(sha256) as Sha256,
    }))
  }
  if (loader !== undefined) settings.loader = loader
  if (secureBoot !== undefined) settings.secureBoot = secureBoot
  if (dhcpStyle !== undefined) settings.dhcpStyle = dhcpStyle
  return settings
}
