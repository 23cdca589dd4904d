import { resolve } from 'node:path'
import { type BootId, parseBootId } from '../../src/core/boot-event.ts'
import type { Catalog } from '../../src/core/catalog.ts'
import { createRenderer, type RendererOptions } from '../../src/render/create-renderer.ts'
import type { RenderContext, Renderer } from '../../src/render/renderer.ts'

export const templatesDirectory = resolve(import.meta.dirname, '../../templates')
export const baseUrl = 'http://192.0.2.10:8080'
export const bootId: BootId = parseBootId('AAECAwQFBgcICQoLDA0ODw') ?? ('' as BootId)
export const context: RenderContext = { baseUrl, bootId }

/** The shipped templates over one snapshot. */
export function rendererOver(catalog: Catalog, options: Partial<RendererOptions> = {}): Renderer {
  return createRenderer({ templatesDirectory, catalog: { current: () => catalog }, ...options })
}
