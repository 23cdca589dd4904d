import { formatIpv4Subnet, type Ipv4Subnet, isInSubnet, parseIpv4 } from '../core/ipv4.ts'
import { parseMac } from '../core/mac.ts'
import { parseUuid, swapUuidByteOrder } from '../core/uuid.ts'
import { checkSettings, type KnownNames } from './check-settings.ts'
import { type ConfigPath, pathText } from './config-path.ts'
import { type HostsFile, positionsIn } from './hosts-files.ts'
import { createReporter, type Reporter } from './layered-data.ts'
import type { RawHost } from './machine-schema.ts'
import { type ConfigProblem, problemAt } from './problem.ts'

interface Claim {
  readonly host: string
  readonly file: string
  readonly line: number
}

export interface HostsContext extends KnownNames {
  /** Ms since the epoch. */
  readonly now: number
  /** Those whose addresses we give; absent: we give none. */
  readonly subnets?: readonly Ipv4Subnet[]
}

/** Each mark of a machine belongs to one host, over all files; references lead to something. */
export function checkHosts(
  files: readonly HostsFile[],
  known: HostsContext,
  problems: ConfigProblem[],
  warnings: ConfigProblem[],
): void {
  const claims = new Map<string, Claim>()
  for (const file of files) {
    const report: Reporter = {
      ...createReporter(positionsIn(file), problems, warnings),
      // Finding any other place means parsing the file once more.
      warn: (path, message, hint) => {
        const place = file.marks.get(pathText(path)) ?? file.places[Number(path[1])]
        warnings.push(problemAt(place ?? { file: file.file, line: 1, column: 1 }, path, message, hint))
      },
    }
    for (const [index, host] of file.hosts.entries()) {
      const path: ConfigPath = ['hosts', index]
      const claim: Claim = { host: host.id, file: file.file, line: file.places[index]?.line ?? 1 }
      checkMarks(host, path, claim, claims, report)
      checkSettings(host, path, { ...known, report })
      checkAddress(host, path, known, report)
    }
  }
}

/** A reservation counts where we give the addresses, and only inside of our subnets. */
export function checkAddress(
  { address }: Pick<RawHost, 'address'>,
  path: ConfigPath,
  { subnets }: Pick<HostsContext, 'subnets'>,
  report: Reporter,
): void {
  const reserved = address === undefined ? undefined : parseIpv4(address)
  if (reserved === undefined) return
  const at: ConfigPath = [...path, 'address']
  if (subnets === undefined) {
    report.warn(at, 'does nothing: addresses are given by boot.dhcp in mode server alone')
  } else if (!subnets.some((subnet) => isInSubnet(reserved, subnet))) {
    report.problem(
      at,
      `${address} is in none of our subnets, allowed: ${subnets.map(formatIpv4Subnet).join(', ')}`,
    )
  }
}

function checkMarks(
  host: RawHost,
  path: ConfigPath,
  claim: Claim,
  claims: Map<string, Claim>,
  report: Reporter,
): void {
  const take = (keys: readonly string[], at: ConfigPath, what: string) => {
    const other = keys.map((key) => claims.get(key)).find((found) => found !== undefined)
    if (other === undefined) {
      for (const key of keys) claims.set(key, claim)
      return
    }
    const whose =
      other === claim ? 'is there twice' : `belongs to host ${other.host} (${other.file}:${other.line})`
    report.problem([...path, ...at], `${what} ${whose}`)
  }
  take([`id ${host.id}`], ['id'], `the id ${host.id}`)
  for (const [index, text] of (host.macs ?? []).entries()) {
    const mac = parseMac(text) ?? text
    take([`mac ${mac}`], ['macs', index], `MAC ${mac}`)
  }
  const uuid = host.uuid === undefined ? undefined : parseUuid(host.uuid)
  if (uuid !== undefined) {
    // Firmware and BMC may spell one machine's UUID in either byte order (field case 155).
    const swapped = swapUuidByteOrder(uuid)
    take([...new Set([`uuid ${uuid}`, `uuid ${swapped}`])], ['uuid'], `UUID ${uuid} (in either byte order)`)
  }
  if (host.serial !== undefined) take([`serial ${host.serial}`], ['serial'], `serial ${host.serial}`)
  if (host.address !== undefined) take([`address ${host.address}`], ['address'], `address ${host.address}`)
}
