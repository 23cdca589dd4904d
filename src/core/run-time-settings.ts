import type { SettingsLayer } from './effective-settings.ts'
import { type RunTimeSetting, runTimeSettingId } from './fleet.ts'
import type { Pin } from './host.ts'
import type { MacAddress } from './mac.ts'

/** A setting as one place that speaks of a machine. */
export interface RunTimeLayer extends SettingsLayer {
  readonly setting: RunTimeSetting
}

/** What admins set at run time, found by whom it is for. Pins of one architecture stand before one for all. */
export interface RunTimeIndex {
  readonly byHost: ReadonlyMap<string, readonly RunTimeLayer[]>
  readonly byGroup: ReadonlyMap<string, readonly RunTimeLayer[]>
  /** Of hosts whose record has gone: what was said of them stays with their MACs (DESIGN §2). */
  readonly byMac: ReadonlyMap<MacAddress, readonly RunTimeLayer[]>
}

export const nothingSetAtRunTime: RunTimeIndex = { byHost: new Map(), byGroup: new Map(), byMac: new Map() }

/** A setting as a place among others: who set it, when and why is its origin. */
export function runTimeLayer(setting: RunTimeSetting): RunTimeLayer {
  const { target, by, at, reason } = setting
  const origin = { ...target, by, at, ...(reason === undefined ? {} : { why: reason }) }
  if (setting.kind === 'pin') return { setting, origin, settings: { pins: [pinOf(setting)] } }
  const holdReason = setting.mode === 'hold' && reason !== undefined ? { holdReason: reason } : {}
  return { setting, origin, settings: { mode: setting.mode, ...holdReason } }
}

function pinOf({
  release,
  arch,
  stream,
  reason,
  until,
}: Extract<RunTimeSetting, { readonly kind: 'pin' }>): Pin {
  return {
    release,
    ...(arch === undefined ? {} : { arch }),
    ...(stream === undefined ? {} : { stream }),
    ...(reason === undefined ? {} : { reason }),
    ...(until === undefined ? {} : { until }),
  }
}

/**
 * In the order in which they are asked: an architecture's own pin, the pin for all, the mode. Of two hosts that had the
 * same MAC, the last word comes first; the rest of the order is there to be the same everywhere.
 */
export function inLayerOrder(layers: readonly RunTimeLayer[]): readonly RunTimeLayer[] {
  return [...layers].sort(
    (a, b) => rankOf(a) - rankOf(b) || b.setting.at - a.setting.at || byId(a.setting, b.setting),
  )
}

function byId(a: RunTimeSetting, b: RunTimeSetting): number {
  return runTimeSettingId(a) < runTimeSettingId(b) ? -1 : 1
}

function rankOf({ setting }: RunTimeLayer): number {
  if (setting.kind === 'mode') return 2
  return setting.arch === undefined ? 1 : 0
}

/** Whether a setting still counts; a pin that is over is told, a mode that is over is as if it had never been set. */
export function isOver({ setting }: RunTimeLayer, now: number): boolean {
  return setting.until !== undefined && now >= setting.until
}
