import type { DecidedVariables } from './decided-variables.ts'

/**
 * What was decided, for whom and why, as comments at the top of every script (G10). Made here and not by templates,
 * so that an admin's template says it too, and so that equal machines share what a template renders. All text is on
 * the allow-list already.
 */
export function scriptHeader(
  variables: DecidedVariables,
  bootId: string,
  notes: readonly string[] = [],
): string {
  const { decision, stream, release, arch, host, reasons } = variables
  const subject = [decision, stream, release, arch].filter((word) => word !== '').join(' ')
  let header = `# Pilotlight: ${subject}\n# Host: ${host === '' ? 'unknown' : host}, boot ${bootId}\n`
  for (const text of reasons) header += `# Reason: ${text}\n`
  for (const note of notes) header += `# ${note}\n`
  return header
}
