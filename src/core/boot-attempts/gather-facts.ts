import type { AttemptRecord, BootPhase, CountedEvent } from '../boot-attempt.ts'
import type { BootEvent, BootId } from '../boot-event.ts'
import type { AttemptFacts } from './attempt-facts.ts'
import { nextRun } from './dhcp-run.ts'
import { FileLog } from './file-log.ts'
import { type FileEvent, type FileRole, fileRoleOf } from './file-role.ts'
import { createJourney, type Journey, reached, travel } from './journey.ts'
import { PhaseLog } from './phase-log.ts'

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }
type Dhcp = Extract<BootEvent, { type: 'dhcp-answered' | 'dhcp-unanswered' }>
type Decided = Extract<BootEvent, { type: 'decided' }>
type Reported = Extract<BootEvent, { type: 'reported' }>

/** When an event came, first and last, and how often. */
interface Times {
  readonly at: number
  readonly lastAt: number
  readonly count: number
}

interface Gathering {
  readonly facts: Mutable<AttemptFacts>
  readonly journey: Journey
  readonly files: FileLog
  readonly phases: PhaseLog
  readonly bootIds: BootId[]
  /** It was sent to its disk: what its firmware still tries is no phase of this boot. */
  isSentAway: boolean
}

const filesOfLive: readonly string[] = ['kernel', 'initramfs', 'rootfs']

/**
 * Reads the events of an attempt, in the order in which they came. A time that lies before the one of the event before
 * it, from a clock that was set back, counts as that one.
 */
export function gatherFacts({
  startedAt,
  events,
}: Pick<AttemptRecord, 'startedAt' | 'events'>): AttemptFacts {
  const gathering = begin(startedAt)
  let at = startedAt
  for (const entry of events) at = noteEntry(gathering, entry, at)
  const { facts, phases } = gathering
  facts.phase = phases.phase
  facts.lastAt = phases.lastAt
  facts.spans = phases.spans
  facts.silences = phases.silences
  return facts
}

function begin(startedAt: number): Gathering {
  const journey = createJourney()
  const files = new FileLog()
  const bootIds: BootId[] = []
  const facts: Mutable<AttemptFacts> = {
    startedAt,
    lastAt: startedAt,
    journey,
    bootIds,
    uuid: undefined,
    serial: undefined,
    address: undefined,
    arch: undefined,
    firmware: undefined,
    loader: undefined,
    phase: 'dhcp',
    spans: [],
    silences: {},
    run: undefined,
    isLoopTold: false,
    isOnlyDecided: true,
    decisions: 0,
    loaderAskedAt: undefined,
    decision: undefined,
    scriptAt: undefined,
    files: files.files,
    servedAt: undefined,
    ignitionAt: undefined,
    ignitionRefusal: undefined,
    report: undefined,
  }
  return { facts, journey, files, phases: new PhaseLog(startedAt), bootIds, isSentAway: false }
}

/** Returns the time that the event counts with. */
function noteEntry(
  gathering: Gathering,
  { event, count, lastAt: said }: CountedEvent,
  after: number,
): number {
  if (event.type === 'diagnosed') return after
  const at = Math.max(after, event.at)
  const times = { at, lastAt: Math.max(at, said), count }
  gathering.phases.alive(at)
  if (count > 1) gathering.phases.alive(times.lastAt)
  if (event.type === 'decided') gathering.facts.decisions += count
  else gathering.facts.isOnlyDecided = false
  noteEvent(gathering, event, times)
  travel(gathering.journey, event)
  if (gathering.facts.decision !== undefined) noteServed(gathering, times.lastAt)
  return at
}

function noteEvent(
  gathering: Gathering,
  event: Exclude<BootEvent, { type: 'diagnosed' }>,
  times: Times,
): void {
  const { facts, phases } = gathering
  const { at } = times
  switch (event.type) {
    case 'dhcp-answered':
    case 'dhcp-unanswered':
      noteDhcp(gathering, event, times)
      break
    case 'dhcp-troubled':
      if (event.trouble === 'loop-suspected') facts.isLoopTold = true
      break
    case 'decided':
      noteDecided(gathering, event, at)
      break
    case 'entry-sent':
      facts.scriptAt ??= at
      facts.address = event.address
      phases.visit('script', at, gathering.journey.level < reached.kernel)
      break
    case 'ignition-sent':
      noteBoot(gathering, event)
      facts.ignitionAt ??= at
      facts.ignitionRefusal = undefined
      facts.address = event.address
      phases.visit(event.system === 'installed' ? 'system' : 'ignition', at)
      break
    case 'token-refused':
      if (event.purpose === 'ignition' && facts.ignitionAt === undefined) {
        facts.ignitionRefusal = { at: times.lastAt, refusal: event.refusal }
        phases.visit('ignition', at)
      }
      break
    case 'reported':
      noteBoot(gathering, event)
      if (outweighs(event, facts.report)) facts.report = event
      // The token of a report stands in its config alone: it has that, whether or not the fetch was seen.
      facts.ignitionAt ??= at
      facts.ignitionRefusal = undefined
      phases.visit('system', at)
      break
    default:
      noteFile(gathering, event, times)
  }
}

