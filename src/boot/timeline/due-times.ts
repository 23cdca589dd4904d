const slotMs = 1000
/** A clock that jumped over more than this makes the slots be looked through one by one. */
const longestWalk = 3600

/** What is to be looked at when a time has come, by seconds. The times of a thing are its own matter: it may come early. */
export function createDueTimes<Thing>() {
  const slots = new Map<number, Thing[]>()
  let walkedTo: number | undefined

  return {
    add(thing: Thing, at: number): void {
      // Never into a slot that was walked over already.
      const slot = Math.max(Math.ceil(at / slotMs), (walkedTo ?? Number.NEGATIVE_INFINITY) + 1)
      const things = slots.get(slot)
      if (things === undefined) slots.set(slot, [thing])
      else things.push(thing)
    },
    /** Everything whose time has come since the last call. */
    take(now: number): readonly Thing[] {
      const last = Math.floor(now / slotMs)
      const first = walkedTo === undefined ? undefined : walkedTo + 1
      const due: Thing[] = []
      if (first === undefined || last - first > longestWalk) {
        for (const [slot, things] of slots) {
          if (slot > last) continue
          due.push(...things)
          slots.delete(slot)
        }
      } else {
        for (let slot = first; slot <= last; slot += 1) {
          const things = slots.get(slot)
          if (things === undefined) continue
          due.push(...things)
          slots.delete(slot)
        }
      }
      if (walkedTo === undefined || last > walkedTo) walkedTo = last
      return due
    },
    /** After the clock went back: everything is due. */
    takeAll(now: number): readonly Thing[] {
      const all = [...slots.values()].flat()
      slots.clear()
      walkedTo = Math.floor(now / slotMs)
      return all
    },
    get size(): number {
      return slots.size
    },
  }
}
