import { describe, expect, it } from 'vitest'
import type { Sha256 } from '../../src/core/digest.ts'
import { ServiceError } from '../../src/core/errors.ts'
import { type FindReleaseOptions, findRelease, type ReleaseFinding } from '../../src/streams/find-release.ts'
import { createScriptedUpstream, type ScriptedAnswer } from '../fakes/scripted-upstream.ts'
import {
  bytesOf,
  metaDocument,
  releaseDocument,
  releaseIndex,
  sha,
  streamDocument,
} from '../fixtures/streams/documents.ts'

const june = '43.20260601.3.0'
const july = '44.20260707.3.1'
const wanted = { stream: 'fcos-stable', arch: 'x86_64', release: june } as const
const indexUrl = 'https://builds.example/prod/streams/stable/releases.json'
const releaseUrl = `https://builds.example/prod/streams/stable/builds/${june}/release.json`

interface Archived {
  readonly document: unknown
  readonly source?: string
  readonly firstSeenAt?: number
}

function archiveOf(
  ...entries: readonly Archived[]
): Pick<FindReleaseOptions, 'documents' | 'archive' | 'hints'> {
  const stored = entries.map(({ document, source, firstSeenAt }, place) => ({
    digest: sha(`document ${place}`) as Sha256,
    source: source ?? 'https://builds.example/streams/stable.json',
    firstSeenAt: firstSeenAt ?? place,
    bytes: document === undefined ? undefined : bytesOf(document),
  }))
  return {
    hints: {},
    documents: stored,
    archive: { read: async (digest) => stored.find((entry) => entry.digest === digest)?.bytes },
  }
}

function indexThat(
  answers: Readonly<Record<string, ScriptedAnswer>>,
): NonNullable<FindReleaseOptions['index']> {
  return { url: indexUrl, client: createScriptedUpstream(({ url }) => answers[url] ?? { status: 404 }) }
}

function reasonOf(finding: ReleaseFinding): string {
  if (finding.kind === 'found') throw new Error(`found ${finding.bootimage.id}`)
  return finding.reason
}

function imageOf(finding: ReleaseFinding) {
  if (finding.kind === 'not-found') throw new Error(finding.reason)
  return finding
}

describe('G5 a release by name, in the archive', () => {
  it('is found in the document that has it, for that architecture', async () => {
    const documents = archiveOf(
      { document: streamDocument({ release: july }) },
      { document: streamDocument({ release: june }) },
    )
    const { bootimage, document } = imageOf(await findRelease(wanted, documents))
    expect(bootimage).toMatchObject({ stream: 'fcos-stable', arch: 'x86_64', release: june, kind: 'live' })
    expect(document).toMatchObject({
      format: 'stream',
      label: 'stable',
      source: 'https://builds.example/streams/stable.json',
      digest: sha(JSON.stringify(streamDocument({ release: june }))),
    })
  })

  it('G8 is the one that was seen first, when it was published twice', async () => {
    const first = streamDocument({ release: june })
    const again = structuredClone(first)
    again.architectures.x86_64.artifacts.metal.formats.pxe.kernel.sha256 = sha('another kernel')
    const documents = archiveOf(
      { document: again, firstSeenAt: 2000 },
      { document: first, firstSeenAt: 1000 },
    )
    const { bootimage } = imageOf(await findRelease(wanted, documents))
    expect(bootimage.kernel.sha256).toBe(first.architectures.x86_64.artifacts.metal.formats.pxe.kernel.sha256)
  })

  it('is not what only mentions it, has it for another architecture, is broken, an index, or gone', async () => {
    const broken = streamDocument({ release: june })
    broken.architectures.x86_64.artifacts.metal.formats.pxe.kernel.sha256 = 'abc'
    const documents = archiveOf(
      { document: { ...streamDocument({ release: july }), note: june } },
      { document: streamDocument({ release: june, architectures: ['aarch64'] }) },
      { document: broken },
      { document: `{"architectures": "${june}"` },
      { document: releaseIndex(june) },
      { document: undefined },
    )
    expect(reasonOf(await findRelease(wanted, documents))).toBe(
      'none of 6 archived documents has it, and no release index is configured',
    )
  })

  it.each([
    [
      'the directory that the document came from',
      'https://old.example/44/meta.json',
      {},
      'https://old.example/44/',
    ],
    [
      'what is configured',
      'https://old.example/44/meta.json',
      { hints: { baseUrl: 'http://m.example/' } },
      'http://m.example/',
    ],
    [
      'the place of the source for a file',
      '/srv/meta.json',
      { sourceBaseUrl: 'file:///srv/' },
      'file:///srv/',
    ],
  ])('a build record without a place lies in %s', async (_, source, extra, directory) => {
    const documents = archiveOf({ document: metaDocument(june), source })
    const { bootimage } = imageOf(await findRelease(wanted, { ...documents, ...extra }))
    expect(bootimage.kernel.location).toBe(`${directory}${bootimage.kernel.name}`)
  })

  it('a build record from a file whose place nobody knows is not used', async () => {
    const documents = archiveOf({ document: metaDocument(june), source: '/srv/meta.json' })
    expect((await findRelease(wanted, documents)).kind).toBe('not-found')
  })

  it('an archive that cannot be read is an error, and a mistake is one too', async () => {
    const documents = archiveOf({ document: streamDocument({ release: june }) })
    const failing = (error: Error) => ({ ...documents, archive: { read: () => Promise.reject(error) } })
    await expect(findRelease(wanted, failing(new ServiceError('STORAGE_FAILED', 'EIO')))).rejects.toThrow(
      'EIO',
    )
    await expect(findRelease(wanted, failing(new TypeError('a mistake')))).rejects.toThrow('a mistake')
  })
})

