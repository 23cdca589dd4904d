import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import type { PortHolder } from '../../doctor/check-ports.ts'
import { isInTheWay, type OpenSocket, parseSocketTable } from './open-sockets-table.ts'

export interface WantedPort {
  readonly protocol: 'tcp' | 'udp'
  readonly host?: string
  readonly port: number
}

/** Who has ports open on this machine. Processes of other users are seen by root alone. */
export interface SocketHolders {
  of(wanted: WantedPort): readonly PortHolder[]
}

/** Looks once, at `/proc`; where there is none, nobody is seen. */
export function lookAtSocketHolders(): SocketHolders {
  const sockets = (['tcp', 'udp'] as const).flatMap((protocol) =>
    [protocol, `${protocol}6`].flatMap((table) => parseSocketTable(readText(`/proc/net/${table}`), protocol)),
  )
  let owners: ReadonlyMap<string, readonly PortHolder[]> | undefined

  return {
    of({ protocol, host, port }) {
      const found = sockets.filter(
        (socket) => socket.protocol === protocol && socket.port === port && isInTheWay(socket.address, host),
      )
      if (found.length === 0) return []
      owners ??= ownersOf(new Set(sockets.map(({ inode }) => inode)))
      return holdersOf(found, owners)
    },
  }
}

function holdersOf(
  found: readonly OpenSocket[],
  owners: ReadonlyMap<string, readonly PortHolder[]>,
): readonly PortHolder[] {
  const holders = new Map<string, PortHolder>()
  for (const { inode } of found) {
    for (const holder of owners.get(inode) ?? [{}]) holders.set(String(holder.pid), holder)
  }
  return [...holders.values()]
}

function ownersOf(inodes: ReadonlySet<string>): ReadonlyMap<string, readonly PortHolder[]> {
  const owners = new Map<string, PortHolder[]>()
  for (const pid of list('/proc').filter((name) => /^\d+$/.test(name))) {
    for (const fd of list(`/proc/${pid}/fd`)) {
      const inode = /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${fd}`))?.[1]
      if (inode === undefined || !inodes.has(inode)) continue
      const holder = { pid: Number(pid), program: readText(`/proc/${pid}/comm`).trim() }
      owners.set(inode, [...(owners.get(inode) ?? []), holder])
    }
  }
  return owners
}

/** Processes come and go, and most are not ours to look at: what cannot be read is not there. */
function list(path: string): readonly string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
