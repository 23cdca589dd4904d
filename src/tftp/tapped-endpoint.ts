import type { TransferEndpoint } from './endpoint.ts'
import type { TransferTap } from './tftp-tap.ts'

/** An endpoint whose packets are seen as they leave. */
export function tappedEndpoint(endpoint: TransferEndpoint, tap: TransferTap): TransferEndpoint {
  return {
    localPort: endpoint.localPort,
    send(packet) {
      tap.sent(packet, 0, packet.length, packet.length)
      endpoint.send(packet)
    },
    sendRun(bytes, offset, length, stride) {
      tap.sent(bytes, offset, length, stride)
      endpoint.sendRun(bytes, offset, length, stride)
    },
    close: endpoint.close,
  }
}
