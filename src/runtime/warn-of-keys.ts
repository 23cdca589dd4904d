import { keyWarnings, readTrustedKeys } from '../artifacts/trusted-keys.ts'
import type { StreamConfig } from '../config/config.ts'
import type { Log } from '../core/log.ts'

/**
 * Says which trusted keys have expired or soon will (field case 139): what they signed is then refused, while what is
 * verified already is served on.
 * @throws ServiceError CONFIG_INVALID for a key file that cannot be read as keys
 */
export async function warnOfKeys(streams: Iterable<StreamConfig>, now: number, log: Log): Promise<void> {
  for (const { name, keys } of streams) {
    for (const { path, text } of keys) {
      for (const warning of keyWarnings(await readTrustedKeys([text]), now)) {
        const expiresAt = new Date(warning.expiresAt).toISOString()
        const fields = { stream: name, file: path, key: warning.id, owner: warning.name, expiresAt }
        log.warn(fields, warning.isExpired ? 'trusted key has expired' : 'trusted key expires soon')
      }
    }
  }
}
