/** Fields of a line, with how many of its like were left out since the last one. */
export function counted(fields: object, suppressed: number): object {
  return suppressed === 0 ? fields : { ...fields, suppressed }
}
