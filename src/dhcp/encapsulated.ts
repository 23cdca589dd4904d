import { optionCode } from './option-codes.ts'
import type { DhcpOption } from './options.ts'

/**
 * Options inside an option: PXE's in 43, iPXE's in 175. PAD and END as in a packet; END may be missing.
 * What comes after a wrong length is left out, because these values only ever advise.
 */
export function readEncapsulated(data: Uint8Array | undefined): readonly DhcpOption[] {
  const found: DhcpOption[] = []
  if (data === undefined) return found
  let at = 0
  while (at + 1 < data.length) {
    const code = data[at] as number
    if (code === optionCode.end) break
    if (code === optionCode.pad) {
      at += 1
      continue
    }
    const from = at + 2
    const end = from + (data[at + 1] as number)
    if (end > data.length) break
    found.push({ code, data: data.subarray(from, end) })
    at = end
  }
  return found
}
