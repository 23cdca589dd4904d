import { type Finding, findingsOf } from './finding.ts'

/** What is told of one machine that shows a pattern, wherever it is told of. */
export interface MachineDiagnosis {
  /** Host id or MAC. */
  readonly machine: string
  readonly text: string
  readonly remedy: string
}

/** A known way in which boots go wrong, and who shows it now. */
export interface PatternFacts {
  /** `loader-loop` … */
  readonly code: string
  readonly title: string
  /** What helps in general. */
  readonly remedy: string
  /** Host ids or MACs, as many as are worth naming. */
  readonly machines: readonly string[]
  /** Of these. */
  readonly diagnoses: readonly MachineDiagnosis[]
  /** All of them. */
  readonly count: number
}

const { ok, warning } = findingsOf('boots')
const mostNames = 5
/** Of one pattern; a hall that lost its power fills no page. */
const mostFindings = 5

/**
 * Which machines show a known pattern now, with the sentence and the remedy that stand with the machine too (G10):
 * machines that are helped by the same are one finding.
 * @param patterns of the running service; absent: none was asked
 */
export function checkBoots(patterns: readonly PatternFacts[] | undefined): readonly Finding[] {
  if (patterns === undefined) return []
  const now = patterns.filter(({ count }) => count > 0)
  if (now.length === 0) {
    return [ok(`no machine shows one of the ${patterns.length} known ways in which boots go wrong`)]
  }
  return now.flatMap(findingsOfPattern)
}

function findingsOfPattern(pattern: PatternFacts): readonly Finding[] {
  const { title, remedy, machines, diagnoses, count } = pattern
  const alike = helpedAlike(diagnoses)
  const [only] = alike
  if (only !== undefined && alike.length === 1 && only.length === machines.length) {
    return [findingOf(title, only, count)]
  }
  const told = alike.slice(0, mostFindings)
  const findings = told.map((those) => findingOf(title, those, those.length))
  const others = count - told.reduce((sum, those) => sum + those.length, 0)
  if (others === 0) return findings
  const isTold = new Set(told.flat().map(({ machine }) => machine))
  const names = machines.filter((machine) => !isTold.has(machine))
  return [...findings, warning(`${machinesText(names, others)}: ${title}`, remedy)]
}

function helpedAlike(diagnoses: readonly MachineDiagnosis[]): readonly (readonly MachineDiagnosis[])[] {
  const byRemedy = new Map<string, MachineDiagnosis[]>()
  for (const diagnosis of diagnoses) {
    const those = byRemedy.get(diagnosis.remedy)
    if (those === undefined) byRemedy.set(diagnosis.remedy, [diagnosis])
    else those.push(diagnosis)
  }
  return [...byRemedy.values()]
}

/** @param count of all that are like them */
function findingOf(title: string, [first, ...more]: readonly MachineDiagnosis[], count: number): Finding {
  if (first === undefined) throw new Error('a finding about no machine')
  const { machine, text, remedy } = first
  if (count === 1) return warning(`${machine}: ${text}`, remedy)
  const names = [machine, ...more.map((one) => one.machine)]
  return warning(`${machinesText(names, count)}: ${title}`, remedy)
}

/** `12 machines (n1, n2, n3, n4, n5 and 7 others)` */
function machinesText(machines: readonly string[], count: number): string {
  const names = machines.slice(0, mostNames)
  const others = count - names.length
  const who = `${names.join(', ')}${others > 0 ? ` and ${others} ${others === 1 ? 'other' : 'others'}` : ''}`
  return `${count} ${count === 1 ? 'machine' : 'machines'} (${who})`
}
