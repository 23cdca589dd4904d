import type { BootEvent, DhcpQuestion } from '../boot-event.ts'
import type { DhcpRun } from './attempt-facts.ts'

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }
type Dhcp = Extract<BootEvent, { type: 'dhcp-answered' | 'dhcp-unanswered' }>

/** The run of DHCP that a packet of firmware belongs to, with what it adds. */
export function nextRun(
  before: DhcpRun | undefined,
  event: Dhcp,
  asked: DhcpQuestion,
  { at, lastAt, count }: { readonly at: number; readonly lastAt: number; readonly count: number },
): DhcpRun {
  const run = isSameRun(before, asked) ? before : beginRun(asked, at, before?.asked ?? 0)
  run.lastAt = Math.max(run.lastAt, lastAt)
  if (event.type === 'dhcp-unanswered') {
    if (event.chosen === undefined) return run
    run.chosen = event.chosen
    run.chosenAt = lastAt
    return run
  }
  if (event.role !== 'boot-server') run.role = event.role
  run.target = event.target ?? run.target
  run.decision = event.decision ?? run.decision
  if (event.message === 'offer') {
    run.offers += count
    run.asked += count
  } else run.acknowledged += count
  if (event.role === 'boot-server' && asked.bootServerType === 0) run.askedTypeZero += count
  return run
}

/** What is asked on port 4011 has an id of its own and belongs to the run before it. */
function isSameRun(run: DhcpRun | undefined, asked: DhcpQuestion): run is Mutable<DhcpRun> {
  if (run === undefined) return false
  return asked.message !== 'discover' || (run.xid === asked.xid && run.via === asked.via)
}

function beginRun({ via, xid }: DhcpQuestion, at: number, askedBefore: number): Mutable<DhcpRun> {
  return {
    via,
    xid,
    role: undefined,
    target: undefined,
    decision: undefined,
    startedAt: at,
    lastAt: at,
    offers: 0,
    asked: askedBefore,
    acknowledged: 0,
    askedTypeZero: 0,
    chosen: undefined,
    chosenAt: undefined,
  }
}
