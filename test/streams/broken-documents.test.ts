import { describe, expect, it } from 'vitest'
import { isServiceError } from '../../src/core/errors.ts'
import { parseRelease } from '../../src/core/release.ts'
import type { ParseHints, Resolution } from '../../src/streams/metadata.ts'
import { parseDocument } from '../../src/streams/parse-document.ts'
import { resolveBootimages } from '../../src/streams/resolve.ts'
import {
  bytesOf,
  configMap,
  configMapYaml,
  firstRhcosDocument,
  metaDocument,
  releaseDocument,
  releaseIndex,
  rhcosDocument,
  streamDocument,
} from '../fixtures/streams/documents.ts'
import { haveRealDocuments, readRealDocument, realDocumentNames } from '../fixtures/streams/real-documents.ts'

/** What a document comes to; every throw but METADATA_INVALID fails the test. */
type Outcome =
  | { readonly kind: 'refused'; readonly field: string; readonly message: string }
  | { readonly kind: 'read'; readonly problems: readonly string[]; readonly resolution: Resolution }

function read(bytes: Uint8Array, hints: ParseHints = {}): Outcome {
  try {
    const parsed = parseDocument(bytes, hints)
    if (parsed.format === 'release-index')
      return { kind: 'read', problems: [], resolution: { bootimages: [], problems: [] } }
    const resolution = resolveBootimages(parsed, 's')
    const problems = [...parsed.problems, ...resolution.problems].map(({ field }) => field)
    return { kind: 'read', problems, resolution }
  } catch (error) {
    if (!isServiceError(error, 'METADATA_INVALID')) throw error
    return { kind: 'refused', field: String(error.details.field), message: error.message }
  }
}

describe('a document that was cut off', () => {
  const names = haveRealDocuments ? realDocumentNames : []
  const own: readonly (readonly [string, Uint8Array])[] = [
    ['a stream of ours', bytesOf(streamDocument())],
    [
      'a ConfigMap of ours',
      bytesOf(configMapYaml({ stream: streamDocument(), streams: { a: streamDocument() } })),
    ],
  ]
  const all = [...own, ...names.map((name) => [name, readRealDocument(name)] as const)]

  it.each(all)('at every kilobyte is refused: %s', (_, bytes) => {
    const whole = new TextDecoder().decode(bytes).trimEnd().length
    for (let length = 0; length < bytes.length; length += 1024) {
      const outcome = read(bytes.subarray(0, length))
      // What is cut off a manifest after its last needed line, or white space, costs nothing.
      if (outcome.kind === 'read') expect(length).toBeGreaterThan(Math.min(whole, bytes.length) - 1024)
      else expect(outcome.message.length).toBeGreaterThan(20)
    }
  })
})

/** A step into a document: the names and indexes from its root. */
type Path = readonly (string | number)[]

function pathsOf(value: unknown, path: Path = [], depth = 0): readonly Path[] {
  if (typeof value !== 'object' || value === null || depth > 12) return path.length === 0 ? [] : [path]
  const children = Object.entries(value).flatMap(([key, child]) =>
    pathsOf(child, [...path, Array.isArray(value) ? Number(key) : key], depth + 1),
  )
  return path.length === 0 ? children : [path, ...children]
}

const removed = Symbol('removed')
const wrongValues: readonly unknown[] = [removed, null, true, -7, '', 'no such thing', [], {}, [{}]]

function changed(document: object, path: Path, value: unknown): unknown {
  const copy = structuredClone(document) as Record<string | number, unknown>
  let holder = copy
  for (const step of path.slice(0, -1)) holder = holder[step] as Record<string | number, unknown>
  const last = path.at(-1) as string | number
  if (value === removed) delete holder[last]
  else holder[last] = value
  return copy
}

/** `a.b["c.d"]` for comparing with the field of an error; a ConfigMap is changed inside its text. */
function written(path: Path): string {
  return path
    .map((step) =>
      typeof step === 'number'
        ? `[${step}]`
        : /^[\w-]+$/.test(step)
          ? `.${step}`
          : `[${JSON.stringify(step)}]`,
    )
    .join('')
    .replace(/^\./, '')
}

