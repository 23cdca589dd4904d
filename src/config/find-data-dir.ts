import { dirname, resolve } from 'node:path'
import { valueAt } from './config-path.ts'
import { formats } from './formats.ts'
import { maxFileBytes } from './hosts-files.ts'
import { readTextFile } from './read-text-file.ts'
import { readYaml } from './read-yaml.ts'
import { defaultDataDir, startDefaults } from './schema.ts'

export interface DataDirQuery {
  readonly file?: string
  readonly flags: Readonly<Record<string, string | undefined>>
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
}

/** The key at the beginning of a line, in a file that is no YAML as a whole. */
const dataDirLine =
  /^(?:dataDir|'dataDir'|"dataDir")[ \t]*:[ \t]+(?:'([^'\n]+)'|"([^"\\\n]+)"|([^\s'"#{[&*!|>%@`][^\n]*?))[ \t]*(?:[ \t]#.*)?$/m

/**
 * The data directory of a configuration that cannot be loaded: flag, environment, file, default, as far as this one
 * value can be read. `undefined` where nothing says which directory is meant, such as for a file that is not there.
 */
export function findDataDir({ file, flags, env, cwd }: DataDirQuery): string | undefined {
  const named = flags.dataDir ?? (env.PILOTLIGHT_DATA_DIR || undefined)
  if (named !== undefined) return resolve(cwd, named)
  if (file === undefined) return resolve(cwd, startDefaults.dataDir)
  const found = readTextFile(file, maxFileBytes)
  if ('problem' in found) return undefined
  const written = writtenIn(found.text)
  if (written === undefined) return defaultDataDir
  return typeof written === 'string' && formats.path.problem(written) === undefined
    ? resolve(dirname(file), written)
    : undefined
}

function writtenIn(text: string): unknown {
  const yaml = readYaml(text, '')
  if (yaml.problems.length === 0) return valueAt(yaml.value, ['dataDir'])
  const [, ...forms] = dataDirLine.exec(text) ?? []
  return forms.find((form) => form !== undefined)
}
