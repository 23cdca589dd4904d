import { formats } from '../../config/formats.ts'
import { type EffectiveSettings, effectiveSettings } from '../../core/effective-settings.ts'
import { ServiceError } from '../../core/errors.ts'
import type { InstallRecord } from '../../core/fleet.ts'
import type { Host } from '../../core/host.ts'
import { installerReports } from '../../core/ignition-serving.ts'
import * as core from '../../core/install.ts'
import { installRecordById, installRecordOf } from '../../core/install-of-machine.ts'
import type { ChangeOptions, FleetOperations } from '../../http/admin/fleet-operations.ts'
import type { ArmInstall, EndInstall, InstallSummary } from '../../http/admin/schemas/fleet.ts'
import { auditEntry } from './audit-entry.ts'
import type { FleetPlan } from './change-queue.ts'
import { endOf } from './end-of.ts'
import { findHost, placeText } from './find-target.ts'
import type { FleetContext } from './fleet-context.ts'
import type { HostList } from './host-list.ts'
import { installChange } from './install-change.ts'
import { installSummary } from './install-summary.ts'
import { nextBootText } from './next-boot-text.ts'
import { compareText } from './page-of.ts'
import { iso } from './times.ts'

/** To disk, once: armed and ended by admins. What nodes tell of it is for `install-progress.ts`. */
export function createInstallOperations(
  context: Pick<FleetContext, 'queue' | 'memory' | 'view' | 'clock'> & { readonly hosts: HostList },
): Pick<FleetOperations, 'listInstalls' | 'armInstall' | 'endInstall'> {
  const { queue, memory, view, clock } = context

  function settingsOf(host: Host, now: number): EffectiveSettings {
    return effectiveSettings({
      inventory: view().inventory,
      host,
      arch: host.arch,
      firmware: 'unknown',
      now,
    })
  }

  function planArm(body: ArmInstall, change: ChangeOptions): FleetPlan<InstallSummary> {
    const now = clock.now()
    const host = findHost(body.host, view().inventory)
    const { device, mostServes, reason } = body
    if (device !== undefined && formats.device.problem(device) !== undefined) throw badDevice(device)
    const settings = settingsOf(host, now)
    const disk = device ?? settings.installDevice?.value
    if (disk === undefined) throw noDevice(host)
    if (settings.stream === undefined) throw noStream(host)
    const before = installRecordOf(host, view().inventory, now)
    const record = core.armInstall(before, settings.installGeneration.value, {
      host: host.id,
      by: change.actor.by,
      at: now,
      device: disk,
      mostServes,
      until: body.until === undefined ? undefined : endOf(body.until, now),
      reason,
    })
    const what = settings.pin?.value.release ?? `what is current in ${settings.stream.value}`
    const held = settings.mode?.value === 'hold' ? '; it is held now, and stays so until it is released' : ''
    return {
      changes: [installChange(record, view().inventory)],
      audit: [
        auditEntry(change, now, {
          action: 'install.arm',
          target: `host/${host.id}`,
          summary: `host ${host.id} installs ${what} to ${disk}: number ${record.generation}, at most ${record.mostServes} scripts until ${iso(record.until)}${held}`,
          reason,
        }),
      ],
      answer: () => ({
        ...installSummary(record, clock.now()),
        next: `${nextBootText(host, view())}${silenceText(host, settings)}`,
      }),
    }
  }

  function summaryOf(record: InstallRecord, now: number): InstallSummary {
    const host = view().inventory.hostsById.get(record.host)
    const device = host && settingsOf(host, now).installDevice
    return installSummary(record, now, device?.value)
  }

  function planEnd({ host: id, as, reason }: EndInstall, change: ChangeOptions): FleetPlan<InstallSummary> {
    const now = clock.now()
    const record = standingRecord(id, now)
    const isDone = record.state === (as === 'installed' ? 'installed' : 'disarmed')
    if (isDone) return { changes: [], audit: [], answer: () => summaryOf(record, now) }
    if (as === 'disarm' && record.state === 'installed') throw isInstalled(record)
    const ended = core.endInstall(record, {
      as: as === 'installed' ? 'installed' : 'disarmed',
      by: change.actor.by,
      at: now,
      reason,
    })
    return {
      changes: [installChange(ended, view().inventory)],
      audit: [
        auditEntry(change, now, {
          action: as === 'installed' ? 'install.done' : 'install.disarm',
          target: `host/${id}`,
          summary: `install ${record.generation} of host ${id} ${as === 'installed' ? 'is done' : 'is not to happen'}`,
          reason,
        }),
      ],
      answer: () => summaryOf(ended, clock.now()),
    }
  }

  /** An install that a file armed may not have been written yet, because nothing happened. */
  function standingRecord(id: string, now: number): InstallRecord {
    const { inventory } = view()
    const host = inventory.hostsById.get(id)
    const standing = host && settingsOf(host, now).install
    const record =
      (standing?.kind === 'none' ? undefined : standing?.record) ?? installRecordById(id, inventory, now)
    if (record !== undefined) return record
    findHost(id, inventory)
    throw new ServiceError('NOT_FOUND', `nothing is to be installed on host ${id}`, {
      field: 'host',
      hint: 'arm it first',
    })
  }

  return {
    async listInstalls() {
      const facts = await context.hosts.facts()
      const now = clock.now()
      const { inventory } = view()
      const known = [...memory.installs.values()].map((record) => {
        const host = inventory.hostsById.get(record.host)
        const standing = host && settingsOf(host, now).install
        return standing?.record ?? record
      })
      // Of what files armed nothing is written before the first script is handed out, nor of what a record of another
      // name says of its machine.
      const unwritten = facts
        .filter(({ host }) => !memory.installs.has(host.id))
        .filter(({ host, mode }) => mode === 'install' || installRecordOf(host, inventory, now) !== undefined)
        .map(({ host }) => settingsOf(host, now).install.record)
        .filter((record) => record !== undefined)
      const current = [...known, ...unwritten]
      return current.sort((a, b) => compareText(a.host, b.host)).map((record) => summaryOf(record, now))
    },
    armInstall: (body, change) => queue.change(() => planArm(body, change), change),
    endInstall: (body, change) => queue.change(() => planEnd(body, change), change),
  }
}

