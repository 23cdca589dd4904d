import type { Config } from '../../config/config.ts'
import type { ListenAddress } from '../../config/listen-address.ts'
import { standardPorts } from '../../dhcp/destination.ts'
import type { PortFacts } from '../../doctor/check-ports.ts'

export type PortWanted = Omit<PortFacts, 'bind' | 'holders'>

/** Every port that the configuration makes the service open. */
export function wantedPorts({ boot, admin }: Config): readonly PortWanted[] {
  return [
    { purpose: 'boot', protocol: 'tcp', ...boot.http.listen },
    { purpose: 'admin', protocol: 'tcp', ...admin.listen },
    ...(boot.tftp === undefined ? [] : [tftp(boot.tftp.listen)]),
    ...(boot.dhcp?.interfaces ?? []).flatMap((device): PortWanted[] => [
      { purpose: 'DHCP', protocol: 'udp', port: standardPorts.server, interface: device },
      { purpose: 'proxyDHCP', protocol: 'udp', port: standardPorts.proxy, interface: device },
    ]),
  ]
}

function tftp(listen: ListenAddress): PortWanted {
  return { purpose: 'TFTP', protocol: 'udp', ...listen }
}
