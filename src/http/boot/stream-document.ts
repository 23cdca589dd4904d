import { createHash } from 'node:crypto'
import type { Catalog, CatalogStream } from '../../core/catalog.ts'
import type { BootRequest, BootSources } from './boot-request.ts'
import { describeStatus } from './describe-awaited.ts'
import { type ContentReply, notFound, notYet, type Reply, revalidate } from './reply.ts'
import { republishStream } from './republish-stream.ts'

/** `/streams/<stream>.json`: for `coreos-installer --stream-base-url` and whoever reads stream metadata. */
export function answerStreamDocument({ params, baseUrl }: BootRequest, { catalog }: BootSources): Reply {
  const snapshot = catalog.current()
  const { document = '' } = params
  const stream = document.endsWith('.json') ? snapshot.streams.get(document.slice(0, -5)) : undefined
  if (stream === undefined) return unknownStream(snapshot)
  const republished = republishStream(stream, baseUrl)
  if (republished === undefined) return notYet(describeEmptyStream(stream))
  const body = `${JSON.stringify(republished, null, 2)}\n`
  return {
    kind: 'content',
    status: 200,
    contentType: 'application/json',
    headers: revalidate,
    body,
    etag: `"${createHash('sha256').update(body).digest('hex')}"`,
  }
}

export function unknownStream({ streams }: Catalog): ContentReply {
  const names = [...streams.keys()].map((name) => `/streams/${name}.json`)
  const known = names.length === 0 ? 'No stream is configured.' : `There are: ${names.join(', ')}.`
  return notFound(`No such stream here. ${known}`)
}

/** Why a stream has nothing to give yet. */
export function describeEmptyStream({ name, byArch, health }: CatalogStream): string {
  const targets = [...byArch.values()].map(({ target }) => target).filter((target) => target !== undefined)
  if (targets.length > 0) return targets.map(describeStatus).join(' ')
  const problem =
    health.error === undefined ? '' : ` Last error: ${health.error.code}, ${health.error.message}.`
  return `Stream ${name} has no bootimage yet; its metadata is being read.${problem}`
}
