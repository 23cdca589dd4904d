import { type Capture, createCapture, type MachineCapture } from '../capture/create-capture.ts'
import type { Clock } from '../core/clock.ts'
import { type Ipv4, parseIpv4 } from '../core/ipv4.ts'
import type { MacAddress } from '../core/mac.ts'
import type { DhcpTap } from '../dhcp/packet-tap.ts'
import type { TftpTap } from '../tftp/tftp-tap.ts'

export interface StartCaptureOptions {
  /** `undefined`: nothing is kept. */
  readonly memoryBytes: number | undefined
  readonly isKnown: (mac: MacAddress) => boolean
  readonly macOf: (address: Ipv4) => MacAddress | undefined
  readonly addressOf: (mac: MacAddress) => Ipv4 | undefined
  readonly clock: Clock
}

/** What the sockets are given to show their packets to, and what was kept of them. */
export interface StartedCapture {
  readonly dhcpTap?: DhcpTap
  readonly tftpTap?: TftpTap
  /**
   * `undefined` where nothing is kept.
   * @param bootedAt where it booted from last: counts where our DHCP saw no address of it
   */
  captureOf(mac: MacAddress, bootedAt?: Ipv4): MachineCapture | undefined
}

export function startCapture(options: StartCaptureOptions): StartedCapture {
  const { memoryBytes, isKnown, macOf, addressOf, clock } = options
  if (memoryBytes === undefined) return { captureOf: () => undefined }
  const capture = createCapture({ memoryBytes, isKnown, macOf, clock })
  return {
    dhcpTap: capture.dhcp,
    tftpTap: tftpTapOf(capture),
    captureOf: (mac, bootedAt) => capture.of(mac, addressOf(mac) ?? bootedAt),
  }
}

/** IPv4 alone: no firmware that boots from here fetches by TFTP over IPv6. */
function tftpTapOf(capture: Capture): TftpTap {
  return {
    packet(bytes, isOurs, { address, port, localAddress }, localPort) {
      const peer = parseIpv4(address)
      const local = parseIpv4(localAddress)
      if (peer === undefined || local === undefined) return
      capture.tftp(bytes, isOurs, local, localPort, peer, port)
    },
    transfer({ address, port, localAddress }, localPort) {
      const peer = parseIpv4(address)
      const local = parseIpv4(localAddress)
      if (peer === undefined || local === undefined) return undefined
      return capture.transfer(local, localPort, peer, port)
    },
  }
}
