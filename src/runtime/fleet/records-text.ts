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
  /** As lines for people; then there are no records. */
  readonly problems: readonly string[]
}

const mostProblems = 100

/** Reads YAML or JSON as an export writes it. Never throws: whatever the text is, it becomes records or problems. */
export function readRecordsText(text: string, name: string): RecordsText {
  const yaml = readYaml(text, name)
  const problems =
    yaml.problems.length > 0
      ? yaml.problems
      : validate(yaml.value).map((problem) => locateProblem(problem, yaml))
  if (problems.length > 0) {
    return { records: [], kinds: [], problems: problems.slice(0, mostProblems).map(problemText) }
  }
  const { hosts, groups, profiles } = yaml.value as Static<typeof recordsSchema>
  const lineOf = (path: readonly (string | number)[], part?: 'key') => yaml.position(path, part).line ?? 1
  const named = (kind: 'group' | 'profile', all: Readonly<Record<string, object>> = {}) =>
    Object.entries(all).map(
      ([key, spec]): WrittenRecord => ({
        kind,
        name: key,
        spec: { ...spec },
        line: lineOf([`${kind}s`, key], 'key'),
      }),
    )
  return {
    records: [
      ...named('profile', profiles),
      ...named('group', groups),
      ...(hosts ?? []).map(({ id, ...spec }, index): WrittenRecord => {
        return { kind: 'host', name: id, spec, line: lineOf(['hosts', index]) }
      }),
    ],
    kinds: [
      ...(profiles === undefined ? [] : (['profile'] as const)),
      ...(groups === undefined ? [] : (['group'] as const)),
      ...(hosts === undefined ? [] : (['host'] as const)),
    ],
    problems: [],
  }
}
