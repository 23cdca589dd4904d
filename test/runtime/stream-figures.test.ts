import { expect, it } from 'vitest'
import type { CatalogArch, CatalogStream } from '../../src/core/catalog.ts'
import { streamFigures } from '../../src/runtime/stream-figures.ts'
import { makeBootimage } from '../fakes/bootimages.ts'
import { status } from '../fakes/catalogs.ts'

const bootimage = makeBootimage()
const pending = (policy: 'hold' | 'confirm') =>
  ({ pending: { change: 'rolled-back', seen: 1, firstSeenAt: 0, policy } }) as const

function stream(...archs: Partial<CatalogArch>[]): CatalogStream {
  const byArch = new Map(archs.map((arch, index) => [index, arch]))
  return { health: { lastSuccessAt: 5, problems: [] }, byArch } as unknown as CatalogStream
}

it.each([
  ['nothing is wrong', stream({}), 0, 0],
  ['a change waits for an admin', stream(pending('hold'), {}), 1, 0],
  ['a change waits for a second look, which is normal', stream(pending('confirm')), 0, 0],
  ['what is wanted cannot be fetched', stream({ target: status(bootimage, 'failed') }), 0, 1],
  ['what is wanted has no good signature', stream({ target: status(bootimage, 'pending-signature') }), 0, 1],
  ['what was current cannot be had again', stream({ damaged: status(bootimage, 'failed') }), 0, 1],
  ['what is wanted is on its way', stream({ target: status(bootimage, 'downloading') }), 0, 0],
])('figures of a stream: %s', (_, given, held, failed) => {
  expect(streamFigures(given)).toEqual({ lastSuccessAt: 5, held, failed })
})
