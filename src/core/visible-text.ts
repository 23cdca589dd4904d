/**
 * Control, format (bidi overrides, zero-width), line and paragraph separators, lone surrogates: what can move a
 * cursor, recolour a terminal, forge a second log line or hide a word.
 */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`
  if (code <= 0xffff) return `\\u${code.toString(16).padStart(4, '0')}`
  return `\\u{${code.toString(16)}}`
}

/**
 * Text that came from outside, safe to put into a log line or on a terminal: every invisible character is spelt
 * out (`\x1b`), and what exceeds `maxLength` characters is cut with an ellipsis. A backslash stays as it is, because
 * this is for reading, not for reading back.
 */
export function visibleText(text: string, maxLength = 2048): string {
  const bounded = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text
  return bounded.replace(invisible, escapeCharacter)
}
