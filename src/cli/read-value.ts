/** Reads a value of unknown shape. @throws TypeError that names the place and what belongs there */
export type Reader<T> = (value: unknown, place: string) => T

/** More than any answer has, less than what would hurt; an export of a hundred thousand hosts has 20 million. */
const longestText = 64_000_000
const longestList = 100_000

export const text: Reader<string> = (value, place) => {
  if (typeof value !== 'string' || value.length > longestText) throw unlike(place, 'a text')
  return value
}

export const number: Reader<number> = (value, place) => {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw unlike(place, 'a number')
  return value
}

export const truth: Reader<boolean> = (value, place) => {
  if (typeof value !== 'boolean') throw unlike(place, 'true or false')
  return value
}

/** One of a closed set of words. */
export function word<Word extends string>(words: readonly Word[]): Reader<Word> {
  return (value, place) => {
    const found = words.find((candidate) => candidate === value)
    if (found === undefined) throw unlike(place, `one of ${words.join(', ')}`)
    return found
  }
}

export function list<T>(item: Reader<T>): Reader<readonly T[]> {
  return (value, place) => {
    if (!Array.isArray(value) || value.length > longestList) throw unlike(place, 'a list')
    return value.map((entry, index) => item(entry, `${place}[${index}]`))
  }
}

/** What a reader throws. */
export function unlike(place: string, what: string): TypeError {
  return new TypeError(`${place} is not ${what}`)
}