const based: ParseHints = { baseUrl: 'https://builds.example/x86_64/' }
const documents: readonly (readonly [string, object, ParseHints])[] = [
  ['a stream', streamDocument(), {}],
  ['a release.json', releaseDocument(), {}],
  ['rhcos.json', rhcosDocument(), {}],
  ['the first rhcos.json', firstRhcosDocument(), {}],
  ['meta.json', metaDocument(), based],
  ['a release index', releaseIndex('43.20260601.3.0', '44.20260707.3.1'), {}],
  ['a ConfigMap', configMap({ stream: streamDocument({ architectures: ['x86_64'] }) }), {}],
]

/** Fields without which an architecture has no bootimage (of the live or the installer set). */
const needed =
  /(?:\.metal\.release|\.metal\.formats|\.metal\.artifacts|\.pxe|\.pxe\.(?:kernel|initramfs|rootfs)(?:\.(?:location|sha256))?)$|^images\.(?:live-)?(?:kernel|initramfs|rootfs)(?:\.(?:path|sha256))?$|^(?:architectures|images|buildid|baseURI|release|kind|data|data\.stream)$/

/** Calls `check` for the document with each field removed or of a wrong kind, in turn; `stride` takes every n-th. */
function forEachChange(
  document: object,
  hints: ParseHints,
  stride: number,
  check: (field: string, value: unknown, outcome: Outcome) => void,
): void {
  let turn = 0
  for (const path of pathsOf(document))
    for (const value of wrongValues)
      if (turn++ % stride === 0)
        check(written(path), value, read(bytesOf(changed(document, path, value)), hints))
}

/** No field can be broken in a way that makes another live set out of the same document. */
function refuseNewSets(field: string, outcome: Outcome, whole: Outcome): void {
  if (outcome.kind === 'refused' || whole.kind === 'refused') return
  const known = new Set(whole.resolution.bootimages.map(({ setDigest }) => setDigest))
  for (const { kind, setDigest } of outcome.resolution.bootimages)
    if (kind === 'live') expect([field, known.has(setDigest)]).toEqual([field, true])
}

describe('a document with each field removed or of a wrong kind in turn', () => {
  it.each(documents)(
    '%s: a refusal or a problem that names the field, or it does not matter',
    (_, document, hints) => {
      const whole = read(bytesOf(document), hints)
      expect(whole.kind).toBe('read')
      forEachChange(document, hints, 1, (field, value, outcome) => {
        const named = outcome.kind === 'refused' ? [outcome.field] : outcome.problems
        const isNamed = named.some((name) => name.startsWith(field) || field.startsWith(name))
        const mustBeNamed = outcome.kind === 'refused' || (needed.test(field) && typeof value !== 'string')
        if (mustBeNamed) expect([field, value, isNamed]).toEqual([field, value, true])
        refuseNewSets(field, outcome, whole)
      })
    },
  )
})

describe.skipIf(!haveRealDocuments)('real documents with fields removed or of a wrong kind', () => {
  /** The metal part of every architecture and nothing else keeps the number of fields small. */
  function reduced(document: Record<string, unknown>): object {
    const copy = structuredClone(document)
    for (const arch of Object.values<Record<string, unknown>>(Object(copy.architectures))) {
      delete arch.images
      for (const platforms of [arch.artifacts, arch.media]) {
        const holder = Object(platforms) as Record<string, unknown>
        for (const name of Object.keys(holder)) if (name !== 'metal') delete holder[name]
      }
    }
    delete copy.amis
    return copy
  }

  const names = realDocumentNames.filter((name) => name.endsWith('.json') && !name.startsWith('schema/'))

  it.each(names)('%s: one kind of error, and never another set of files', (name) => {
    const document = reduced(JSON.parse(new TextDecoder().decode(readRealDocument(name))))
    const hints = name.startsWith('cosa-meta/') ? based : {}
    const whole = read(bytesOf(document), hints)
    const stride = Math.ceil((pathsOf(document).length * wrongValues.length) / 300)
    forEachChange(document, hints, stride, (field, value, outcome) => {
      // Before 2020-10 a live set without rootfs was as whole as one with it: nothing tells the two apart.
      const isOld =
        whole.kind === 'read' && whole.resolution.bootimages.some(({ release }) => isBeforeRootfs(release))
      if (!(isOld && value === removed && field.endsWith('rootfs'))) refuseNewSets(field, outcome, whole)
    })
  })

  function isBeforeRootfs(release: string): boolean {
    return (parseRelease(release)?.day ?? '') < '20201007'
  }
})
