const notAllowed = /[^A-Za-z0-9 ._:@/,=+()-]+/g
const longest = 300

/**
 * Text for an `echo` or a comment: everything outside the allow-list becomes `_`, so that no text, wherever it came
 * from, can end a line, end a command, expand or continue (field cases 117, 118).
 */
export function scriptText(text: string): string {
  return text.slice(0, longest).replace(notAllowed, '_').trim()
}

const notInFileName = /[^A-Za-z0-9._+-]+/g

/**
 * The last part of an artifact URL. It is for people alone (the digest says which file it is), so what would need
 * escaping is replaced: loaders disagree about escapes. `.sig` at the end asks for the signature of a file, so no file
 * of ours has it.
 */
export function urlFileName(name: string): string {
  const safe = name.slice(-200).replace(notInFileName, '_')
  if (/^\.*$/.test(safe)) return 'file'
  return safe.endsWith('.sig') ? `${safe}_` : safe
}
