import { existsSync, readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import type { AddressFacts, InterfaceFacts } from '../../doctor/check-interfaces.ts'

const flagUp = 1

/** The named interfaces as the kernel sees them, and all addresses of this machine. */
export function lookAtAddresses(names: readonly string[]): AddressFacts {
  const byInterface = networkInterfaces()
  return {
    interfaces: names.map((name) => lookAt(name, byInterface[name] ?? [])),
    ownAddresses: Object.values(byInterface).flatMap((entries = []) => entries.map(({ address }) => address)),
  }
}

function lookAt(
  name: string,
  entries: readonly { readonly family: string; readonly address: string }[],
): InterfaceFacts {
  const folder = `/sys/class/net/${name}`
  const flags = Number(readText(`${folder}/flags`) ?? Number.NaN)
  // Reading it fails while the interface is down.
  const carrier = readText(`${folder}/carrier`)
  return {
    name,
    exists: entries.length > 0 || existsSync(folder),
    isUp: Number.isNaN(flags) ? entries.length > 0 : (flags & flagUp) !== 0,
    ...(carrier === undefined ? {} : { hasLink: carrier === '1' }),
    addresses: entries.filter(({ family }) => family === 'IPv4').map(({ address }) => address),
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return undefined
  }
}
