import type { AttemptId, Diagnosis } from '../../core/boot-attempt.ts'
import type { BootPatternCode } from '../../core/boot-pattern.ts'
import { bootPatternInfos } from '../../core/boot-patterns/patterns.ts'
import type { BootOperations } from '../../http/admin/boot-operations.ts'
import type { Machine, MachineSnapshot } from './machine-snapshot.ts'

/** As many names as people read. */
const mostNamed = 20

/** The table of patterns, whose last boot shows which, and what is told of each of them (G10). */
export function createListPatterns(options: {
  readonly snapshots: { current(): Promise<MachineSnapshot> }
  readonly diagnosisOf: (id: AttemptId) => Diagnosis | undefined
}): BootOperations['listPatterns'] {
  let made: { readonly of: MachineSnapshot; readonly byPattern: ByPattern } | undefined

  function machinesOf(snapshot: MachineSnapshot): ByPattern {
    if (made?.of !== snapshot) made = { of: snapshot, byPattern: byPattern(snapshot.machines) }
    return made.byPattern
  }

  /** A machine that went on meanwhile has another diagnosis, or none. */
  function toldOf({ key, sight }: Machine, code: BootPatternCode) {
    const diagnosis = sight && options.diagnosisOf(sight.attempt)
    if (diagnosis?.code !== code) return []
    return [{ machine: key, text: diagnosis.text, remedy: diagnosis.remedy }]
  }

  return async () => {
    const byCode = machinesOf(await options.snapshots.current())
    return bootPatternInfos.map(({ code, title, text, remedy, cases }) => {
      const machines = byCode.get(code) ?? []
      const named = machines.slice(0, mostNamed)
      return {
        code,
        title,
        text,
        remedy,
        cases: [...cases],
        machines: named.map(({ key }) => key),
        diagnoses: named.flatMap((machine) => toldOf(machine, code)),
        count: machines.length,
      }
    })
  }
}

type ByPattern = ReadonlyMap<BootPatternCode, readonly Machine[]>

function byPattern(machines: readonly Machine[]): ByPattern {
  const found = new Map<BootPatternCode, Machine[]>()
  for (const machine of machines) {
    const { sight } = machine
    if (sight?.pattern === undefined) continue
    const those = found.get(sight.pattern)
    if (those === undefined) found.set(sight.pattern, [machine])
    else those.push(machine)
  }
  return found
}
