import { type Finding, findingsOf } from './finding.ts'

/** A known way in which boots go wrong, and who shows it now. */
export interface PatternFacts {
  /** `loader-loop` … */
  readonly code: string
  readonly title: string
  readonly remedy: string
  /** Host ids or MACs, as many as are worth naming. */
  readonly machines: readonly string[]
  /** All of them. */
  readonly count: number
}

const { ok, warning } = findingsOf('boots')
const mostNames = 5

/** Which machines show a known pattern now. @param patterns of the running service; absent: none was asked */
export function checkBoots(patterns: readonly PatternFacts[] | undefined): readonly Finding[] {
  if (patterns === undefined) return []
  const now = patterns.filter(({ count }) => count > 0)
  if (now.length === 0) {
    return [ok(`no machine shows one of the ${patterns.length} known ways in which boots go wrong`)]
  }
  return now.map(({ title, remedy, machines, count }) => {
    const names = machines.slice(0, mostNames)
    const others = count - names.length
    const who = `${names.join(', ')}${others > 0 ? ` and ${others} others` : ''}`
    return warning(`${count} ${count === 1 ? 'machine' : 'machines'}: ${title}: ${who}`, remedy)
  })
}
