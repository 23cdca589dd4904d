import type { BootDecision } from '../../core/boot-decision.ts'
import { decideBoot, identify } from '../../core/decide-boot.ts'
import { effectiveValues } from '../../core/effective-values.ts'
import { runTimeSettingId } from '../../core/fleet.ts'
import type { Host } from '../../core/host.ts'
import { installRecordOf } from '../../core/install-of-machine.ts'
import { formatIpv4 } from '../../core/ipv4.ts'
import { originText } from '../../core/origin-text.ts'
import { reasonText } from '../../core/reason.ts'
import type { BootSummary } from '../../http/admin/schemas/boots.ts'
import type { HostDetail, HostSummary, ReportSummary } from '../../http/admin/schemas/fleet.ts'
import { clientFromQuery } from '../machine-query.ts'
import { isOfFile } from './find-target.ts'
import type { FleetContext } from './fleet-context.ts'
import type { FactsOfHosts } from './host-list.ts'
import { installSummary } from './install-summary.ts'
import type { PinList } from './pin-list.ts'
import { shownSpec } from './shown-spec.ts'
import { iso, isoIfAny } from './times.ts'

/** What happened to a host, which is not in memory. */
export interface HostHistory {
  readonly boots: readonly BootSummary[]
  readonly reports: readonly ReportSummary[]
}

export interface HostShow {
  summary(host: Host): HostSummary
  detail(host: Host, history: HostHistory, facts: FactsOfHosts): HostDetail
}

/** A host as it is now: what it would boot, why, and where each value comes from. */
export function createHostShow(
  context: Pick<FleetContext, 'memory' | 'view' | 'clock' | 'boots'> & { readonly pins: PinList },
): HostShow {
  const { memory, view, clock, boots, pins } = context

  function decide(host: Host) {
    const current = view()
    const client = clientFromQuery({ host: host.id }, current.inventory)
    return { decision: decideBoot(client, current), known: identify(client, current) }
  }

  function summaryOf(host: Host, { decision, known }: ReturnType<typeof decide>): HostSummary {
    const { id, macs, arch, labels } = host
    const { settings } = known
    const { pin } = settings
    return {
      id,
      macs: [...macs],
      arch,
      labels: { ...labels },
      groups: settings.groups.map(({ name }) => name),
      profile: settings.profile?.value,
      stream: settings.stream?.value,
      mode: settings.mode?.value,
      decision: decision.kind,
      reason: reasonText(decision.reasons[0]),
      release: releaseOf(decision),
      pin: pin && { release: pin.value.release, origin: originText(pin.origin) },
      source: isOfFile(host.origin) ? 'file' : 'api',
      lastSeenAt: isoIfAny(boots.lastSeenAt(host)),
      flags: [...boots.flagsOf(id)],
    }
  }

  function runTimeModeOf(id: string): HostDetail['runTimeMode'] {
    const setting = memory.settings.get(
      runTimeSettingId({ kind: 'mode', target: { kind: 'host', name: id } }),
    )
    if (setting?.kind !== 'mode') return undefined
    const { mode, by, at, reason, until } = setting
    return { mode, by, at: iso(at), reason, until: isoIfAny(until) }
  }

  return {
    summary: (host) => summaryOf(host, decide(host)),
    detail(host, history, facts): HostDetail {
      const decided = decide(host)
      const record = isOfFile(host.origin) ? undefined : memory.records.host.get(host.id)
      const { install, installDevice } = decided.known.settings
      const installRecord =
        install.kind === 'none' ? installRecordOf(host, view().inventory, clock.now()) : install.record
      return {
        ...summaryOf(host, decided),
        uuid: host.uuid,
        serial: host.serial,
        address: host.address === undefined ? undefined : formatIpv4(host.address),
        hostName: host.hostName,
        origin: originText(host.origin),
        spec: record && shownSpec(record.spec),
        revision: record?.revision,
        values: effectiveValues(decided.known.settings).map((value) => ({ ...value })),
        reasons: decided.decision.reasons.map((reason) => ({ code: reason.code, text: reasonText(reason) })),
        pins: pins.ofHost(host.id).map((listed) => pins.show(listed, facts)),
        runTimeMode: runTimeModeOf(host.id),
        install: installRecord && installSummary(installRecord, clock.now(), installDevice?.value),
        boots: [...history.boots],
        reports: [...history.reports],
      }
    },
  }
}

function releaseOf(decision: BootDecision): string | undefined {
  if ('bootimage' in decision) return decision.bootimage.release
  return 'wanted' in decision ? decision.wanted.release : undefined
}
