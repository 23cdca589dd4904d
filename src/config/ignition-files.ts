import { basename, dirname, resolve } from 'node:path'
import { type IgnitionProblem, readIgnition } from '../ignition/read-ignition.ts'
import type { ConfigPath } from './config-path.ts'
import { type HostsFile, positionsIn } from './hosts-files.ts'
import { createReporter, type Reporter } from './layered-data.ts'
import type { RawBootSettings } from './machine-schema.ts'
import { type ConfigProblem, problemAt } from './problem.ts'
import { readTextFile } from './read-text-file.ts'
import type { RawConfig } from './schema.ts'

/** Texts of the Ignition files that records name, by absolute path. */
export type IgnitionTexts = ReadonlyMap<string, string>

interface Reference {
  /** Of the key that names the file. */
  readonly path: ConfigPath
  readonly file: string
  readonly isTemplate: boolean
  readonly report: Reporter
}

export interface IgnitionFilesContext {
  readonly hosts: readonly HostsFile[]
  readonly absolute: (path: ConfigPath, written: string) => string
  readonly display: (path: string) => string
  readonly report: Reporter
  /** Gets every path that was looked at. */
  readonly files: string[]
  readonly problems: ConfigProblem[]
  readonly warnings: ConfigProblem[]
}

const maxBytes = 1024 * 1024

/**
 * Reads every Ignition file once and checks it, as the template it is or is not. What is wrong inside of it is told with
 * its own line and column; a file that cannot be had, at the key that names it.
 */
export function readIgnitionFiles(raw: RawConfig, context: IgnitionFilesContext): IgnitionTexts {
  const { display, files, problems, warnings } = context
  const texts = new Map<string, string>()
  const checked = new Set<string>()
  for (const { path, file, isTemplate, report } of references(raw, context)) {
    const key = `${isTemplate} ${file}`
    if (checked.has(key)) continue
    checked.add(key)
    if (!texts.has(file)) {
      files.push(file)
      const found = readTextFile(file, maxBytes)
      if ('problem' in found) {
        report.problem(path, `the Ignition file ${display(file)} ${found.problem}`)
        continue
      }
      texts.set(file, found.text)
    }
    const read = readIgnition(texts.get(file) ?? '', { isTemplate, fileName: basename(file) })
    problems.push(...read.problems.map((problem) => inFile(problem, display(file))))
    warnings.push(...read.warnings.map((problem) => inFile(problem, display(file))))
  }
  return texts
}

function references(
  { profiles, groups }: RawConfig,
  { hosts, absolute, report, problems, warnings }: IgnitionFilesContext,
): readonly Reference[] {
  const found: Reference[] = []
  const add = (
    { ignition }: RawBootSettings,
    record: ConfigPath,
    place: (path: ConfigPath, written: string) => string,
    reporter: Reporter,
  ) => {
    if (ignition?.file === undefined) return
    const path: ConfigPath = [...record, 'ignition', 'file']
    const isTemplate = ignition.template !== false
    found.push({ path, file: place(path, ignition.file), isTemplate, report: reporter })
  }
  for (const [name, profile] of Object.entries(profiles)) add(profile, ['profiles', name], absolute, report)
  for (const [name, group] of Object.entries(groups)) add(group, ['groups', name], absolute, report)
  for (const file of hosts) {
    const reporter = createReporter(positionsIn(file), problems, warnings)
    const beside = (_: ConfigPath, written: string) => resolve(dirname(file.path), written)
    for (const [index, host] of file.hosts.entries()) add(host, ['hosts', index], beside, reporter)
  }
  return found
}

function inFile({ line, column, path, message, hint }: IgnitionProblem, file: string): ConfigProblem {
  return { ...problemAt({ file, line, column }, [], message, hint), path }
}

/** The same for a text that stands in a record itself. */
export function checkInlineIgnition(
  { ignition }: RawBootSettings,
  record: ConfigPath,
  report: Reporter,
): void {
  if (ignition?.inline === undefined) return
  const { problems, warnings } = readIgnition(ignition.inline, { isTemplate: ignition.template !== false })
  const path: ConfigPath = [...record, 'ignition', 'inline']
  const said = ({ line, column, path: inside, message }: IgnitionProblem) =>
    `line ${line}, column ${column} of the text: ${inside === '' ? '' : `${inside}: `}${message}`
  for (const problem of problems) report.problem(path, said(problem), problem.hint)
  for (const warning of warnings) report.warn(path, said(warning), warning.hint)
}
