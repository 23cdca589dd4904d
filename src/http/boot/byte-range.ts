/** What a Range header asks of a file; `end` is exclusive. */
export type RangeAnswer =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly start: number; readonly end: number }
  | { readonly kind: 'unsatisfiable' }

const whole: RangeAnswer = { kind: 'whole' }
const unsatisfiable: RangeAnswer = { kind: 'unsatisfiable' }
const singleRange = /^\s*bytes=(\d*)-(\d*)\s*$/i

/**
 * Answers a Range header (RFC 9110 §14.2) for a file of `sizeBytes` bytes. What is not one readable byte range is
 * ignored, never refused: a BIOS iPXE sends `bytes=u-u`, another counts into negative numbers after 2 GiB, and a 416
 * would end their boot. So do several ranges: the whole file is a valid answer to them (field case 95).
 */
export function answerRange(header: string | undefined, sizeBytes: number): RangeAnswer {
  const match = header === undefined ? null : singleRange.exec(header)
  if (match === null) return whole
  const [, first = '', last = ''] = match
  if (first === '') {
    if (last === '') return whole
    const length = Math.min(Number(last), sizeBytes)
    return length === 0 ? unsatisfiable : { kind: 'part', start: sizeBytes - length, end: sizeBytes }
  }
  const start = Number(first)
  const end = last === '' ? sizeBytes : Math.min(Number(last) + 1, sizeBytes)
  if (last !== '' && Number(last) < start) return whole
  return start >= sizeBytes ? unsatisfiable : { kind: 'part', start, end }
}
