import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type ConfigPath, pathText } from './config-path.ts'
import { type Located, locateProblem } from './layered-data.ts'
import { hostsFileSchema, type RawHost } from './machine-schema.ts'
import { type ConfigProblem, type Position, problemAt } from './problem.ts'
import { readTextFile, reasonOf } from './read-text-file.ts'
import { readYaml } from './read-yaml.ts'
import { createValidate } from './validate.ts'

export const maxFileBytes = 4 * 1024 * 1024
const maxFiles = 10_000

/** One file of the hosts directory. */
export interface HostsFile {
  /** Absolute. */
  readonly path: string
  /** As shown to people. */
  readonly file: string
  readonly text: string
  /** Empty when there are problems. */
  readonly hosts: readonly RawHost[]
  /** Where each host begins. */
  readonly places: readonly Position[]
  /** Where values stand that a warning may be about, by path: the tree that knows it is not kept. */
  readonly marks: ReadonlyMap<string, Position>
  readonly problems: readonly ConfigProblem[]
}

export interface HostsDirectory {
  readonly files: readonly HostsFile[]
  readonly problems: readonly ConfigProblem[]
  readonly warnings: readonly ConfigProblem[]
}

const validateHostsFile = createValidate(hostsFileSchema)

/**
 * Reads every `*.yaml` of a directory, by name. Files that are as they were in `before` are not parsed again: a
 * hundred thousand hosts take seconds.
 */
export function readHostsDirectory(options: {
  readonly directory: string
  readonly display: (path: string) => string
  /** Where the directory is configured, for problems with itself. */
  readonly configuredAt: Position
  readonly before?: HostsDirectory
}): HostsDirectory {
  const { directory, display, configuredAt } = options
  const configPath = ['hosts', 'directory']
  const before = new Map(options.before?.files.map((file) => [file.path, file]))
  let names: readonly string[]
  try {
    names = readdirSync(directory).sort()
  } catch (cause) {
    const problem = problemAt(configuredAt, configPath, `${display(directory)} ${reasonOf(cause)}`)
    return { files: [], problems: [problem], warnings: [] }
  }
  // Names with a dot in front are editors' and Kubernetes' own.
  const wanted = names.filter((name) => name.endsWith('.yaml') && !name.startsWith('.'))
  if (wanted.length > maxFiles) {
    const problem = problemAt(configuredAt, configPath, `found ${wanted.length} files, allowed: ${maxFiles}`)
    return { files: [], problems: [problem], warnings: [] }
  }
  const files: HostsFile[] = []
  const problems: ConfigProblem[] = []
  for (const name of wanted) {
    const path = join(directory, name)
    const file = display(path)
    const found = readTextFile(path, maxFileBytes)
    if ('problem' in found) {
      problems.push(problemAt({ file, line: 1, column: 1 }, [], found.problem))
      continue
    }
    const known = before.get(path)
    const parsed = known?.text === found.text ? known : parseHostsFile(path, file, found.text)
    files.push(parsed)
    problems.push(...parsed.problems)
  }
  const ignored = names.filter((name) => /\.(?:yml|json)$/.test(name) && !name.startsWith('.'))
  const warnings = ignored.map((name) =>
    problemAt(
      { file: display(join(directory, name)), line: 1, column: 1 },
      [],
      'is not read: only *.yaml files are',
    ),
  )
  return { files, problems, warnings }
}

export function parseHostsFile(path: string, file: string, text: string): HostsFile {
  const yaml = readYaml(text, file)
  const refused = { path, file, text, hosts: [], places: [], marks: new Map() }
  if (yaml.problems.length > 0) return { ...refused, problems: yaml.problems }
  const problems = validateHostsFile(yaml.value).map((problem) => locateProblem(problem, yaml))
  if (problems.length > 0) return { ...refused, problems }
  const { hosts } = yaml.value as { readonly hosts: readonly RawHost[] }
  const places = hosts.map((_, index) => yaml.position(['hosts', index]))
  return { path, file, text, hosts, places, marks: marksIn(hosts, yaml), problems: [] }
}

function marksIn(hosts: readonly RawHost[], yaml: Located): ReadonlyMap<string, Position> {
  const marks = new Map<string, Position>()
  const mark = (path: ConfigPath, part?: 'key' | 'value') => {
    marks.set(pathText(path), yaml.position(path, part))
  }
  for (const [index, { pin, ignition, address }] of hosts.entries()) {
    const path: ConfigPath = ['hosts', index]
    if (pin?.until !== undefined) mark([...path, 'pin', 'until'])
    if (ignition?.inline !== undefined) mark([...path, 'ignition', 'inline'])
    if (address !== undefined) mark([...path, 'address'])
  }
  return marks
}

/**
 * Positions in a file that was parsed earlier. The tree behind them is many times the size of the text, so it is
 * built again for those who need it: there is a mistake to show, and nobody is waiting.
 */
export function positionsIn({ file, text }: HostsFile): Located {
  let yaml: Located | undefined
  const parsed = () => {
    yaml ??= readYaml(text, file)
    return yaml
  }
  return {
    position: (path: ConfigPath, part) => parsed().position(path, part),
    sourceOf: (path) => parsed().sourceOf(path),
  }
}
