import { archOfLoader, findLoader, type LoaderCatalogue } from '../../core/loader.ts'
import type { BootRequest, BootSources } from './boot-request.ts'
import { notFound, notHere, type Reply, revalidate } from './reply.ts'

/**
 * `/loaders/<file>` and `/loaders/<set>/<file>`: iPXE, GRUB, shim. Names are fixed while files are replaced by package
 * updates, so they may be kept but must be asked for again.
 */
export function answerLoader({ path }: BootRequest, { loaders }: BootSources): Reply {
  const catalogue = loaders.current()
  const parts = path[0] === 'loaders' ? path.slice(1) : path
  const loader = findLoader(catalogue, parts)
  if (loader === undefined) return absent(catalogue, parts.join('/'))
  const { name, path: place, sizeBytes, modifiedAt, sha256 } = loader
  return {
    kind: 'file',
    file: { name, path: place, sizeBytes, modifiedAt, sha256, role: 'loader', arch: archOfLoader(loader) },
    headers: revalidate,
  }
}

/** A loader that somebody counts on is worth a line in the log; what shim and GRUB only look for is not. */
function absent({ refused, missing }: LoaderCatalogue, name: string): Reply {
  const bad = refused.find((entry) => entry.name === name)
  if (bad !== undefined) return notFound(`${name} is not served: ${bad.reason}. See \`pilotlight loaders\`.`)
  const lacking = missing.find((entry) => entry.name === name)
  if (lacking !== undefined) return notFound(`There is no ${name} here. To have it: ${lacking.remedy}.`)
  return notHere('There is no loader of this name here. `pilotlight loaders` lists them.')
}
