import { bootPatternInfos } from '../../core/boot-patterns/patterns.ts'
import type { BootOperations } from '../../http/admin/boot-operations.ts'
import type { Machine, MachineSnapshot } from './machine-snapshot.ts'

/** As many names as people read. */
const mostNamed = 20

/** The table of patterns, and whose last boot shows which. */
export function createListPatterns(options: {
  readonly snapshots: { current(): Promise<MachineSnapshot> }
}): BootOperations['listPatterns'] {
  let made: { readonly of: MachineSnapshot; readonly byPattern: ReadonlyMap<string, string[]> } | undefined

  function machinesOf(snapshot: MachineSnapshot): ReadonlyMap<string, readonly string[]> {
    if (made?.of !== snapshot) made = { of: snapshot, byPattern: byPattern(snapshot.machines) }
    return made.byPattern
  }

  return async () => {
    const byCode = machinesOf(await options.snapshots.current())
    return bootPatternInfos.map(({ code, title, text, remedy, cases }) => {
      const machines = byCode.get(code) ?? []
      return {
        code,
        title,
        text,
        remedy,
        cases: [...cases],
        machines: machines.slice(0, mostNamed),
        count: machines.length,
      }
    })
  }
}

function byPattern(machines: readonly Machine[]): ReadonlyMap<string, string[]> {
  const found = new Map<string, string[]>()
  for (const { key, sight } of machines) {
    if (sight?.pattern === undefined) continue
    const keys = found.get(sight.pattern)
    if (keys === undefined) found.set(sight.pattern, [key])
    else keys.push(key)
  }
  return found
}
