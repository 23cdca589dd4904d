import { X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import type { AdminTlsConfig } from './config.ts'
import type { Reporter } from './layered-data.ts'
import { openSslReason } from './referenced-files.ts'

/**
 * Whether certificate and key are of one pair, as a listener would find out, and whether clients will take it.
 * @param now ms since the epoch
 */
export function checkAdminTls(tls: AdminTlsConfig | undefined, report: Reporter, now: number): void {
  if (tls === undefined) return
  const { certificate, key, clientAuthority } = tls
  try {
    createSecureContext({ cert: certificate, key, ca: clientAuthority })
  } catch (error) {
    report.problem(
      ['admin', 'tls', 'key'],
      `certificate and key cannot be used together: ${openSslReason(error)}`,
    )
    return
  }
  const { validTo } = new X509Certificate(certificate)
  if (Date.parse(validTo) <= now) {
    report.warn(
      ['admin', 'tls', 'certificate'],
      `the certificate has ended (${validTo}), so clients refuse it`,
    )
  }
}
