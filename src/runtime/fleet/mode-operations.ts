import { effectiveSettings } from '../../core/effective-settings.ts'
import { ServiceError } from '../../core/errors.ts'
import {
  type FleetChange,
  type InstallRecord,
  type RunTimeSetting,
  runTimeSettingId,
  type Target,
} from '../../core/fleet.ts'
import { installStateAt, releaseInstall } from '../../core/install.ts'
import { installRecordById } from '../../core/install-of-machine.ts'
import type { ChangeOptions, FleetOperations } from '../../http/admin/fleet-operations.ts'
import type { ReleaseMode, SetMode } from '../../http/admin/schemas/fleet.ts'
import { auditEntry } from './audit-entry.ts'
import type { FleetPlan } from './change-queue.ts'
import { endOf } from './end-of.ts'
import { findTarget, targetText } from './find-target.ts'
import type { FleetContext } from './fleet-context.ts'
import { installChange } from './install-change.ts'
import { iso } from './times.ts'

/** Held, from disk, live: what an admin says of a host or group for a while. */
export function createModeOperations(
  context: Pick<FleetContext, 'queue' | 'memory' | 'view' | 'clock'>,
): Pick<FleetOperations, 'setMode' | 'releaseMode'> {
  const { queue, memory, view, clock } = context

  function installOf({ kind, name }: Target, now: number): InstallRecord | undefined {
    return kind === 'host' ? installRecordById(name, view().inventory, now) : undefined
  }

  /** The install that a host's files ask for, where it boots from its disk because that is over. */
  function overByFile({ kind, name }: Target, now: number): InstallRecord | undefined {
    const { inventory } = view()
    const host = kind === 'host' ? inventory.hostsById.get(name) : undefined
    if (host === undefined) return undefined
    const { install } = effectiveSettings({ inventory, host, arch: host.arch, firmware: 'unknown', now })
    return install.kind === 'over' ? install.record : undefined
  }

  function planSet(body: SetMode, change: ChangeOptions): FleetPlan<void> {
    const now = clock.now()
    const { target, mode, reason, until } = body
    const found = findTarget(target, view().inventory)
    const end = until === undefined ? undefined : endOf(until, now)
    const install = installOf(target, now)
    const isAdmins = mode !== 'hold' && install?.source === 'admin'
    if (isAdmins && installStateAt(install, now) === 'armed') throw isArmed(install, mode)
    // The last word counts: the disk that a done install left it to is not what is wanted now.
    const isReleased = isAdmins && isOver(install, now)
    const setting: RunTimeSetting = {
      kind: 'mode',
      target,
      mode,
      by: change.actor.by,
      at: now,
      ...(reason === undefined ? {} : { reason }),
      ...(end === undefined ? {} : { until: end }),
      ...('macs' in found ? { macs: found.macs } : {}),
    }
    const how = { hold: 'is held', local: 'boots from its disk', live: 'boots live' }[mode]
    return {
      changes: [
        { put: 'setting', setting },
        ...(isReleased
          ? [installChange(releaseInstall(install, { by: change.actor.by, at: now }), view().inventory)]
          : []),
      ],
      audit: [
        auditEntry(change, now, {
          action: 'mode.set',
          target: targetText(target),
          summary: `${target.kind} ${target.name} ${how}${end === undefined ? '' : ` until ${iso(end)}`}`,
          reason,
        }),
      ],
      answer: () => {},
    }
  }

  function planRelease({ target, reason }: ReleaseMode, change: ChangeOptions): FleetPlan<void> {
    const now = clock.now()
    const id = runTimeSettingId({ kind: 'mode', target })
    const mode = memory.settings.get(id)
    const install = installOf(target, now)
    const isInstallOver = install !== undefined && isOver(install, now)
    // What was said of a host that has gone can be taken back; any other name must be one.
    if (mode === undefined && install === undefined) findTarget(target, view().inventory)
    const changes: FleetChange[] = []
    const said: string[] = []
    if (mode?.kind === 'mode') {
      changes.push({ remove: 'setting', id })
      said.push(`${mode.mode}, set by ${mode.by}, is over`)
    }
    if (isInstallOver && install.source === 'admin') {
      changes.push(installChange(releaseInstall(install, { by: change.actor.by, at: now }), view().inventory))
      said.push(`install ${install.generation} counts no more`)
    }
    if (changes.length === 0) throw nothingToRelease(target, overByFile(target, now))
    return {
      changes,
      audit: [
        auditEntry(change, now, {
          action: 'mode.release',
          target: targetText(target),
          summary: `${target.kind} ${target.name}: ${said.join('; ')}`,
          reason,
        }),
      ],
      answer: () => {},
    }
  }

  return {
    setMode: (body, change) => queue.change(() => planSet(body, change), change),
    releaseMode: (body, change) => queue.change(() => planRelease(body, change), change),
  }
}

/** Done or given up: its host boots from its disk because of it. */
function isOver(install: InstallRecord, now: number): boolean {
  const state = installStateAt(install, now)
  return state === 'installed' || state === 'exhausted'
}

/** An install that an admin armed stands above what is set at run time, so the word would do nothing. */
function isArmed({ host, generation, armedBy }: InstallRecord, mode: string): ServiceError {
  return new ServiceError(
    'CONFLICT',
    `install ${generation} of host ${host}, armed by ${armedBy}, stands above mode ${mode}`,
    { field: 'mode', hint: `pilotlight install ${host} --disarm takes it back; hold stands above it` },
  )
}

function nothingToRelease(
  { kind, name }: ReleaseMode['target'],
  over: InstallRecord | undefined,
): ServiceError {
  return over === undefined
    ? new ServiceError('NOT_FOUND', `no mode was set at run time for ${kind} ${name}`, {
        field: 'target',
        hint: 'what records and files say is changed there',
      })
    : new ServiceError('CONFLICT', `host ${name} boots from its disk because ${overText(over)}`, {
        hint: `change its mode in the file, raise install.generation there or say pilotlight install ${name} to install it again, or set a mode here`,
      })
}

function overText({ state, serves, mostServes, changedAt, changedBy }: InstallRecord): string {
  if (state === 'installed') return 'its files had it installed'
  if (state === 'disarmed')
    return `the install that its files ask for was taken back at ${iso(changedAt)} by ${changedBy}`
  const limit =
    serves >= mostServes ? `its limit of ${mostServes} scripts was reached` : 'its time has run out'
  return `the install that its files ask for has ended: ${limit}, and nothing said that it is done`
}
