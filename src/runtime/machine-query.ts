import { archFromIpxe, parseArch } from '../core/arch.ts'
import type { BootClient } from '../core/client.ts'
import { ServiceError } from '../core/errors.ts'
import type { Inventory } from '../core/host.ts'
import { parseMac } from '../core/mac.ts'
import { parseUuid } from '../core/uuid.ts'
import type { ExplainQuery } from '../http/admin/operations.ts'
import { noSuchHost } from './no-such-name.ts'

/**
 * The machine that an admin describes, as it would present itself. Without an architecture: x86_64 by UEFI, the most
 * common one, unless the host's record says otherwise.
 * @throws ServiceError USAGE for unreadable input, NOT_FOUND for an unknown host id
 */
export function clientFromQuery(query: ExplainQuery, inventory: Inventory): BootClient {
  const host = query.host === undefined ? undefined : inventory.hostsById.get(query.host)
  if (query.host !== undefined && host === undefined) {
    throw noSuchHost(query.host, inventory.hostsById.keys())
  }
  const mac = query.mac === undefined ? undefined : readable(query.mac, parseMac, 'mac', '52:54:00:ab:cd:ef')
  const uuid =
    query.uuid === undefined
      ? host?.uuid
      : readable(query.uuid, parseUuid, 'uuid', '00112233-4455-6677-8899-aabbccddeeff')
  const serial = query.serial ?? host?.serial
  const platform = query.platform ?? 'efi'
  const arch =
    query.arch === undefined
      ? (host?.arch ?? 'x86_64')
      : readable(
          query.arch,
          (text) => archFromIpxe(text, platform, undefined) ?? parseArch(text),
          'arch',
          'x86_64, aarch64, ppc64le or s390x',
        )
  return {
    macs: mac === undefined ? (host?.macs ?? []) : [mac],
    ...(uuid === undefined ? {} : { uuid }),
    ...(serial === undefined ? {} : { serial }),
    arch,
    firmware: platform === 'efi' ? 'uefi' : 'bios',
    loader: 'ipxe',
  }
}

function readable<T>(
  text: string,
  parse: (text: string) => T | undefined,
  field: string,
  example: string,
): T {
  const value = parse(text)
  if (value !== undefined) return value
  throw new ServiceError('USAGE', `${field} ${JSON.stringify(text)} is not understood`, {
    field,
    hint: `for example ${example}`,
  })
}