describe('G5 a release by name, through the release index', () => {
  const index = { body: bytesOf(releaseIndex(june, july)) }

  it('is found in its release.json when the archive does not have it', async () => {
    const body = bytesOf(releaseDocument(june))
    const options = { ...archiveOf(), index: indexThat({ [indexUrl]: index, [releaseUrl]: { body } }) }
    const { bootimage, document } = imageOf(await findRelease(wanted, options))
    expect(bootimage).toMatchObject({ stream: 'fcos-stable', arch: 'x86_64', release: june })
    expect(document).toEqual({
      bytes: Buffer.from(body),
      digest: sha(JSON.stringify(releaseDocument(june))),
      format: 'release',
      label: 'stable',
      source: releaseUrl,
    })
  })

  it('the index is not asked when the archive has it', async () => {
    const client = createScriptedUpstream(() => ({ status: 500 }))
    const documents = archiveOf({ document: streamDocument({ release: june }) })
    await findRelease(wanted, { ...documents, index: { url: indexUrl, client } })
    expect(client.requests).toHaveLength(0)
  })

  it.each<[string, Readonly<Record<string, ScriptedAnswer>>, string]>([
    ['an index that is not there', {}, `${indexUrl}: answered with status 404`],
    [
      'an index that is none',
      { [indexUrl]: { body: bytesOf(streamDocument()) } },
      'is not a release index but a stream',
    ],
    [
      'an index that is HTML',
      { [indexUrl]: { body: '<html>' } },
      `${indexUrl}: the document is an HTML page`,
    ],
    [
      'a release that is not in it',
      { [indexUrl]: { body: bytesOf(releaseIndex(july)) } },
      'not among the 1 releases of',
    ],
    ['a release.json that is gone', { [indexUrl]: index }, `${releaseUrl}: answered with status 404`],
    [
      'a release.json of another release',
      { [indexUrl]: index, [releaseUrl]: { body: bytesOf(releaseDocument(july)) } },
      `${releaseUrl}: is ${july} for x86_64, not ${june}`,
    ],
    [
      'a release.json for another architecture',
      { [indexUrl]: index, [releaseUrl]: { body: bytesOf(releaseDocument(june, 's390x')) } },
      `${releaseUrl}: has nothing for x86_64`,
    ],
    [
      'an index behind an index',
      { [indexUrl]: index, [releaseUrl]: index },
      `${releaseUrl}: the document is a release index`,
    ],
  ])('%s is a reason', async (_, answers, reason) => {
    const options = { ...archiveOf(), index: indexThat(answers) }
    const finding = await findRelease(wanted, options)
    expect(reasonOf(finding)).toContain(reason)
    // Where the index or its document could not be read, the release may be there all the same.
    const isRead = /not among|has nothing for|is \S+ for x86_64/.test(reason)
    expect('isUpstreamSilent' in finding).toBe(!isRead)
  })

  it('a broken architecture in its release.json is named', async () => {
    const document = releaseDocument(june)
    delete document.architectures.x86_64.media.metal.artifacts.pxe.rootfs
    const answers = { [indexUrl]: index, [releaseUrl]: { body: bytesOf(document) } }
    expect(reasonOf(await findRelease(wanted, { ...archiveOf(), index: indexThat(answers) }))).toContain(
      'pxe.rootfs: found nothing',
    )
  })

  it('an aborted search ends with the reason, wherever it is', async () => {
    const stop = new AbortController()
    const stopped = new Error('stopped')
    const client = createScriptedUpstream(() => {
      stop.abort(stopped)
      return index
    })
    const options = { ...archiveOf(), index: { url: indexUrl, client }, signal: stop.signal }
    await expect(findRelease(wanted, options)).rejects.toBe(stopped)
    const documents = archiveOf({ document: streamDocument({ release: june }) })
    await expect(findRelease(wanted, { ...documents, signal: stop.signal })).rejects.toBe(stopped)
  })

  it('an upstream that is refused is a reason', async () => {
    const client = {
      request: () => Promise.reject(new ServiceError('UPSTREAM_REFUSED', 'no')),
    }
    const refused = await findRelease(wanted, { ...archiveOf(), index: { url: indexUrl, client } })
    expect(reasonOf(refused)).toBe(`none of 0 archived documents has it; ${indexUrl}: no`)
  })
})
