import type { VariablesOf } from './template-variables.ts'

type Decided = Omit<VariablesOf<'local'>, 'leave' | 'base_url'>

/**
 * What was decided, for whom and why, as comments at the top of every script (G10). Made here and not by templates,
 * so that an admin's template says it too, and so that equal machines share what a template renders. All text is on
 * the allow-list already.
 */
export function scriptHeader(variables: Decided, bootId: string): string {
  const { decision, stream, release, arch, host, reasons } = variables
  const subject = [decision, stream, release, arch].filter((word) => word !== '').join(' ')
  const lines = [`# Pilotlight: ${subject}`, `# Host: ${host === '' ? 'unknown' : host}, boot ${bootId}`]
  for (const text of reasons) lines.push(`# Reason: ${text}`)
  return `${lines.join('\n')}\n`
}
