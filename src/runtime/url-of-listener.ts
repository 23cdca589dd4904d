import { baseUrl } from '../http/boot/base-url.ts'
import type { BoundAddress } from '../http/boot/boot-listener.ts'

/** A URL that works on this machine; every address is said as loopback. */
export function urlOfListener(
  { host, port }: BoundAddress,
  configured: { readonly address?: string; readonly port?: number } = {},
): string {
  const isAny = host === '::' || host === '0.0.0.0'
  return baseUrl(configured, { localAddress: isAny ? '127.0.0.1' : host, localPort: port })
}
