import { ServiceError } from '../core/errors.ts'
import type { InheritedSocket } from '../dhcp/inherited-sockets.ts'

/** The one socket named `http`, in place of the configured address. @throws ServiceError LISTEN_FAILED for several */
export function inheritedHttp(inherited: readonly InheritedSocket[]): { readonly fd: number } | undefined {
  const [first, ...others] = inherited.filter(({ name }) => name === 'http')
  if (others.length > 0) {
    throw new ServiceError(
      'LISTEN_FAILED',
      'several inherited sockets are named http, the boot listener takes one: leave one ListenStream= in the socket unit (port 80 alone listens on IPv4 and IPv6)',
    )
  }
  return first && { fd: first.fd }
}
