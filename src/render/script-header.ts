import type { DecidedVariables } from './decided-variables.ts'

/**
 * What was decided, for whom and why, as comments at the top of every script (G10): the text before and after the boot
 * id. Made here and not by templates, so that an admin's template says it too, and so that equal machines share what a
 * template renders. All text is on the allow-list already.
 */
export function scriptHeader(
  variables: DecidedVariables,
  notes: readonly string[] = [],
): readonly [beforeId: string, afterId: string] {
  const { decision, stream, release, arch, host, reasons } = variables
  const subject = [decision, stream, release, arch].filter((word) => word !== '').join(' ')
  let afterId = '\n'
  for (const text of reasons) afterId += `# Reason: ${text}\n`
  for (const note of notes) afterId += `# ${note}\n`
  return [`# Pilotlight: ${subject}\n# Host: ${host === '' ? 'unknown' : host}, boot `, afterId]
}
