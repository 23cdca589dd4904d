/** The word that differs least, or that one of the two begins with the other (`warning`, `warn`). */
export function nearestWord(found: string, words: Iterable<string>): string | undefined {
  const wanted = found.toLowerCase()
  let best: string | undefined
  let bestDistance = Number.POSITIVE_INFINITY
  let begun: string | undefined
  for (const word of words) {
    if (isBeginning(wanted, word.toLowerCase())) begun ??= word
    // In a short word one slip is much: "foo" is not "boot".
    const limit = Math.min(3, Math.max(1, Math.floor(word.length / 3)))
    if (Math.abs(word.length - found.length) > limit) continue
    const distance = editDistance(wanted, word.toLowerCase())
    if (distance <= limit && distance < bestDistance) {
      best = word
      bestDistance = distance
    }
  }
  return best ?? begun
}

/** Whether one of the two is the beginning of the other, and long enough to say something. */
function isBeginning(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  return short.length >= 3 && long.length <= 64 && long.startsWith(short)
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row[j] = Math.min(
        at(previous, j) + 1,
        at(row, j - 1) + 1,
        at(previous, j - 1) + (isSame ? 0 : 1),
        isSwap ? at(beforePrevious, j - 2) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    beforePrevious = previous
    previous = row
  }
  return at(previous, b.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY
}