function noteDhcp(gathering: Gathering, event: Dhcp, times: Times): void {
  const { facts, phases, journey, isSentAway } = gathering
  const { asked } = event
  if (asked?.arch !== undefined) facts.arch ??= asked.arch
  if (asked?.firmware !== undefined) facts.firmware ??= asked.firmware
  if (event.address !== undefined) facts.address = event.address
  const isFirmware = asked === undefined || asked.stage === 'firmware'
  if (!isFirmware) facts.loaderAskedAt ??= times.at
  if (asked !== undefined && isFirmware) facts.run = nextRun(facts.run, event, asked, times)
  if (isSentAway) return
  if (isFirmware || !journey.hasFirmware) phases.visit('dhcp', times.at, true)
  else if (journey.level < reached.script) phases.visit('loader', times.at)
}

function noteDecided(gathering: Gathering, event: Decided, at: number): void {
  const { facts, phases, files, bootIds } = gathering
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
  gathering.isSentAway = event.kind === 'local' || event.kind === 'ignore'
  phases.visit('script', at, true)
}

/** Of a boot whose decision was lost in a crash, its tokens tell the id. */
function noteBoot({ bootIds }: Gathering, { bootId }: { readonly bootId: BootId }): void {
  if (bootIds.length === 0) bootIds.push(bootId)
}

function noteFile(gathering: Gathering, event: FileEvent, { at, lastAt, count }: Times): void {
  const { facts, phases, files, journey } = gathering
  if (isOfSomebodyElse(gathering, event)) return
  if (event.address !== undefined) facts.address = event.address
  const phase = gathering.isSentAway ? undefined : phaseOfFile(event)
  // Firmware that is back at its loader, or a loader that fetches the next one because its script says so.
  if (phase !== undefined) phases.visit(phase, at, phase === 'loader' && journey.level < reached.files)
  files.note(event, at, lastAt, count)
}

/** A rootfs before any kernel, to another address than its script went to: somebody tries the URL. */
function isOfSomebodyElse({ facts: { decision, files } }: Gathering, event: FileEvent): boolean {
  const role = fileRoleOf(event)
  if (role !== 'rootfs' && role !== 'disk') return false
  if (files.has('kernel') || files.has('initramfs')) return false
  const { address } = event
  return decision?.address !== undefined && address !== undefined && address !== decision.address
}

function phaseOfFile(event: FileEvent): BootPhase | undefined {
  if (event.type === 'tftp-refused' || (event.type === 'artifact-sent' && event.status >= 400))
    return undefined
  const role = fileRoleOf(event)
  if (role === 'other') return undefined
  // A disk image is to an old installer what a rootfs is to a live system.
  return role === 'disk' ? 'rootfs' : role
}

/** A machine that was installed and then says that it booted has done both; one that failed after all has failed. */
function outweighs(event: Reported, before: AttemptFacts['report']): boolean {
  return !(before?.status === 'installed' && event.status === 'booted')
}

function noteServed({ facts, files, phases }: Gathering, at: number): void {
  const { decision, servedAt, ignitionAt } = facts
  if (servedAt !== undefined || decision === undefined) return
  if (decision.kind !== 'live' && decision.kind !== 'install') return
  for (const role of decision.files ?? filesOfLive) if (!isThere(files, role as FileRole)) return
  if (decision.expects?.includes('ignition') === true && ignitionAt === undefined) {
    phases.visit('ignition', at)
    return
  }
  facts.servedAt = at
  phases.visit('system', at)
}

/** What the initramfs fetches says that the machine has what came before. */
function isThere(files: FileLog, role: FileRole): boolean {
  if (files.isWhole(role)) return true
  return (role === 'kernel' || role === 'initramfs') && files.isWhole('rootfs')
}
