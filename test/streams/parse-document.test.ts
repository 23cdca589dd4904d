import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isServiceError, type ServiceError } from '../../src/core/errors.ts'
import type { Metadata, ParseHints } from '../../src/streams/metadata.ts'
import { maxDocumentBytes, parseDocument } from '../../src/streams/parse-document.ts'
import {
  bytesOf,
  configMap,
  configMapYaml,
  metaDocument,
  releaseDocument,
  releaseIndex,
  rhcosDocument,
  sha,
  streamDocument,
} from '../fixtures/streams/documents.ts'

function parse(document: unknown, hints: ParseHints = {}): Metadata {
  const parsed = parseDocument(bytesOf(document), hints)
  if (parsed.format === 'release-index') throw new Error('a release index')
  return parsed
}

function refusal(document: unknown, hints: ParseHints = {}): ServiceError {
  try {
    parseDocument(document instanceof Uint8Array ? document : bytesOf(document), hints)
  } catch (error) {
    if (isServiceError(error, 'METADATA_INVALID')) return error
    throw error
  }
  throw new Error('the document was accepted')
}

describe('the format is recognised from the content', () => {
  it.each([
    ['stream', streamDocument(), {}],
    ['rhcos', rhcosDocument(), {}],
    ['cosa-meta', metaDocument(), { baseUrl: 'https://builds.example/x86_64/' }],
    ['release', releaseDocument(), {}],
    ['release-index', releaseIndex('43.20260601.3.0'), {}],
    ['configmap', configMap({ stream: streamDocument() }), {}],
    ['configmap', configMapYaml({ stream: streamDocument() }), {}],
    ['configmap', `---\n${configMapYaml({ stream: streamDocument() })}`, {}],
  ])('%s', (format, document, hints) => {
    expect(parseDocument(bytesOf(document), hints).format).toBe(format)
  })

  it('a byte order mark and white space around it do not matter', () => {
    expect(parse(`\ufeff \n${JSON.stringify(streamDocument())}\n\n`).format).toBe('stream')
  })

  it('a release.json that lost its release is still taken for one', () => {
    const document = releaseDocument()
    delete document.release
    expect(refusal(document).details.field).toBe('release')
  })
})

describe('what is no metadata is refused with what it is and what would have been', () => {
  it.each([
    ['no bytes', new Uint8Array(), 'empty: zero bytes'],
    ['white space', ' \n\t', 'nothing but white space'],
    ['an HTML page', '<!DOCTYPE html><html><body>404</body></html>', 'an HTML page'],
    ['an HTML page without doctype', '\n<HTML><h1>Not Found</h1>', 'an HTML page'],
    ['XML', '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', 'XML or HTML'],
    ['gzip', gzipSync('{}'), 'gzip-compressed'],
    ['bytes that are no text', new Uint8Array([0x7b, 0xff, 0xfe]), 'not UTF-8 text'],
    ['plain text', 'Not Found', 'not valid JSON'],
    ['a number', '42', 'found the number 42'],
    ['null', 'null', 'found null'],
    ['an array', '[{"openshift_version":"4.9","url":"https://mirror.example/x.iso"}]', 'found an array'],
    ['an empty object', {}, 'found an object with nothing'],
    ['another object', { message: 'rate limited' }, 'an object with message'],
    ['marketplace data', { x86_64: { azure: {} }, aarch64: {} }, 'marketplace data?'],
    [
      'rollout metadata',
      { stream: 'stable', releases: [{ version: '1', metadata: {} }] },
      'rollout metadata',
    ],
    ['an index without releases', { stream: 'stable', releases: [] }, 'releases: found none'],
    ['other YAML', 'apiVersion: v1\nkind: Secret\ndata: {}\n', 'expected a stream document'],
    ['broken YAML', 'kind: ConfigMap\ndata: {a: [}\n', 'not valid YAML'],
    ['YAML with aliases', 'kind: ConfigMap\ndata: &a {stream: "{}"}\nother: *a\n', 'not valid YAML'],
    ['YAML with a key twice', 'kind: ConfigMap\ndata: {}\ndata: {}\n', 'not valid YAML'],
    ['YAML nested without end', `kind: ConfigMap\ndata: ${'['.repeat(9_000)}`, 'not valid YAML'],
    ['YAML of too many pieces', `kind: ConfigMap\ndata: ${'[a,'.repeat(20_000)}`, 'more than 10000 pieces'],
    ['endless YAML', `kind: ConfigMap\ndata: "${'x'.repeat(1024 * 1024)}"`, 'YAML of more than'],
  ])('%s', (_, document, found) => {
    const error = refusal(document)
    expect(error.message).toContain(found)
    expect(error.message.length).toBeLessThan(600)
  })

  it('a document beyond the size limit is not even read', () => {
    expect(refusal(new Uint8Array(maxDocumentBytes + 1).fill(0x20)).message).toContain('too long')
  })
})

