import type { BootDecision } from '../core/boot-decision.ts'
import type { BootId } from '../core/boot-event.ts'
import type { BootClient } from '../core/client.ts'

/** A token that a script carries: for the config of the system that boots or is installed, or of the one that installs. */
export type ScriptToken = 'ignition' | 'installer'

export interface RenderContext {
  /** `http://192.0.2.10:8080`, without a slash at the end; an IP literal unless an admin configured a name. */
  readonly baseUrl: string
  readonly bootId: BootId
  /** Mints a token of this boot, for a script that carries one. Absent: a stand-in of the same length, good for nothing. */
  readonly token?: (purpose: ScriptToken) => string
}

/** How a PXELINUX, a U-Boot or a petitboot reached its configuration, so that files are named in the same way. */
export interface PxelinuxContext extends RenderContext {
  readonly fetch: 'http' | 'tftp'
}

/**
 * Decisions as text for a loader. Templates are compiled when the renderer is made, never on the boot path.
 * A script is complete or an error.
 * @throws ServiceError TEMPLATE_RENDER_FAILED, KERNEL_ARGUMENT_INVALID, CONFIG_INVALID for an address that the loader
 *   cannot reach
 */
export interface Renderer {
  /** The iPXE script of a decision; starts with `#!ipxe\n`, ends with a newline, has no CR. */
  ipxe(decision: BootDecision, client: BootClient, context: RenderContext): string
  /** The entry script: identify this NIC, chain to `/ipxe?…`, retry. */
  ipxeEntry(context: { readonly baseUrl: string }): string
  /** The GRUB script of a decision. Where it boots nothing, it asks again, without end. */
  grub(decision: BootDecision, client: BootClient, context: RenderContext): string
  /** The first configuration of a GRUB: asks `/grub/boot?…` as this machine, again and again. */
  grubEntry(context: { readonly baseUrl: string }): string
  /** The same for PXELINUX and for what reads its files, U-Boot and petitboot. */
  pxelinux(decision: BootDecision, client: BootClient, context: PxelinuxContext): string
}
