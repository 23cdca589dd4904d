import { type Field, invalidField, text } from './field.ts'

/** A release as a document spells it; it becomes part of ids and scripts, so its characters are bounded. */
export function releaseName(field: Field): string {
  const name = text(field, 'a release version')
  if (!/^[A-Za-z0-9][A-Za-z0-9._+~-]{0,99}$/.test(name))
    throw invalidField(field, 'a release version (letters, digits and ._+~-)')
  return name
}
