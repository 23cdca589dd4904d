import { type Finding, findingsOf } from './finding.ts'

export interface InterfaceFacts {
  readonly name: string
  readonly exists: boolean
  readonly isUp: boolean
  /** Absent when the driver does not say. */
  readonly hasLink?: boolean
  /** IPv4, as dotted quads. */
  readonly addresses: readonly string[]
}

export interface InterfacesWanted {
  readonly dhcp?: {
    readonly mode: 'proxy' | 'server'
    readonly interfaces: readonly string[]
    /** Whether an address is in one of our subnets. */
    readonly isOurs: (address: string) => boolean
  }
  /** Goes into every URL. */
  readonly bootAddress?: string
}

export interface AddressFacts {
  /** Those that DHCP is configured for. */
  readonly interfaces: readonly InterfaceFacts[]
  /** All of this machine, IPv4 and IPv6. */
  readonly ownAddresses: readonly string[]
}

const { ok, note, warning, problem } = findingsOf('interfaces')

/** Whether the interfaces that DHCP answers on are there, up and addressed, and the boot address is ours. */
export function checkInterfaces(
  { interfaces, ownAddresses }: AddressFacts,
  { dhcp, bootAddress }: InterfacesWanted,
): readonly Finding[] {
  const findings: Finding[] = []
  if (dhcp !== undefined && dhcp.interfaces.length === 0) {
    findings.push(
      note(
        'boot.dhcp names no interface: DHCP is answered on inherited sockets alone',
        'enable a socket unit for each interface (pilotlight-dhcp@eth1.socket), or set boot.dhcp.interface',
      ),
    )
  }
  for (const facts of interfaces) {
    const bad = problemOf(facts)
    findings.push(bad ?? ok(`${facts.name} is up and has ${facts.addresses.join(', ')}`))
    const [address] = facts.addresses
    if (bad === undefined && dhcp?.mode === 'server' && address !== undefined && !dhcp.isOurs(address)) {
      findings.push(
        warning(
          `${facts.name} has ${facts.addresses.join(', ')}, which is in no subnet of boot.dhcp.subnets`,
          'machines on that wire get no address; only relayed ones do. Add its subnet',
        ),
      )
    }
  }
  if (bootAddress !== undefined && isLiteral(bootAddress) && !ownAddresses.includes(bootAddress)) {
    findings.push(
      note(
        `boot.address ${bootAddress} is no address of this machine`,
        'fine if machines reach this service by it all the same (a virtual address, NAT)',
      ),
    )
  }
  return findings
}

function problemOf({ name, exists, isUp, hasLink, addresses }: InterfaceFacts): Finding | undefined {
  if (!exists) {
    return problem(
      `there is no interface ${name}`,
      'see what there is with: ip link; change boot.dhcp.interface',
    )
  }
  if (!isUp) return problem(`${name} is down`, `ip link set ${name} up`)
  if (addresses.length === 0)
    return problem(`${name} has no IPv4 address`, `give it one: ip addr add 192.0.2.10/24 dev ${name}`)
  if (hasLink === false)
    return warning(`${name} has no link`, 'see whether the cable and the switch port are right')
  return undefined
}

function isLiteral(address: string): boolean {
  return /^[\d.]+$/.test(address) || address.includes(':')
}
