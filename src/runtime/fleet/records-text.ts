import Type, { type Static } from 'typebox'
import { locateProblem } from '../../config/layered-data.ts'
import { groupSchema, hostSchema, profileSchema } from '../../config/machine-schema.ts'
import { problemText } from '../../config/problem.ts'
import { readYaml } from '../../config/read-yaml.ts'
import { closed, list, namedBy } from '../../config/schema-parts.ts'
import { createValidate } from '../../config/validate.ts'
import type { RecordKind } from '../../core/fleet.ts'

const recordsSchema = Type.Object(
  {
    version: Type.Literal(1, { description: 'The version of this format.' }),
    hosts: Type.Optional(list(hostSchema, 'The machines.')),
    groups: Type.Optional(namedBy('name', groupSchema, 'Groups by their names.')),
    profiles: Type.Optional(namedBy('name', profileSchema, 'Profiles by their names.')),
  },
  { ...closed, description: 'Records to take in: a file of the hosts directory, with groups and profiles.' },
)
const validate = createValidate(recordsSchema)

/** A record as a text holds it. */
export interface WrittenRecord {
  readonly kind: RecordKind
  readonly name: string
  readonly spec: Readonly<Record<string, unknown>>
  /** Where it begins, from 1. */
  readonly line: number
}

export interface RecordsText {
  /** Profiles first, then groups, then hosts. */
  readonly records: readonly WrittenRecord[]
  /** Kinds that the text speaks of; of others it says nothing. */
  readonly kinds: readonly RecordKind[]
  /** As lines for people. */
  readonly problems: readonly string[]
  /** What is not among the records because of them, as far as its name can be read. */
  readonly broken: readonly Pick<WrittenRecord, 'kind' | 'name'>[]
}

const mostProblems = 100

/** Reads YAML or JSON as an export writes it. Never throws: whatever the text is, it becomes records or problems. */
export function readRecordsText(text: string, name: string): RecordsText {
  const yaml = readYaml(text, name)
  const found = yaml.problems.length > 0 ? [] : validate(yaml.value)
  const problems = [...yaml.problems, ...found.map((problem) => locateProblem(problem, yaml))]
    .slice(0, mostProblems)
    .map(problemText)
  // What cannot be said to be of one record is of the whole text.
  if (yaml.problems.length > 0 || found.some(({ path }) => path.length < 2)) {
    return { records: [], kinds: [], problems, broken: [] }
  }
  const wrong = new Set(found.map(({ path: [list, key] }) => `${list}/${key}`))
  const { hosts, groups, profiles } = yaml.value as Static<typeof recordsSchema>
  const lineOf = (path: readonly (string | number)[], part?: 'key') => yaml.position(path, part).line ?? 1
  const records: WrittenRecord[] = []
  const broken: Pick<WrittenRecord, 'kind' | 'name'>[] = []
  for (const [kind, all = {}] of [
    ['profile', profiles],
    ['group', groups],
  ] as const) {
    for (const [key, spec] of Object.entries(all)) {
      const path = [`${kind}s`, key]
      if (wrong.has(path.join('/'))) broken.push({ kind, name: key })
      else records.push({ kind, name: key, spec: { ...spec }, line: lineOf(path, 'key') })
    }
  }
  for (const [index, host] of (hosts ?? []).entries()) {
    const path = ['hosts', index]
    if (wrong.has(path.join('/'))) {
      const id: unknown = (host as { readonly id?: unknown } | null)?.id
      if (typeof id === 'string') broken.push({ kind: 'host', name: id })
      continue
    }
    const { id, ...spec } = host
    records.push({ kind: 'host', name: id, spec, line: lineOf(path) })
  }
  return {
    records,
    kinds: [
      ...(profiles === undefined ? [] : (['profile'] as const)),
      ...(groups === undefined ? [] : (['group'] as const)),
      ...(hosts === undefined ? [] : (['host'] as const)),
    ],
    problems,
    broken,
  }
}