describe('JSON that two readers understand differently is refused', () => {
  const text = JSON.stringify(streamDocument({ architectures: ['x86_64'] }))
  const twice = (written: string) =>
    text.replace('"kernel":{', `"kernel":{${written}:"https://evil.example/kernel",`)

  it.each([
    ['a name given twice', twice('"location"'), '"location" is given twice'],
    ['a name given twice in another spelling', twice('"loc\\u0061tion"'), '"location" is given twice'],
    ['__proto__', text.replace('"kernel":{', '"__proto__":{},"kernel":{'), '"__proto__" is not allowed'],
    [
      'constructor',
      text.replace('"kernel":{', '"constructor" : 1,"kernel":{'),
      '"constructor" is not allowed',
    ],
    ['repetition without end', `{"architectures":[${'1,'.repeat(100_000)}1]}`, 'more than 100000 values'],
    ['nesting that nobody ends', '['.repeat(100_000), 'deeper than 64'],
    ['an escape that is none in a name', '{"\\u12":1}', 'not valid JSON'],
    ['a text that nobody ends', '{"a', 'not valid JSON'],
    [
      'nesting without end',
      `{"architectures":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      'deeper than 64',
    ],
    ['an end in the middle', text.slice(0, 200), 'not valid JSON'],
  ])('%s', (_, document, found) => {
    expect(refusal(document).message).toContain(found)
  })

  it('the same name in two objects, and text that only looks like names, are fine', () => {
    expect(parse(`{"note":"{\\"a\\":1,\\"a\\":2}","x":["a","a"],${text.slice(1)}`).architectures.size).toBe(1)
  })

  it('a name given twice inside a ConfigMap is found too, and where', () => {
    const error = refusal(configMap({ stream: twice('"sha256"') }))
    expect(error.message).toMatch(/^data\.stream is ambiguous: the name "sha256" is given twice/)
  })
})

describe('a stream document', () => {
  it('gives each architecture its release, live set and disks, every value from the document', () => {
    const metadata = parse(streamDocument())
    expect(metadata.label).toBe('stable')
    expect(metadata.lastModified).toBe(Date.UTC(2026, 6, 21, 14))
    expect([...metadata.architectures.keys()]).toEqual(['x86_64', 'aarch64'])
    const directory = 'https://builds.example/prod/streams/stable/builds/44.20260707.3.1/x86_64/'
    expect(metadata.architectures.get('x86_64')).toEqual({
      arch: 'x86_64',
      release: '44.20260707.3.1',
      live: {
        kernel: file('kernel', `${directory}live-kernel.x86_64`),
        initramfs: file('initramfs', `${directory}live-initramfs.x86_64.img`),
        rootfs: file('rootfs', `${directory}live-rootfs.x86_64.img`),
      },
      disks: [
        diskFile('metal', `${directory}metal.x86_64.raw.xz`),
        diskFile('metal4k', `${directory}metal4k.x86_64.raw.xz`),
      ],
    })
    expect(metadata.problems).toEqual([])
  })

  it('needs neither stream, metadata, images nor signatures, and takes unknown keys as normal', () => {
    const document = streamDocument({ architectures: ['x86_64'] })
    delete document.stream
    delete document.metadata
    delete document.architectures.x86_64.images
    document.updates = { release: '1' }
    document.architectures.riscv64 = 'whatever'
    const { pxe } = document.architectures.x86_64.artifacts.metal.formats
    pxe.note = 5
    delete pxe.kernel.signature
    pxe.initramfs.signature = ''
    pxe.rootfs['uncompressed-sha256'] = null
    const metadata = parse(document)
    expect(metadata.label).toBeUndefined()
    expect(metadata.lastModified).toBeUndefined()
    const live = metadata.architectures.get('x86_64')?.live
    expect(live?.kernel).not.toHaveProperty('signature')
    expect(live?.initramfs).not.toHaveProperty('signature')
    expect(live?.rootfs).not.toHaveProperty('uncompressedSha256')
    expect(metadata.problems).toEqual([])
  })

  it('a digest in upper case is the same digest', () => {
    const document = streamDocument({ architectures: ['x86_64'] })
    const { kernel } = document.architectures.x86_64.artifacts.metal.formats.pxe
    const written = kernel.sha256
    kernel.sha256 = written.toUpperCase()
    expect(parse(document).architectures.get('x86_64')?.live?.kernel.sha256).toBe(written)
  })

  it('a time that is none is left out, because it is only for display', () => {
    expect(parse(streamDocument({ lastModified: 'yesterday' })).lastModified).toBeUndefined()
  })

  it('a broken architecture is a problem with the field in it, the other stays usable', () => {
    const document = streamDocument()
    document.architectures.x86_64.artifacts.metal.formats.pxe.initramfs.sha256 = 'abc'
    const metadata = parse(document)
    expect([...metadata.architectures.keys()]).toEqual(['aarch64'])
    const field = 'architectures.x86_64.artifacts.metal.formats.pxe.initramfs.sha256'
    expect(metadata.problems).toEqual([
      { arch: 'x86_64', field, message: `${field}: found "abc", expected 64 hex digits` },
    ])
  })

  it('an architecture without metal is a problem of that architecture', () => {
    const document = streamDocument()
    delete document.architectures.aarch64.artifacts.metal
    expect(parse(document).problems).toMatchObject([
      { arch: 'aarch64', field: 'architectures.aarch64.artifacts.metal' },
    ])
  })

  it('formats without a network-boot set are a problem that names what is there', () => {
    const document = streamDocument()
    const { formats } = document.architectures.x86_64.artifacts.metal
    delete formats.pxe
    expect(parse(document).problems[0]?.message).toBe(
      'architectures.x86_64.artifacts.metal.formats: found 4k.raw.xz, iso, raw.xz, expected pxe or installer-pxe',
    )
    document.architectures.x86_64.artifacts.metal.formats = {}
    expect(parse(document).problems[0]?.message).toContain('formats: found nothing, expected pxe')
  })

  it('a broken disk image is a problem, the live set stays', () => {
    const document = streamDocument({ architectures: ['x86_64'] })
    document.architectures.x86_64.artifacts.metal.formats['raw.xz'].disk = 7
    const metadata = parse(document)
    expect(metadata.architectures.get('x86_64')?.disks.map(({ variant }) => variant)).toEqual(['metal4k'])
    expect(metadata.problems.map(({ message }) => message)).toEqual([
      'architectures.x86_64.artifacts.metal.formats["raw.xz"].disk: found the number 7, expected an object',
    ])
  })

  it('an incomplete live set is a problem even when the installer set is whole', () => {
    const document = streamDocument({ architectures: ['x86_64'] })
    const { formats } = document.architectures.x86_64.artifacts.metal
    formats['installer-pxe'] = { kernel: formats.pxe.kernel, initramfs: formats.pxe.initramfs }
    expect(parse(document).architectures.get('x86_64')).toHaveProperty('installer')
    delete formats.pxe.kernel
    const metadata = parse(document)
    expect(metadata.architectures.size).toBe(0)
    expect(metadata.problems[0]?.field).toContain('formats.pxe.kernel')
  })

  it('one architecture in two spellings is refused', () => {
    const document = streamDocument()
    document.architectures.amd64 = document.architectures.x86_64
    expect(refusal(document).message).toContain('architectures.amd64: found a second one in another spelling')
  })

  it('a document for other architectures alone is refused', () => {
    expect(refusal({ stream: 'stable', architectures: { riscv64: {} } }).details.field).toBe('architectures')
  })

  it.each([
    ['the stream label', (document: { stream: unknown }) => (document.stream = 5), 'stream'],
    ['the label with an escape', (d: { stream: unknown }) => (d.stream = 'a\u001b[2J'), 'stream'],
    ['metadata', (document: { metadata: unknown }) => (document.metadata = []), 'metadata'],
    [
      'architectures',
      (document: { architectures: unknown }) => (document.architectures = 'x'),
      'architectures',
    ],
  ])('%s of a wrong kind is named', (_, spoil, field) => {
    const document = streamDocument()
    spoil(document)
    expect(refusal(document).details.field).toBe(field)
  })

  it.each(['', '../../etc', 'a b', 'x'.repeat(101), '44;reboot', '\u202e44'])(
    'a release that could do harm in an id or a script is a problem: %j',
    (release) => {
      const document = streamDocument({ architectures: ['x86_64'] })
      document.architectures.x86_64.artifacts.metal.release = release
      expect(parse(document).problems[0]?.field).toBe('architectures.x86_64.artifacts.metal.release')
    },
  )
})

describe('a release.json', () => {
  it('has one release for all, under media and artifacts', () => {
    const metadata = parse(releaseDocument())
    expect(metadata.architectures.get('x86_64')?.release).toBe('43.20260601.3.0')
    expect(metadata.architectures.get('x86_64')?.live?.rootfs?.name).toBe('live-rootfs.x86_64.img')
    expect(metadata.label).toBe('stable')
  })

  it('an empty signature and a null digest mean none', () => {
    const document = releaseDocument()
    const { artifacts } = document.architectures.x86_64.media.metal
    artifacts.pxe.kernel.signature = ''
    artifacts.pxe.kernel['uncompressed-sha256'] = null
    artifacts['raw.xz'].disk['uncompressed-sha256'] = null
    const metadata = parse(document)
    expect(metadata.architectures.get('x86_64')?.live?.kernel).not.toHaveProperty('signature')
    expect(metadata.problems).toEqual([])
  })
})

describe('a release index', () => {
  it('lists versions and where their release.json is; commits may be missing', () => {
    const document = releaseIndex('43.20260601.3.0', '44.20260707.3.1')
    delete document.releases[1].commits
    expect(parseDocument(bytesOf(document))).toEqual({
      format: 'release-index',
      label: 'stable',
      releases: ['43.20260601.3.0', '44.20260707.3.1'].map((version) => ({
        version,
        metadata: `https://builds.example/prod/streams/stable/builds/${version}/release.json`,
      })),
    })
  })

  it('a broken entry is named by its place', () => {
    const document = releaseIndex('43.20260601.3.0', '44.20260707.3.1')
    document.releases[1].metadata = 'ftp://builds.example/release.json'
    expect(refusal(document).details.field).toBe('releases[1].metadata')
    document.releases = Array.from({ length: 10_001 }, () => document.releases[0])
    expect(refusal(document).message).toContain('releases: found 10001 entries, expected at most 10000')
    document.releases = { '0': {} }
    expect(refusal(document).message).toBe('releases: found an object, expected an array')
  })
})

