import { type ExtraOption, encodeExtraOption } from '../core/extra-dhcp-option.ts'
import type { DhcpOption } from './options.ts'

export type ExtraOptionResult =
  | { readonly option: DhcpOption }
  | { readonly option?: undefined; readonly problem: string }

/** Reads an extra option, or says in a sentence what is wrong with it. */
export function parseExtraOption(extra: ExtraOption): ExtraOptionResult {
  const encoded = encodeExtraOption(extra)
  if (encoded.bytes === undefined) return { problem: encoded.problem }
  return { option: { code: extra.code, data: encoded.bytes } }
}
