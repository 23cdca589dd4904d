import { createRenderer, type RendererOptions } from '../render/create-renderer.ts'
import type { Renderer } from '../render/renderer.ts'

/** A renderer whose templates a reload reads again; templates that cannot be used change nothing. */
export interface SwappableRenderer extends Renderer {
  /** @throws ServiceError TEMPLATE_INVALID with file:line; what was in force stays */
  configure(adminDirectory: string | undefined): void
}

/** @throws ServiceError TEMPLATE_INVALID with file:line */
export function createSwappableRenderer(options: RendererOptions): SwappableRenderer {
  let current = createRenderer(options)
  return {
    configure(adminDirectory) {
      current = createRenderer({ ...options, adminDirectory })
    },
    ipxe: (decision, client, context) => current.ipxe(decision, client, context),
    ipxeEntry: (context) => current.ipxeEntry(context),
    grub: (decision, client, context) => current.grub(decision, client, context),
    grubEntry: (context) => current.grubEntry(context),
    pxelinux: (decision, client, context) => current.pxelinux(decision, client, context),
  }
}
