/**
 * How many boots of machines that no record matches begin in one second: a rack that is new has room, a flood of made-up
 * cards does not.
 */
export function createStrangerBudget(perSecond: number): { admits(at: number): boolean } {
  let second = 0
  let begun = 0

  return {
    admits(at) {
      const now = Math.floor(at / 1000)
      if (now !== second) {
        second = now
        begun = 0
      }
      begun += 1
      return begun <= perSecond
    },
  }
}
