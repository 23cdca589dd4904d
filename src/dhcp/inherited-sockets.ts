/** A socket that the service manager opened for us. */
export interface InheritedSocket {
  readonly fd: number
  readonly name: string
}

const firstInheritedFd = 3
const maxInheritedSockets = 128

/**
 * Reads the socket activation variables (sd_listen_fds(3)): `LISTEN_PID`, `LISTEN_FDS`, `LISTEN_FDNAMES`. Sockets that
 * were meant for another process, or that have no name, are not ours: none are returned.
 */
export function readInheritedSockets(
  environment: Readonly<Record<string, string | undefined>>,
  pid: number,
): readonly InheritedSocket[] {
  const { LISTEN_PID: forPid, LISTEN_FDS: count, LISTEN_FDNAMES: names } = environment
  if (forPid !== String(pid) || count === undefined || !/^[0-9]{1,3}$/.test(count)) return []
  const named = (names ?? '').split(':')
  return Array.from({ length: Math.min(Number(count), maxInheritedSockets) }, (_, index) => ({
    fd: firstInheritedFd + index,
    name: named[index] ?? '',
  })).filter(({ name }) => name !== '')
}

const dhcpPrefix = 'dhcp-'

/**
 * DHCP sockets by interface: `FileDescriptorName=dhcp-eth1` with `BindToDevice=eth1`. One socket unit may hold both
 * ports under one name; which is which is seen from the port that each is bound to.
 */
export function dhcpSocketsByInterface(
  sockets: readonly InheritedSocket[],
): ReadonlyMap<string, readonly number[]> {
  const byInterface = new Map<string, number[]>()
  for (const { fd, name } of sockets) {
    if (!name.startsWith(dhcpPrefix) || name.length === dhcpPrefix.length) continue
    const device = name.slice(dhcpPrefix.length)
    byInterface.set(device, [...(byInterface.get(device) ?? []), fd])
  }
  return byInterface
}
