/** Where URLs for nodes point to; what is not configured is taken from the connection that asked. */
export interface UrlAddress {
  /** IP address, or a name that an admin chose. */
  readonly address?: string
  readonly port?: number
}

/** The two ends of a connection, as sockets tell them. */
export interface LocalEnd {
  readonly localAddress: string
  readonly localPort: number
}

/**
 * `http://192.0.2.10:8080` without a slash at the end. Comes from the configured boot address, else from the local
 * address of the connection; never from the Host header, which whoever asks can choose (DESIGN: the boot decision).
 */
export function baseUrl(configured: UrlAddress, local: LocalEnd): string {
  const host = configured.address ?? local.localAddress
  const port = configured.port ?? local.localPort
  return `http://${hostInUrl(plainAddress(host))}${port === 80 ? '' : `:${port}`}`
}

/**
 * An address as people write it: IPv4 that arrived on a dual-stack socket loses its `::ffff:`, and a zone
 * (`fe80::1%eth0`) is dropped, because it names an interface of ours that means nothing to a node.
 */
export function plainAddress(address: string): string {
  const withoutZone = address.split('%', 1)[0] ?? address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(withoutZone)
  return mapped?.[1] ?? withoutZone
}

function hostInUrl(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}
