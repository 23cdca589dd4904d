import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ServiceError } from '../core/errors.ts'
import type { Dialect } from './dialect.ts'
import { type TemplateName, templateNamesOf } from './template-variables.ts'

/** A template's text with the file it came from. */
export interface TemplateSource {
  readonly path: string
  readonly text: string
}

const suffix = '.liquid'

/**
 * Reads the templates of one dialect, an admin's file in place of the shipped one of the same name. Files that begin
 * with `_` are parts that others include; any other name must be a template's.
 * @throws ServiceError TEMPLATE_INVALID for an unreadable directory or file and for a name that is no template
 */
export function readTemplates(
  dialect: Dialect,
  { templatesDirectory, adminDirectory }: { templatesDirectory: string; adminDirectory?: string },
): ReadonlyMap<string, TemplateSource> {
  const templateNames = templateNamesOf(dialect)
  const shipped = readDirectory(join(templatesDirectory, dialect), { mayBeAbsent: false })
  const own =
    adminDirectory === undefined ? [] : readDirectory(join(adminDirectory, dialect), { mayBeAbsent: true })
  for (const [name, { path }] of own) {
    if (name.startsWith('_') || templateNames.includes(name as TemplateName)) continue
    const message = `${path}: there is no template of this name; there are ${templateNames.join(', ')}, and parts whose name begins with _`
    throw new ServiceError('TEMPLATE_INVALID', message, { path })
  }
  const sources = new Map([...shipped, ...own])
  for (const name of templateNames) {
    if (sources.has(name)) continue
    const message = `${join(templatesDirectory, dialect)}: template ${name}${suffix} is missing`
    throw new ServiceError('TEMPLATE_INVALID', message, { template: name })
  }
  return sources
}

function readDirectory(
  directory: string,
  { mayBeAbsent }: { mayBeAbsent: boolean },
): readonly (readonly [string, TemplateSource])[] {
  try {
    return readdirSync(directory)
      .filter((file) => file.endsWith(suffix))
      .sort()
      .map((file) => {
        const path = join(directory, file)
        return [
          file.slice(0, -suffix.length),
          { path, text: normalized(readFileSync(path, 'utf8')) },
        ] as const
      })
  } catch (cause) {
    if (mayBeAbsent && (cause as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw new ServiceError('TEMPLATE_INVALID', `${directory}: templates cannot be read`, { directory }, cause)
  }
}

/** Editors add a byte order mark or CRs; either would keep iPXE from seeing a script (field case 115). */
function normalized(text: string): string {
  return text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
}
