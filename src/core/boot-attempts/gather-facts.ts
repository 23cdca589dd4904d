import type { AttemptRecord, BootPhase } from '../boot-attempt.ts'
import type { BootEvent, BootId } from '../boot-event.ts'
import type { AttemptFacts, DhcpRun } from './attempt-facts.ts'
import { createFileLog } from './file-log.ts'
import { type FileEvent, type FileRole, fileRoleOf } from './file-role.ts'
import { createJourney, reached, travel } from './journey.ts'
import { createPhaseLog } from './phase-log.ts'

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }
type Dhcp = Extract<BootEvent, { type: 'dhcp-answered' | 'dhcp-unanswered' }>
type Decided = Extract<BootEvent, { type: 'decided' }>

const filesOfLive: readonly string[] = ['kernel', 'initramfs', 'rootfs']

/**
 * Reads the events of an attempt, in the order in which they came. A time that lies before the one of the event before
 * it, from a clock that was set back, counts as that one.
 */
export function gatherFacts(
  record: Pick<AttemptRecord, 'startedAt' | 'endedAt' | 'events'>,
): Mutable<AttemptFacts> {
  const { startedAt } = record
  const journey = createJourney()
  const files = createFileLog()
  const phases = createPhaseLog(startedAt)
  const bootIds: BootId[] = []
  const troubles = new Set<string>()
  const facts: Mutable<AttemptFacts> = {
    startedAt,
    lastAt: startedAt,
    journey,
    bootIds,
    phase: 'dhcp',
    spans: [],
    silences: phases.silences,
    troubles,
    files: files.files,
  }
  let run: Mutable<DhcpRun> | undefined
  /** It was sent to its disk: what its firmware still tries is no phase of this boot. */
  let isSentAway = false

  function dhcp(event: Dhcp, at: number, lastAt: number, count: number): void {
    const { asked } = event
    if (asked?.arch !== undefined) facts.arch ??= asked.arch
    if (asked?.firmware !== undefined) facts.firmware ??= asked.firmware
    if (event.type === 'dhcp-answered' && event.address !== undefined) facts.address = event.address
    if (event.type === 'dhcp-unanswered' && event.address !== undefined) facts.address = event.address
    const isFirmware = asked === undefined || asked.stage === 'firmware'
    if (!isSentAway && (isFirmware || !journey.hasFirmware)) phases.visit('dhcp', at, true)
    else if (!isSentAway && journey.level < reached.script) phases.visit('loader', at)
    if (!isFirmware) facts.loaderAskedAt ??= at
    if (asked === undefined || !isFirmware) return
    if (run?.xid !== asked.xid || run.via !== asked.via) {
      // An ACK on 4011 has an id of its own and belongs to the run before it.
      if (run === undefined || asked.message === 'discover') {
        run = {
          via: asked.via,
          xid: asked.xid,
          startedAt: at,
          lastAt,
          offers: 0,
          acknowledged: 0,
          askedTypeZero: 0,
        }
      }
    }
    run.lastAt = Math.max(run.lastAt, lastAt)
    if (event.type === 'dhcp-unanswered') {
      if (event.chosen === undefined) return
      run.chosen = event.chosen
      run.chosenAt = lastAt
      return
    }
    if (event.role !== 'boot-server') run.role = event.role
    run.target = event.target ?? run.target
    run.decision = event.decision ?? run.decision
    if (event.message === 'offer') run.offers += count
    else run.acknowledged += count
    if (event.role === 'boot-server' && asked.bootServerType === 0) run.askedTypeZero += count
  }

  function decided(event: Decided, at: number): void {
    if (!bootIds.includes(event.bootId)) bootIds.push(event.bootId)
    files.restart()
    facts.decision = event
    facts.scriptAt ??= at
    facts.servedAt = undefined
    facts.ignitionAt = undefined
    facts.ignitionRefusal = undefined
    facts.report = undefined
    facts.uuid = event.uuid ?? facts.uuid
    facts.serial = event.serial ?? facts.serial
    facts.address = event.address ?? facts.address
    facts.arch = event.arch ?? facts.arch
    facts.firmware = event.firmware ?? facts.firmware
    facts.loader = event.loader ?? facts.loader
    isSentAway = event.kind === 'local' || event.kind === 'ignore'
    phases.visit('script', at, true)
  }

  function noteServed(at: number): void {
    if (facts.servedAt !== undefined) return
    const { decision } = facts
    if (decision === undefined || (decision.kind !== 'live' && decision.kind !== 'install')) return
    if (!(decision.files ?? filesOfLive).every((role) => isThere(role as FileRole))) return
    if (decision.expects?.includes('ignition') === true && facts.ignitionAt === undefined) {
      phases.visit('ignition', at)
      return
    }
    facts.servedAt = at
    phases.visit('system', at)
  }

  /** What the initramfs fetches says that the machine has what came before. */
  function isThere(role: FileRole): boolean {
    if (files.isWhole(role)) return true
    return (role === 'kernel' || role === 'initramfs') && files.isWhole('rootfs')
  }

  let at = startedAt
  for (const { event, count, lastAt: saidLastAt } of record.events) {
    at = Math.max(at, event.at)
    const lastAt = Math.max(at, saidLastAt)
    if (event.type === 'diagnosed') continue
    phases.alive(at)
    if (count > 1) phases.alive(lastAt)
    switch (event.type) {
      case 'dhcp-answered':
      case 'dhcp-unanswered':
        dhcp(event, at, lastAt, count)
        break
      case 'dhcp-troubled':
        troubles.add(event.trouble)
        break
      case 'decided':
        decided(event, at)
        break
      case 'entry-sent':
        facts.scriptAt ??= at
        facts.address = event.address
        phases.visit('script', at, journey.level < reached.kernel)
        break
      case 'ignition-sent':
        facts.ignitionAt ??= at
        facts.ignitionRefusal = undefined
        facts.address = event.address
        phases.visit(event.system === 'installed' ? 'system' : 'ignition', at)
        break
      case 'token-refused':
        if (event.purpose === 'ignition' && facts.ignitionAt === undefined) {
          facts.ignitionRefusal = { at: lastAt, refusal: event.refusal }
          phases.visit('ignition', at)
        }
        break
      case 'reported':
        if (outweighs(event, facts.report)) facts.report = event
        phases.visit('system', at)
        break
      default: {
        facts.address = event.address ?? facts.address
        const phase = phaseOfFile(event)
        if (phase !== undefined && !isSentAway) phases.visit(phase, at, beginsPhase(phase, journey.level))
        files.note(event, at, lastAt, count)
      }
    }
    travel(journey, event)
    noteServed(lastAt)
  }
  facts.run = run
  facts.phase = phases.phase
  facts.lastAt = phases.lastAt
  facts.spans = phases.spansAt(undefined)
  return facts
}

/** A machine that was installed and then says that it booted has done both; one that failed after all has failed. */
function outweighs(event: Extract<BootEvent, { type: 'reported' }>, before: AttemptFacts['report']): boolean {
  return !(before?.status === 'installed' && event.status === 'booted')
}

function phaseOfFile(event: FileEvent): BootPhase | undefined {
  if (event.type === 'tftp-refused' || (event.type === 'artifact-sent' && event.status >= 400))
    return undefined
  const role = fileRoleOf(event)
  if (role === 'other') return undefined
  // A disk image is to an old installer what a rootfs is to a live system.
  return role === 'disk' ? 'rootfs' : role
}

/** Firmware that is back at its loader, or a loader that fetches the next one because its script says so. */
function beginsPhase(phase: BootPhase, level: number): boolean {
  return phase === 'loader' && level < reached.files
}
