import { describe, expect, it } from 'vitest'
import type { Metadata, ParseHints } from '../../../src/streams/metadata.ts'
import { parseDocument } from '../../../src/streams/parse-document.ts'
import { bytesOf, configMap, configMapYaml, streamDocument } from '../../fixtures/streams/documents.ts'

const rhel9 = streamDocument({ release: '9.8.20260428-0', stream: 'rhcos-4.21' })
const rhel10 = streamDocument({ release: '10.2.20260423-0', stream: 'rhcos-4.22' })

function parse(document: unknown, hints: ParseHints = {}): Metadata {
  return parseDocument(bytesOf(document), hints) as Metadata
}

function releaseIn(data: Record<string, unknown>, configMapStream?: string): string | undefined {
  const hints = configMapStream === undefined ? {} : { configMapStream }
  const fromJson = parse(configMap(data), hints)
  expect(parse(configMapYaml(data), hints)).toEqual(fromJson)
  return fromJson.architectures.get('x86_64')?.release
}

describe('the coreos-bootimages ConfigMap', () => {
  it('says the same as YAML and as JSON, and is called by its own format', () => {
    const metadata = parse(configMapYaml({ stream: rhel9, releaseVersion: '0.0.1-snapshot' }))
    expect(metadata.format).toBe('configmap')
    expect(metadata.label).toBe('rhcos-4.21')
    expect(metadata.architectures.size).toBe(2)
  })

  it('has the wanted one of streams, before stream', () => {
    const data = { stream: rhel9, streams: { 'rhel-9': rhel9, 'rhel-10': rhel10 } }
    expect(releaseIn(data, 'rhel-10')).toBe('10.2.20260423-0')
    expect(releaseIn(data, 'rhel-9')).toBe('9.8.20260428-0')
  })

  it('has stream where nobody says which one of several', () => {
    expect(releaseIn({ stream: rhel9, streams: { 'rhel-9': rhel9, 'rhel-10': rhel10 } })).toBe(
      '9.8.20260428-0',
    )
  })

  it('has the only one of streams, also under the empty name that OKD writes', () => {
    expect(releaseIn({ stream: rhel9, streams: { '': rhel10 } })).toBe('10.2.20260423-0')
  })

  it('has stream on clusters before streams, whichever was asked for', () => {
    expect(releaseIn({ stream: rhel9 }, 'rhel-9')).toBe('9.8.20260428-0')
  })

  it('never gives another stream than the one asked for', () => {
    const data = { stream: rhel9, streams: { 'rhel-9': rhel9, 'rhel-10': rhel10 } }
    expect(() => releaseIn(data, 'rhel-11')).toThrow(
      'data.streams: found rhel-9, rhel-10, expected a stream "rhel-11"',
    )
    expect(() => releaseIn({ streams: {} }, 'rhel-9')).toThrow('data.streams: found nothing')
  })

  it('without stream, somebody must say which one of several', () => {
    expect(() => releaseIn({ streams: { 'rhel-9': rhel9, 'rhel-10': rhel10 } })).toThrow(
      /expected one stream, or the name of one in the configuration$/,
    )
  })

  it.each([
    ['neither key', configMap({ releaseVersion: '4.22.0' }), /^data\.stream: found nothing/],
    ['no data', { kind: 'ConfigMap' }, /^data: found nothing/],
    [
      'a stream that is no text',
      { kind: 'ConfigMap', data: { stream: rhel9 } },
      /^data\.stream: found an object/,
    ],
    ['a stream that is no JSON', configMap({ stream: '{"a":' }), /^data\.stream is not valid JSON/],
    ['a stream that is no object', configMap({ stream: '[]' }), /^data\.stream: found an array/],
    ['streams that are no object', configMap({ streams: '[]' }), /^data\.streams: found an array/],
    [
      'a manifest cut off before its kind',
      { data: { stream: '{}' } },
      /^kind: found nothing, expected "ConfigMap"/,
    ],
  ])('%s is refused by field', (_, document, message) => {
    expect(() => parse(document)).toThrow(message)
  })

  it('problems inside are named with their place in the ConfigMap', () => {
    const document = streamDocument({ architectures: ['x86_64'] })
    delete document.architectures.x86_64.artifacts.metal.release
    const metadata = parse(configMap({ streams: { 'rhel-9': document } }))
    expect(metadata.problems[0]?.field).toBe(
      'data.streams.rhel-9.architectures.x86_64.artifacts.metal.release',
    )
  })
})
