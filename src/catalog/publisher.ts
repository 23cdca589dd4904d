import type { Catalog, CatalogSource } from '../core/catalog.ts'
import { buildCatalog, type CatalogInput } from './build-catalog.ts'

export interface Publisher extends CatalogSource {
  /** Builds and switches to a new snapshot in one step; those who hold the old one keep it. */
  publish(input: Omit<CatalogInput, 'revision'>): Catalog
}

export function createPublisher(
  options: { readonly onPublished?: (catalog: Catalog) => void } = {},
): Publisher {
  let catalog = buildCatalog({
    revision: 0,
    streams: [],
    bootimages: [],
    heads: [],
    pins: [],
    blobs: new Map(),
  })
  return {
    current: () => catalog,
    publish(input) {
      catalog = buildCatalog({ ...input, revision: catalog.revision + 1 })
      options.onPublished?.(catalog)
      return catalog
    },
  }
}
