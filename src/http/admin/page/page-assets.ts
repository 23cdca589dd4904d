import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Files of the page besides its text: name, and what they are. */
const types: Readonly<Record<string, string>> = {
  'page.css': 'text/css; charset=utf-8',
  'live.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
}

export interface PageAsset {
  readonly type: string
  readonly bytes: Buffer
}

export interface PageAssets {
  /** Where they are on this listener; it changes with their content, so browsers may keep them for ever. */
  readonly base: string
  /** By their URL. */
  readonly files: ReadonlyMap<string, PageAsset>
}

/** Reads style sheet, script and icon of the page, once. @param directory has them */
export function readPageAssets(directory: string): PageAssets {
  const read = Object.entries(types).map(([name, type]) => ({
    name,
    asset: { type, bytes: readFileSync(join(directory, name)) },
  }))
  const hash = createHash('sha256')
  for (const { asset } of read) hash.update(asset.bytes)
  const base = `/assets/${hash.digest('hex').slice(0, 12)}`
  return { base, files: new Map(read.map(({ name, asset }) => [`${base}/${name}`, asset])) }
}
