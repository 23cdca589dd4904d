import type { ServiceFacts } from './check-service.ts'
import { type Finding, findingsOf } from './finding.ts'

export interface RightsFacts {
  /** Absent where the system has no users. */
  readonly uid?: number
  /** CAP_NET_BIND_SERVICE is effective. */
  readonly mayOpenLowPorts: boolean
  /** Ports from here on are open to everybody (`net.ipv4.ip_unprivileged_port_start`). */
  readonly firstOpenPort: number
  /** Sockets can be bound to an interface: the optional package koffi is there. */
  readonly canBindToDevice: boolean
  /** Of the process that runs the service, where it may be looked at. */
  readonly service?: { readonly uid: number; readonly capabilities: readonly string[] }
}

export interface RightsWanted {
  /** Of every listener. */
  readonly ports: readonly number[]
  readonly dhcpInterfaces: readonly string[]
}

const { ok, note, warning, problem } = findingsOf('rights')
const enough = 'NET_BIND_SERVICE'
const howMuchLess = 'run it with the units in deploy/systemd: a user of its own, and no capability at all'

/** Whether the service may do what it must, and no more than that. */
export function checkRights(
  rights: RightsFacts,
  { ports, dhcpInterfaces }: RightsWanted,
  service: ServiceFacts,
): readonly Finding[] {
  const findings: Finding[] = []
  const lowPorts = [...new Set(ports)].filter((port) => port > 0 && port < rights.firstOpenPort)
  if (service.state === 'running') findings.push(...rightsOfService(rights))
  else if (rights.uid === 0) {
    findings.push(
      note(
        'this runs as root, so what the user of the service may do is not seen',
        'run it as that user: sudo -u pilotlight pilotlight doctor',
      ),
    )
  } else if (lowPorts.length > 0 && !rights.mayOpenLowPorts) {
    findings.push(
      warning(
        `this user may not open ports below ${rights.firstOpenPort} (wanted: ${lowPorts.join(', ')})`,
        'use the socket units in deploy/systemd, or give the service CAP_NET_BIND_SERVICE',
      ),
    )
  } else findings.push(ok('this user may open every port that is wanted'))
  findings.push(...bindingToDevices(rights, dhcpInterfaces))
  return findings
}

function rightsOfService({ service }: RightsFacts): readonly Finding[] {
  if (service === undefined) return [note('the rights of the service cannot be looked at by this user')]
  const { uid, capabilities } = service
  if (uid === 0) return [warning('the service runs as root, which it has no use for', howMuchLess)]
  const surplus = capabilities.filter((name) => name !== enough)
  if (surplus.length > 0) {
    return [warning(`the service has rights that it has no use for: ${surplus.join(', ')}`, howMuchLess)]
  }
  const held = capabilities.length === 0 ? 'no capability' : `${enough} alone`
  return [ok(`the service runs as user ${uid} with ${held}`)]
}

function bindingToDevices(
  { canBindToDevice }: RightsFacts,
  interfaces: readonly string[],
): readonly Finding[] {
  if (canBindToDevice || interfaces.length === 0) return []
  const todo = 'install the optional package koffi (npm install), or use a socket unit for each interface'
  return interfaces.length > 1
    ? [problem('DHCP on several interfaces cannot keep them apart without koffi', todo)]
    : [note('without koffi, DHCP also hears what comes in by other interfaces', todo)]
}
