import type { Config } from '../config/config.ts'
import type { Log } from '../core/log.ts'
import type { InheritedSocket } from '../dhcp/inherited-sockets.ts'
import type { TftpListen } from '../tftp/server.ts'

/** IPv4 addresses by interface, as texts. */
export type OwnAddresses = ReadonlyMap<string, readonly string[]>

export interface TftpListenOptions {
  readonly config: Config
  readonly inherited: readonly InheritedSocket[]
  readonly addresses: OwnAddresses
  readonly log: Log
}

/** Inherited sockets named `tftp`, else the configured address. */
export function tftpListen({ config, inherited, addresses, log }: TftpListenOptions): readonly TftpListen[] {
  const sockets = inherited.filter(({ name }) => name === 'tftp')
  if (sockets.length === 0) {
    const { host, port } = config.boot.tftp?.listen ?? { port: 69 }
    return [{ kind: 'address', address: host ?? '0.0.0.0', port }]
  }
  const localAddress = ownBootAddress(config, addresses)
  if (localAddress === undefined) {
    log.warn(
      { addresses: [...addresses.values()].flat() },
      'the inherited TFTP socket may answer from another address than the one that was asked; set boot.address, or give the socket unit one address',
    )
  }
  return sockets.map(({ fd }) => ({
    kind: 'inherited',
    fd,
    ...(localAddress === undefined ? {} : { localAddress }),
  }))
}

/**
 * The address that TFTP answers from when its inherited socket is open on all of them: the configured one where this
 * machine has it, else that of the one DHCP interface, else the only one there is. `undefined` when it cannot be told.
 */
export function ownBootAddress({ boot }: Config, addresses: OwnAddresses): string | undefined {
  const all = [...addresses.values()].flat()
  if (boot.address !== undefined && all.includes(boot.address.address)) return boot.address.address
  const [device, ...otherDevices] = boot.dhcp?.interfaces ?? []
  const onDevice = device === undefined || otherDevices.length > 0 ? undefined : addresses.get(device)?.[0]
  if (onDevice !== undefined) return onDevice
  const outside = all.filter((address) => !address.startsWith('127.'))
  return outside.length === 1 ? outside[0] : undefined
}
