import type { ServiceFacts } from './check-service.ts'
import { type Finding, findingsOf } from './finding.ts'

/** A process that has a port open, as far as this user may see it. */
export interface PortHolder {
  readonly pid?: number
  readonly program?: string
}

/** What became of opening the port for a moment. */
export type BindOutcome = 'free' | 'taken' | 'denied' | 'no-address' | 'no-interface' | 'not-tried'

/** A port that the configuration wants. */
export interface PortFacts {
  readonly purpose: 'boot' | 'admin' | 'TFTP' | 'DHCP' | 'proxyDHCP'
  readonly protocol: 'tcp' | 'udp'
  /** Absent: every address. */
  readonly host?: string
  readonly port: number
  readonly interface?: string
  readonly bind: BindOutcome
  readonly holders: readonly PortHolder[]
}

const { ok, note, warning, problem } = findingsOf('ports')

/** The part of `/readyz` that says whether the service listens there. */
const partOf: Readonly<Partial<Record<PortFacts['purpose'], string>>> = {
  boot: 'boot-http',
  TFTP: 'tftp',
  DHCP: 'dhcp',
  proxyDHCP: 'dhcp',
}

/** Where another port or address is chosen; DHCP clients know no other ports. */
const settingOf: Readonly<Partial<Record<PortFacts['purpose'], string>>> = {
  boot: 'boot.http.listen',
  admin: 'admin.listen',
  TFTP: 'boot.tftp.listen',
}

/** Programs that are met on these ports, and how they leave them. */
const knownPrograms: Readonly<Record<string, string>> = {
  dnsmasq:
    'systemctl stop dnsmasq; or leave DHCP to it and turn boot.dhcp off here (deploy/examples has what it needs)',
  dhcpd: 'systemctl stop isc-dhcp-server; or leave DHCP to it and turn boot.dhcp off here',
  'kea-dhcp4': 'systemctl stop kea-dhcp4-server; or leave DHCP to it and turn boot.dhcp off here',
  'in.tftpd': 'systemctl stop tftpd-hpa',
  atftpd: 'systemctl stop atftpd',
  nginx: 'systemctl stop nginx',
  apache2: 'systemctl stop apache2',
}

const serviceManagerPid = 1

/** For each port: free, ours, or whose. */
export function checkPorts(ports: readonly PortFacts[], service: ServiceFacts): readonly Finding[] {
  return ports.map((port) => {
    if (port.port === 0) return note(`${placeOf(port)}: the configuration takes any free port`)
    return service.state === 'running' ? whileRunning(port, service) : whileStopped(port)
  })
}

function whileRunning(port: PortFacts, { pid, parts }: Extract<ServiceFacts, { state: 'running' }>): Finding {
  const place = placeOf(port)
  const { holders, bind } = port
  if (pid !== undefined && holders.some((holder) => holder.pid === pid)) return ok(`${place}: ours`)
  const isSeen = holders.some((holder) => holder.pid !== undefined)
  if (!isSeen && (holders.length > 0 || bind === 'taken')) {
    const part = parts.find((candidate) => candidate.part === partOf[port.purpose])
    if (part === undefined || part.ready) return ok(`${place}: taken, by the service as it says`)
    return problem(`${place}: taken, but not by the service, as it says`, whose(port))
  }
  if (holders.length === 0) {
    return problem(
      `${place}: the service runs and does not listen there`,
      'restart it: it may run with an older configuration, or its socket unit opens another port',
    )
  }
  return problem(`${place}: ${nameOf(port)} has it`, whatToDo(port))
}

function whileStopped(port: PortFacts): Finding {
  const place = placeOf(port)
  const { bind, holders } = port
  if (holders.some(({ pid }) => pid === serviceManagerPid))
    return ok(`${place}: held by the service manager, for the service to inherit`)
  if (holders.length > 0 && bind !== 'free')
    return problem(`${place}: ${nameOf(port)} has it`, whatToDo(port))
  switch (bind) {
    case 'free':
      return ok(`${place}: free`)
    case 'taken':
      return problem(`${place}: another program has it`, whatToDo(port))
    case 'denied':
      return warning(
        `${place}: this user may not open it`,
        'fine if the service inherits its sockets (deploy/systemd); else it needs CAP_NET_BIND_SERVICE',
      )
    case 'no-address':
      return problem(
        `${place}: this machine does not have that address`,
        `give it the address, or change ${settingOf[port.purpose] ?? 'boot.dhcp.interfaces'}`,
      )
    case 'no-interface':
    case 'not-tried':
      return note(`${place}: cannot be tried yet`)
  }
}

function placeOf({ purpose, protocol, host, port, interface: device }: PortFacts): string {
  const where = host === undefined ? `${port}` : `${host.includes(':') ? `[${host}]` : host}:${port}`
  return `${protocol.toUpperCase()} ${where}${device === undefined ? '' : ` on ${device}`} (${purpose})`
}

function nameOf({ holders }: PortFacts): string {
  const known = holders.filter(({ pid }) => pid !== undefined)
  if (known.length === 0) return 'another program'
  return known.map(({ pid, program }) => `${program ?? 'a process'} (process ${pid})`).join(', ')
}

function whatToDo(port: PortFacts): string {
  const program = port.holders.find((holder) => holder.program !== undefined)?.program ?? ''
  const known = knownPrograms[program]
  if (known !== undefined) return known
  const setting = settingOf[port.purpose]
  return `${whose(port)}${setting === undefined ? '' : `, or choose another with ${setting}`}`
}

function whose({ protocol, port }: PortFacts): string {
  return `see whose it is with: ss -${protocol === 'udp' ? 'u' : 't'}lpn sport = :${port}; stop that`
}
