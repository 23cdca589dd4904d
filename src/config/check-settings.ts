import { parseArch } from '../core/arch.ts'
import { ignitionUrlProblem } from '../core/kernel-argument-rules.ts'
import type { ConfigPath } from './config-path.ts'
import { checkInlineIgnition } from './ignition-files.ts'
import type { Reporter } from './layered-data.ts'
import type { RawBootSettings, RawPin } from './machine-schema.ts'
import type { RawConfig } from './schema.ts'
import { suggestion } from './suggest.ts'
import { parseUntil } from './until.ts'

/** What records can refer to. */
export interface KnownNames {
  readonly streams: ReadonlySet<string>
  /** Streams that name a set of loaders for Secure Boot. */
  readonly streamsWithLoaders: ReadonlySet<string>
  readonly profiles: ReadonlySet<string>
  /** The stream that a profile sets, if it does. */
  streamOfProfile(profile: string): string | undefined
}

export function knownNames({ streams, profiles }: Pick<RawConfig, 'streams' | 'profiles'>): KnownNames {
  const withLoaders = Object.entries(streams).filter(([, { loaderSet }]) => loaderSet !== undefined)
  return {
    streams: new Set(Object.keys(streams)),
    streamsWithLoaders: new Set(withLoaders.map(([name]) => name)),
    profiles: new Set(Object.keys(profiles)),
    streamOfProfile: (profile) => (Object.hasOwn(profiles, profile) ? profiles[profile]?.stream : undefined),
  }
}

export interface SettingsContext extends KnownNames {
  readonly report: Reporter
  /** Ms since the epoch. */
  readonly now: number
}

function checkPin(
  pin: RawPin,
  path: ConfigPath,
  { streams, report, now }: Pick<SettingsContext, 'streams' | 'report' | 'now'>,
): void {
  const { release, releases = {}, stream } = pin
  const until = pin.until === undefined ? undefined : parseUntil(pin.until)
  if (until !== undefined && until <= now) {
    const to = release ?? Object.values(releases).join(' and ')
    report.warn([...path, 'pin', 'until'], `the pin to ${to} has ended`)
  }
  if (stream !== undefined && !streams.has(stream)) {
    report.problem(
      [...path, 'pin', 'stream'],
      `there is no stream ${JSON.stringify(stream)}`,
      suggestion(stream, streams),
    )
  }
  const spelt = new Map<string | undefined, string>()
  for (const name of Object.keys(releases)) {
    const other = spelt.get(parseArch(name))
    spelt.set(parseArch(name), name)
    if (other === undefined) continue
    report.problem(
      [...path, 'pin', 'releases', name],
      `is the architecture of ${JSON.stringify(other)} as well, allowed: one release for each`,
      undefined,
      'key',
    )
  }
}

/** Checks what a host, group or profile says against everything else. */
export function checkSettings(
  settings: RawBootSettings & { readonly profile?: string },
  path: ConfigPath,
  { streams, profiles, report, now, ...known }: SettingsContext,
): void {
  const { stream, profile, ignition, mode, pin } = settings
  if (stream !== undefined && !streams.has(stream)) {
    report.problem(
      [...path, 'stream'],
      `there is no stream ${JSON.stringify(stream)}`,
      suggestion(stream, streams),
    )
  }
  if (profile !== undefined && !profiles.has(profile)) {
    report.problem(
      [...path, 'profile'],
      `there is no profile ${JSON.stringify(profile)}`,
      suggestion(profile, profiles),
    )
  }
  const urlProblem =
    ignition?.url === undefined || mode !== 'install'
      ? undefined
      : ignitionUrlProblem(ignition.url, 'install')
  if (urlProblem !== undefined) {
    report.problem([...path, 'ignition', 'url'], `found ${JSON.stringify(ignition?.url)}: ${urlProblem}`)
  }
  checkInlineIgnition(settings, path, report)
  if (pin !== undefined) checkPin(pin, path, { streams, report, now })
  const booted = stream ?? (profile === undefined ? undefined : known.streamOfProfile(profile))
  const lacksShim = booted !== undefined && streams.has(booted) && !known.streamsWithLoaders.has(booted)
  if (settings.secureBoot === true && lacksShim) {
    report.problem(
      [...path, 'secureBoot'],
      `stream ${JSON.stringify(booted)} names no loaderSet, so there is no shim that starts its kernels`,
    )
  }
}
