import { median, spread, table } from './measure.mjs'

/** Collects what was measured against a target and tells all of it at the end. Asserts nothing. */
export function createReport() {
  const rows = []
  return {
    /** `value`: one figure a round. `target`: `>= 0.7`, `< 64`. */
    add(what, { value, target, digits = 2 }) {
      rows.push([what, spread(value, digits), target, isReached(median(value), target) ? 'yes' : 'no'])
    },
    text: () => table(['what', 'measured', 'target', 'reached'], rows),
  }
}

function isReached(value, target) {
  const [sign, bound] = target.split(' ')
  if (sign === '>=') return value >= Number(bound)
  return sign === '<=' ? value <= Number(bound) : value < Number(bound)
}
