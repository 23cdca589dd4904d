import { type RunTimeSetting, runTimeSettingId } from './fleet.ts'
import type { MacAddress } from './mac.ts'
import { inLayerOrder, type RunTimeIndex, type RunTimeLayer, runTimeLayer } from './run-time-settings.ts'

/** What was set at run time, by whom it is for; each change costs as much as its target has settings. */
export interface RunTimeSettings {
  /** The same maps, whatever is put or removed. */
  readonly index: RunTimeIndex
  put(setting: RunTimeSetting): void
  /** What it was; `undefined` when there was none. */
  remove(id: string): RunTimeSetting | undefined
  all(): Iterable<RunTimeSetting>
  hostCame(host: string): void
  hostWent(host: string): void
  /** Any hosts may have come or gone. */
  hostsChanged(): void
}

export function createRunTimeSettings(isThere: (host: string) => boolean): RunTimeSettings {
  const settings = new Map<string, RunTimeLayer>()
  const byHost = new Map<string, readonly RunTimeLayer[]>()
  const byGroup = new Map<string, readonly RunTimeLayer[]>()
  const byMac = new Map<MacAddress, readonly RunTimeLayer[]>()

  const placesOf = (kind: 'host' | 'group') => (kind === 'host' ? byHost : byGroup)

  /** What was said of a host that has gone stays with the MACs that it had. */
  function leaveToMacs(layers: readonly RunTimeLayer[]): void {
    for (const layer of layers) {
      for (const mac of layer.setting.macs ?? []) {
        byMac.set(mac, inLayerOrder([...(byMac.get(mac) ?? []), layer]))
      }
    }
  }

  function takeFromMacs(layers: readonly RunTimeLayer[]): void {
    for (const layer of layers) {
      for (const mac of layer.setting.macs ?? []) {
        const others = byMac.get(mac)?.filter((other) => other !== layer) ?? []
        if (others.length === 0) byMac.delete(mac)
        else byMac.set(mac, others)
      }
    }
  }

  return {
    index: { byHost, byGroup, byMac },
    put(setting) {
      const { kind, name } = setting.target
      const layer = runTimeLayer(setting)
      settings.set(runTimeSettingId(setting), layer)
      const places = placesOf(kind)
      places.set(name, inLayerOrder([...(places.get(name) ?? []), layer]))
      if (kind === 'host' && !isThere(name)) leaveToMacs([layer])
    },
    remove(id) {
      const layer = settings.get(id)
      if (layer === undefined) return undefined
      settings.delete(id)
      const { kind, name } = layer.setting.target
      const places = placesOf(kind)
      const others = places.get(name)?.filter((other) => other !== layer) ?? []
      if (others.length === 0) places.delete(name)
      else places.set(name, others)
      takeFromMacs([layer])
      return layer.setting
    },
    *all() {
      for (const { setting } of settings.values()) yield setting
    },
    hostCame: (host) => takeFromMacs(byHost.get(host) ?? []),
    hostWent: (host) => leaveToMacs(byHost.get(host) ?? []),
    hostsChanged() {
      byMac.clear()
      for (const [host, layers] of byHost) if (!isThere(host)) leaveToMacs(layers)
    },
  }
}