/** Where nothing will say that it is done, an admin has to. */
function silenceText({ id }: Host, { report, extraInitrds }: EffectiveSettings): string {
  if (installerReports({ report: report?.value, extraInitrds: extraInitrds.value })) return ''
  const why = report?.value === false ? 'report: false' : 'extraInitrds'
  return `; it cannot report that it is done (${why}), so say pilotlight install ${id} --done after that, or it installs again`
}

function badDevice(device: string): ServiceError {
  return new ServiceError('USAGE', `device ${JSON.stringify(device)} is no disk`, {
    field: 'device',
    hint: `allowed: ${formats.device.allowed}`,
  })
}

function noDevice(host: Host): ServiceError {
  return new ServiceError('USAGE', `nothing says to which disk host ${host.id} is installed`, {
    field: 'device',
    hint: `name the device, such as /dev/sda, or set install.device for it (${placeText(host.origin)}), its groups or its profile`,
  })
}

function noStream(host: Host): ServiceError {
  return new ServiceError('USAGE', `host ${host.id} follows no stream, so there is nothing to install`, {
    field: 'host',
    hint: `set stream for it (${placeText(host.origin)}), its groups or its profile, or pin it with a stream`,
  })
}

function isInstalled({ host, generation, changedAt, changedBy }: InstallRecord): ServiceError {
  return new ServiceError(
    'CONFLICT',
    `install ${generation} of host ${host} is done already, at ${iso(changedAt)} by ${changedBy}`,
    { hint: 'release the host to have it boot as its settings say' },
  )
}
