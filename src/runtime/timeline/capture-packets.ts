import type { MachineCapture } from '../../capture/create-capture.ts'
import { ServiceError } from '../../core/errors.ts'
import { type MacAddress, parseMac } from '../../core/mac.ts'
import type { BootOperations } from '../../http/admin/boot-operations.ts'
import { isoIfAny } from '../fleet/times.ts'

/** The packets of the last boots of a machine, as a file that analysers open. */
export function createCapturePackets(
  captureOf: (mac: MacAddress) => MachineCapture | undefined,
): BootOperations['capture'] {
  return async ({ mac: text }) => {
    const mac = parseMac(text)
    if (mac === undefined) {
      throw new ServiceError('USAGE', `mac ${JSON.stringify(text)} is not understood`, {
        field: 'mac',
        hint: 'for example 52:54:00:ab:cd:ef',
      })
    }
    const found = captureOf(mac)
    if (found === undefined) {
      throw new ServiceError('NOT_FOUND', 'no packets are kept', {
        hint: 'they are while the service runs with boot.dhcp or boot.tftp on, unless the configuration says capture: off',
      })
    }
    const { packets, dropped, pcap, oldest, newest } = found
    return {
      mac,
      packets,
      oldest: isoIfAny(oldest),
      newest: isoIfAny(newest),
      dropped,
      pcap: pcap.toString('base64'),
    }
  }
}
