import { ignitionUrlProblem } from '../core/kernel-argument-rules.ts'
import type { ConfigPath } from './config-path.ts'
import type { Reporter } from './layered-data.ts'
import type { RawBootSettings } from './machine-schema.ts'
import { suggestion } from './suggest.ts'
import { parseUntil } from './until.ts'

export interface SettingsContext {
  readonly streams: ReadonlySet<string>
  readonly profiles: ReadonlySet<string>
  readonly report: Reporter
  /** Ms since the epoch. */
  readonly now: number
}

/** Checks what a host, group or profile says against everything else. */
export function checkSettings(
  settings: RawBootSettings & { readonly profile?: string },
  path: ConfigPath,
  { streams, profiles, report, now }: SettingsContext,
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
  if (ignition !== undefined && ignition.url === undefined) {
    report.warn(
      [...path, 'ignition'],
      'only ignition.url reaches a machine in this version',
      undefined,
      'key',
    )
  }
  const until = pin?.until === undefined ? undefined : parseUntil(pin.until)
  if (until !== undefined && until <= now) {
    report.warn([...path, 'pin', 'until'], `the pin to ${pin?.release} has ended`)
  }
}
