import { resolve } from 'node:path'
import type { Command } from 'commander'
import { configInvalid } from '../../config/problem.ts'
import { readTextFile } from '../../config/read-text-file.ts'
import { readYaml } from '../../config/read-yaml.ts'
import { ServiceError } from '../../core/errors.ts'
import type { PutRecord } from '../../http/admin/schemas/fleet.ts'
import type { Session } from '../session.ts'

type Spec = PutRecord['spec']

/** What says how a record is to be; `set`, `unset` and the others change what a file says. */
export interface SpecOptions {
  readonly file?: string
  readonly set: readonly string[]
  readonly unset: readonly string[]
}

/** Real records have a few kilobytes; an Ignition config in one may have more. */
const maxSpecBytes = 4 * 1024 * 1024

export function addSpecOptions(command: Command): Command {
  return command
    .option('--file <file>', 'take the record from a YAML or JSON file; - is standard input')
    .option(
      '--set <key=value>',
      'set one field (may be given again); the value is YAML, a dot goes into it: install.device=/dev/sda',
      gathered,
      [],
    )
    .option('--unset <key>', 'take a field away', gathered, [])
}

/**
 * What a change begins with: the record as it is shown (secrets that are not shown are kept by whoever keeps it), or
 * nothing where a file replaces it. The revision that was seen goes along; a record of a file has none.
 */
export function shownRecord(
  { spec = {}, revision }: { readonly spec?: Spec; readonly revision?: number },
  { file }: Pick<SpecOptions, 'file'>,
): { readonly before: Spec; readonly ifRevision?: number } {
  return { before: file === undefined ? spec : {}, ...(revision !== undefined && { ifRevision: revision }) }
}

/**
 * The record that options describe: what was there, or the file, changed field by field.
 * @throws ServiceError USAGE, CONFIG_INVALID with file, line and column of what is no YAML
 */
export async function specFrom(session: Session, before: Spec, options: SpecOptions): Promise<Spec> {
  const base = options.file === undefined ? before : await readSpec(session, options.file)
  const removed = options.unset.reduce((spec, key) => withField(spec, pathOf(key), undefined), base)
  return options.set.reduce((spec, text) => {
    const { path, value } = assignment(text)
    return withField(spec, path, value)
  }, removed)
}

/** @throws ServiceError USAGE, PERMISSION_DENIED */
export async function readInput(session: Session, file: string, maxBytes: number): Promise<string> {
  const { cwd, stdin } = session.context
  if (file === '-') return stdin.readAll(maxBytes)
  const path = resolve(cwd, file)
  const found = readTextFile(path, maxBytes)
  if ('text' in found) return found.text
  throw new ServiceError(
    found.isDenied === true ? 'PERMISSION_DENIED' : 'USAGE',
    `${path} cannot be read: it ${found.problem}`,
    { field: 'file', hint: 'a regular file of UTF-8 text, or - for standard input' },
  )
}

async function readSpec(session: Session, file: string): Promise<Spec> {
  const text = await readInput(session, file, maxSpecBytes)
  const { value, problems } = readYaml(text, file)
  if (problems.length > 0) throw configInvalid(problems, [file])
  if (isObject(value)) return value
  throw new ServiceError('USAGE', `${file} is no record: it must be a mapping of fields`, {
    field: 'file',
    hint: 'write the fields as under `hosts:` in a file of hosts.d, without `id`; `host import` takes whole files',
  })
}

function assignment(text: string): { readonly path: readonly string[]; readonly value: unknown } {
  const at = text.indexOf('=')
  if (at < 1) {
    throw new ServiceError('USAGE', `--set ${text}: there is no key=value in it`, {
      field: 'set',
      hint: "as in --set stream=fcos-stable, or --set 'kernelArguments=[console=ttyS0]'",
    })
  }
  const { value, problems } = readYaml(text.slice(at + 1), '--set')
  const [problem] = problems
  if (problem === undefined) return { path: pathOf(text.slice(0, at)), value: value ?? null }
  throw new ServiceError('USAGE', `--set ${text}: its value ${problem.message}`, {
    field: 'set',
    hint: 'put a value with special characters in quotes of its own: --set \'holdReason="a: b"\'',
  })
}

function pathOf(key: string): readonly string[] {
  const path = key.split('.')
  if (path.every((part) => part !== '')) return path
  throw new ServiceError('USAGE', `${key} is no field`, { field: 'set', hint: 'as in install.device' })
}

/** A copy with one field set, or taken away; mappings on the way are made. */
function withField(spec: Spec, [name = '', ...rest]: readonly string[], value: unknown): Spec {
  const { [name]: before, ...others } = spec
  if (rest.length === 0) return value === undefined ? others : { ...spec, [name]: value }
  if (value === undefined && !isObject(before)) return spec
  return { ...spec, [name]: withField(isObject(before) ? before : {}, rest, value) }
}

function isObject(value: unknown): value is Spec {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** For an option that may be given several times. */
export function gathered(value: string, before: readonly string[]): readonly string[] {
  return [...before, value]
}