describe('whatever the bytes are', () => {
  it('they parse or are refused with one kind of error', () => {
    const names = fc.constantFrom(
      'architectures',
      'x86_64',
      'artifacts',
      'metal',
      'release',
      'formats',
      'images',
    )
    const keys = fc.oneof(
      names,
      fc.constantFrom('data', 'stream', 'kind', 'baseURI', 'buildid', 'releases', ''),
    )
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.constant('ConfigMap'), fc.webUrl()),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(keys, tie('tree'), { maxKeys: 5 }),
      ),
    }))
    const inputs = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.string({ unit: 'binary' }).map(bytesOf),
      fc.string().map((text) => bytesOf(`kind: ${text}`)),
      tree.map((value) => bytesOf(JSON.stringify(value) ?? 'null')),
    )
    fc.assert(
      fc.property(inputs, fc.option(fc.webUrl(), { nil: undefined }), (bytes, baseUrl) => {
        try {
          parseDocument(bytes, baseUrl === undefined ? {} : { baseUrl })
        } catch (error) {
          expect(isServiceError(error, 'METADATA_INVALID')).toBe(true)
        }
      }),
      { numRuns: 1500 },
    )
  })
})

function file(role: string, location: string): object {
  const name = location.split('/').at(-1)
  return { role, name, sha256: sha(location), location, signature: `${location}.sig` }
}

function diskFile(variant: string, location: string): object {
  return { ...file('disk', location), variant, uncompressedSha256: sha(`unpacked ${location}`) }
}
