import type { BootService } from '../boot/boot-service.ts'
import type { StreamConfig } from '../config/config.ts'
import type { BootDecision } from '../core/boot-decision.ts'
import type { BootClient } from '../core/client.ts'
import { type EffectiveSettings, effectiveSettings } from '../core/effective-settings.ts'
import type { Inventory } from '../core/host.ts'
import type { DhcpAdvice } from '../dhcp/dhcp-advice.ts'
import { secureBootPairs } from '../loaders/loader-names.ts'

export interface DhcpAdviser {
  readonly bootService: Pick<BootService, 'explain'>
  readonly inventory: () => Inventory
  /** Each with the loader set that starts its kernels under Secure Boot. */
  readonly streams: () => ReadonlyMap<string, Pick<StreamConfig, 'loaderSet'>>
}

/** Invented machines push out what is remembered, and cost a few megabytes. */
const mostAdvices = 16_384

/**
 * What DHCP needs of the decision, without a trace: DISCOVERs mint no boot. The boot service gives the very same decision
 * as long as nothing behind it has changed, and so its advice stands as long.
 */
export function createDhcpAdvice(
  adviser: DhcpAdviser,
  now: () => number,
): (client: BootClient) => DhcpAdvice {
  const advices = new Map<string, { readonly decision: BootDecision; readonly advice: DhcpAdvice }>()
  return function advise(client) {
    const decision = adviser.bootService.explain(client)
    const mac = client.macs[0] ?? ''
    const known = advices.get(mac)
    if (known?.decision === decision) return known.advice
    const advice = adviseDhcp(client, decision, adviser, now())
    if (advices.size >= mostAdvices) advices.clear()
    advices.set(mac, { decision, advice })
    return advice
  }
}

function adviseDhcp(
  client: BootClient,
  decided: BootDecision,
  adviser: DhcpAdviser,
  now: number,
): DhcpAdvice {
  const inventory = adviser.inventory()
  const { unknown } = inventory
  const { host, ...decision } = decided
  const settings = effectiveSettings({
    inventory,
    ...(host && { host }),
    ...(unknown.kind === 'profile' && { unknownProfile: unknown.profile }),
    macs: client.macs,
    arch: decision.arch ?? host?.arch ?? client.arch,
    firmware: client.firmware,
    now,
  })
  const loader =
    decision.kind === 'chainload'
      ? decision.loader
      : (shimFor(client, settings, adviser) ?? settings.loader?.value)
  return {
    kind: decision.kind,
    reason: decision.reasons[0].code,
    ...('method' in decision ? { method: decision.method } : {}),
    ...(host === undefined ? {} : { host: host.id }),
    ...(loader === undefined ? {} : { loader }),
    ...(settings.dhcpStyle === undefined ? {} : { style: settings.dhcpStyle.value }),
    ...(host?.address === undefined ? {} : { address: host.address }),
    ...(host?.hostName === undefined ? {} : { hostName: host.hostName }),
  }
}

/** The signed shim of the machine's stream, where Secure Boot is said to be on: no iPXE would be started there. */
function shimFor(
  { arch }: BootClient,
  { secureBoot, stream }: EffectiveSettings,
  { streams }: DhcpAdviser,
): string | undefined {
  if (secureBoot?.value !== true || stream === undefined) return undefined
  const set = streams().get(stream.value)?.loaderSet
  const shim = secureBootPairs.find((pair) => pair.arch === arch)?.shim
  return set === undefined || shim === undefined ? undefined : `${set}/${shim}`
}
