import type { Effective } from './boot-decision.ts'
import type { EffectiveSettings } from './effective-settings.ts'
import type { ExtraInitrd, IgnitionSource, Pin } from './host.ts'
import { originText, timeText } from './origin-text.ts'

export interface EffectiveValue {
  readonly field: string
  readonly value: string
  readonly origin: string
}

/** Every effective value as text with the place it came from, in the order an admin reads them; for `explain`. */
export function effectiveValues(settings: EffectiveSettings): readonly EffectiveValue[] {
  const values: EffectiveValue[] = []
  function add<T>(field: string, effective: Effective<T> | undefined, text: (value: T) => string): void {
    if (effective === undefined) return
    const value = text(effective.value)
    const { why } = effective.origin
    // What was set at run time has its reason in both.
    const origin =
      why !== undefined && value.includes(why) ? { ...effective.origin, why: undefined } : effective.origin
    values.push({ field, value, origin: originText(origin) })
  }
  add('profile', settings.profile, String)
  add('stream', settings.stream, String)
  add('mode', settings.mode, String)
  add('holdReason', settings.holdReason, String)
  add('pin', settings.pin, pinText)
  for (const expired of settings.expiredPins) add('pin (expired)', expired, pinText)
  add('kernelArguments', settings.kernelArguments, (list) => list.join(' '))
  add('ignition', settings.ignition, ignitionText)
  add('report', settings.report, String)
  add('install.device', settings.installDevice, String)
  add('install.generation', settings.installGeneration, String)
  add('localBoot', settings.localBoot, String)
  add('platformId', settings.platformId, String)
  add('rootfs', settings.rootfs, String)
  add('extraInitrds', settings.extraInitrds, (list) => list.map(initrdText).join(' '))
  add('loader', settings.loader, String)
  add('secureBoot', settings.secureBoot, String)
  add('dhcpStyle', settings.dhcpStyle, String)
  return values
}

function pinText({ release, arch, stream, reason, until }: Pin): string {
  const of = stream === undefined ? '' : ` of ${stream}`
  const on = arch === undefined ? '' : ` on ${arch}`
  const end = until === undefined ? '' : ` until ${timeText(until)}`
  return `${release}${of}${on}${end}${reason === undefined ? '' : ` (${reason})`}`
}

/** An inline config may hold secrets, so only its presence is told. */
function ignitionText({ url, file }: IgnitionSource): string {
  return url ?? file ?? '(inline)'
}

function initrdText({ path, sha256 }: ExtraInitrd): string {
  return `${path}@${sha256.slice(0, 16)}`
}
