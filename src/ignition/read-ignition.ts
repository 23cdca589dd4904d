import { nearestWord } from '../core/nearest-word.ts'
import { compileIgnitionTemplate, type IgnitionTemplate, type TextFault } from './ignition-template.ts'
import type { IgnitionVariables } from './ignition-variables.ts'
import { type JsonNode, parseJsonText } from './json-text.ts'
import { shapeFindings } from './shape.ts'
import { ignition2 } from './spec-2.ts'
import { ignition3 } from './spec-3.ts'

/** Ignition 2 is what releases before 4.6 of RHCOS take, 3 what all others do. */
export type IgnitionMajor = 2 | 3

/** Stable versions that are served; experimental ones change from release to release. */
export const ignitionVersions: readonly string[] = [
  ...['3.0.0', '3.1.0', '3.2.0', '3.3.0', '3.4.0', '3.5.0'],
  ...['2.0.0', '2.1.0', '2.2.0', '2.3.0', '2.4.0'],
]

/** A config that was found good. */
export interface IgnitionConfig {
  readonly version: string
  readonly major: IgnitionMajor
  /**
   * The JSON text for one boot.
   * @throws Error saying what is missing, such as a label that the host lacks
   */
  render(variables: IgnitionVariables): string
}

/** A mistake or a warning in the text of a config; line and column count from 1. */
export interface IgnitionProblem {
  readonly line: number
  readonly column: number
  /** `storage.files[0].mode`; empty for the text as a whole. */
  readonly path: string
  readonly message: string
  readonly hint?: string
}

export interface ReadIgnition {
  /** Absent when there are problems. */
  readonly config?: IgnitionConfig
  readonly problems: readonly IgnitionProblem[]
  readonly warnings: readonly IgnitionProblem[]
}

export interface ReadIgnitionOptions {
  /** Whether Liquid is read in it; a setting of the config, on unless an admin says otherwise. */
  readonly isTemplate: boolean
  /** Its name, for commands that are suggested. */
  readonly fileName?: string
}

/** Reads and checks an Ignition config. Never throws: whatever the text is, it becomes a config or problems. */
export function readIgnition(source: string, options: ReadIgnitionOptions): ReadIgnition {
  const text = source.replace(/^\uFEFF/, '')
  const foreign = foreignFormat(text, options.fileName)
  if (foreign !== undefined) return failed(text, foreign)
  const compiled = options.isTemplate ? compileIgnitionTemplate(text) : { template: asItIs(text) }
  if ('fault' in compiled) return failed(text, compiled.fault)
  const { render, sample } = compiled.template
  const parsed = parseJsonText(sample.text)
  if ('fault' in parsed) {
    const { fault, offset } = parsed
    return failed(text, { message: `cannot be read as JSON: ${fault}`, offset: sample.sourceOf(offset) })
  }
  return check(parsed.root, { text, render, sourceOf: sample.sourceOf, options })
}

interface Readable {
  readonly text: string
  readonly render: IgnitionTemplate['render']
  readonly sourceOf: (offset: number) => number
  readonly options: ReadIgnitionOptions
}

function check(root: JsonNode, { text, render, sourceOf, options }: Readable): ReadIgnition {
  if (root.members?.has('variant') === true && !root.members.has('ignition')) {
    return failed(text, butane(root.members.get('variant')?.node.value, options.fileName))
  }
  const ignition = root.members?.get('ignition')?.node
  const versionNode = ignition?.members?.get('version')?.node
  const version = versionNode?.value
  if (typeof version !== 'string' || !ignitionVersions.includes(version)) {
    const found =
      version === undefined || version === null ? 'is missing' : `found ${JSON.stringify(version)}`
    const offset = (versionNode ?? ignition ?? root).offset
    const problem = { message: `${found}, allowed: ${ignitionVersions.join(', ')}`, offset: sourceOf(offset) }
    return { problems: [placed(text, 'ignition.version', problem)], warnings: [] }
  }
  const major = version.startsWith('2.') ? 2 : 3
  const findings = shapeFindings(root, major === 2 ? ignition2 : ignition3).map(
    ({ path, message, offset, isWarning, wrongKey }) => {
      const meant = wrongKey === undefined ? undefined : nearestWord(wrongKey.key, wrongKey.known)
      const hint = meant === undefined ? hintFor(path) : { hint: `did you mean ${JSON.stringify(meant)}?` }
      return { isWarning, problem: placed(text, path, { message, offset: sourceOf(offset), ...hint }) }
    },
  )
  const problems = findings.filter(({ isWarning }) => !isWarning).map(({ problem }) => problem)
  const warnings = findings.filter(({ isWarning }) => isWarning).map(({ problem }) => problem)
  return { ...(problems.length === 0 ? { config: { version, major, render } } : {}), problems, warnings }
}

function hintFor(path: string): { readonly hint?: string } {
  return path.endsWith('.mode') ? { hint: 'JSON has no octal numbers: 0644 is 420, 0600 is 384' } : {}
}

function asItIs(text: string): IgnitionTemplate {
  return { render: () => text, sample: { text, sourceOf: (offset) => offset } }
}

/** What people give in place of Ignition: Butane, other YAML, cloud-init, nothing. JSON begins with a brace. */
function foreignFormat(text: string, fileName: string | undefined): TextFault | undefined {
  const offset = text.search(/\S/)
  if (offset < 0) return { message: 'is empty', offset: 0 }
  if (text[offset] === '{') return undefined
  if (text.startsWith('#cloud-config')) {
    return { message: 'is for cloud-init, and CoreOS takes Ignition alone', offset }
  }
  const variant = /^variant:[ \t]*["']?([\w-]*)/m.exec(text)
  if (variant !== null) return butane(variant[1], fileName, variant.index)
  if (/^[\w"'-]+[ \t]*:(?:[ \t]|$)/m.test(text)) {
    return {
      message: 'is YAML, and Ignition is JSON',
      offset,
      hint: 'a YAML config for CoreOS is Butane: it begins with variant: and version:, and butane makes Ignition of it',
    }
  }
  return { message: `cannot be read as JSON: found ${JSON.stringify(text[offset])} where { belongs`, offset }
}

function butane(variant: unknown, fileName = 'config.bu', offset = 0): TextFault {
  const target = fileName.replace(/\.[^.]*$/, '')
  const output = fileName.endsWith('.ign') ? `${target}.converted.ign` : `${target}.ign`
  return {
    message: `is a Butane config (variant ${String(variant ?? '')}), and machines take Ignition`,
    offset,
    hint: `convert it: butane --strict --files-dir . --output ${output} ${fileName}`,
  }
}

function failed(text: string, fault: TextFault): ReadIgnition {
  return { problems: [placed(text, '', fault)], warnings: [] }
}

function placed(text: string, path: string, { message, offset, hint }: TextFault): IgnitionProblem {
  const before = text.slice(0, offset)
  const line = before.split('\n').length
  const column = offset - before.lastIndexOf('\n')
  return { line, column, path, message, ...(hint === undefined ? {} : { hint }) }
}
