import type { RecordKind } from '../core/fleet.ts'
import type { RecordOf } from '../core/fleet-index.ts'
import type { Origin } from '../core/host.ts'
import { parseMac } from '../core/mac.ts'
import { checkAddress, type HostsContext } from './check-hosts.ts'
import { checkSettings } from './check-settings.ts'
import { type ConfigPath, pathText } from './config-path.ts'
import { formats } from './formats.ts'
import type { Reporter } from './layered-data.ts'
import {
  groupSchema,
  hostRecordSchema,
  profileSchema,
  type RawGroup,
  type RawHost,
} from './machine-schema.ts'
import { buildGroup, buildHost, buildProfile } from './machine-settings.ts'
import { createValidate } from './validate.ts'

/** One mistake in a record. */
export interface RecordProblem {
  /** `macs[0]`, `ignition.file`; empty for the record as a whole. */
  readonly path: string
  readonly message: string
  readonly hint?: string
}

export type ParsedRecord<Kind extends RecordKind> =
  | { readonly record: RecordOf[Kind]; readonly warnings: readonly RecordProblem[] }
  | { readonly problems: readonly RecordProblem[] }

export interface RecordContext extends HostsContext {
  /** Who says so, and when (ms since the epoch). */
  readonly by: string
  readonly at: number
}

const validators = {
  host: createValidate(hostRecordSchema),
  group: createValidate(groupSchema),
  profile: createValidate(profileSchema),
}

/**
 * A record of the API as the domain's host, group or profile, by the rules of the files, with the same problems: what
 * was found, what is allowed, what was probably meant. That no other host has its marks is for the caller to say.
 */
export function parseRecord<Kind extends RecordKind>(
  kind: Kind,
  name: string,
  spec: Readonly<Record<string, unknown>>,
  context: RecordContext,
): ParsedRecord<Kind> {
  const problems: RecordProblem[] = []
  const warnings: RecordProblem[] = []
  if (formats.name.problem(name) !== undefined) {
    problems.push({
      path: '',
      message: `found the name ${JSON.stringify(name)}, allowed: ${formats.name.allowed}`,
    })
  }
  for (const { path, message, hint } of validators[kind](spec)) problems.push(problemOf(path, message, hint))
  if (problems.length > 0) return { problems }

  const report: Reporter = {
    problem: (path, message, hint) => problems.push(problemOf(path, message, hint)),
    warn: (path, message, hint) => warnings.push(problemOf(path, message, hint)),
  }
  const said = spec as unknown as RawHost & RawGroup
  checkSettings(said, [], { ...context, report })
  checkFilesOfTheServer(said, report)
  if (kind === 'host') {
    checkMacs(said, report)
    checkAddress(said, [], context, report)
  }
  if (problems.length > 0) return { problems }
  return { record: build(kind, name, said, context) as RecordOf[Kind], warnings }
}

/** @returns the record as it is kept, without looking at what else there is: it was checked when it was made. */
export function readRecord<Kind extends RecordKind>(
  kind: Kind,
  name: string,
  spec: Readonly<Record<string, unknown>>,
  who: Pick<RecordContext, 'by' | 'at'>,
): { readonly record: RecordOf[Kind] } | { readonly problems: readonly RecordProblem[] } {
  const problems = validators[kind](spec).map(({ path, message, hint }) => problemOf(path, message, hint))
  if (problems.length > 0) return { problems }
  return { record: build(kind, name, spec as unknown as RawHost & RawGroup, who) as RecordOf[Kind] }
}

function build(
  kind: RecordKind,
  name: string,
  said: RawHost & RawGroup,
  { by, at }: Pick<RecordContext, 'by' | 'at'>,
): RecordOf[RecordKind] {
  const origin: Origin = { kind, name, by, at }
  // No path is taken from such a record, so there is nothing to resolve.
  const asItIs = (path: string) => path
  if (kind === 'host') return buildHost({ ...said, id: name }, origin, asItIs)
  if (kind === 'group') return buildGroup(name, said, origin, asItIs)
  return buildProfile(name, said, origin, asItIs)
}

/** Whoever may write records must not thereby read the files of this server (DESIGN §11). */
function checkFilesOfTheServer({ ignition, extraInitrds }: RawHost, report: Reporter): void {
  if (ignition?.file !== undefined) {
    report.problem(
      ['ignition', 'file'],
      'would have a file of this server read by the API, allowed: url, inline',
      'put the config itself into ignition.inline, or declare the record in a file of the hosts directory or in pilotlight.yaml',
    )
  }
  if (extraInitrds !== undefined) {
    report.problem(
      ['extraInitrds'],
      'would have files of this server read by the API',
      'declare the record in a file of the hosts directory, or in pilotlight.yaml',
    )
  }
}

function checkMacs({ macs = [] }: RawHost, report: Reporter): void {
  const seen = new Set<string>()
  for (const [index, text] of macs.entries()) {
    const mac = parseMac(text) ?? text
    if (seen.has(mac)) report.problem(['macs', index], `MAC ${mac} is there twice`)
    seen.add(mac)
  }
}

function problemOf(path: ConfigPath, message: string, hint: string | undefined): RecordProblem {
  return { path: pathText(path), message, ...(hint === undefined ? {} : { hint }) }
}
