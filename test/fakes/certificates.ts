import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

export interface CertificateFiles {
  readonly certificateFile: string
  readonly keyFile: string
  readonly certificate: string
  readonly key: string
}

const directory = resolve(import.meta.dirname, '../fixtures/tls')

/**
 * Certificates for the tests of the admin listener, good until the year 2126: `first` and `second` are of their own
 * authority and for 127.0.0.1, `client` was signed by `adminAuthority`.
 */
export function adminCertificate(name: 'first' | 'second' | 'client'): CertificateFiles {
  const certificateFile = resolve(directory, `admin-${name}.pem`)
  const keyFile = resolve(directory, `admin-${name}.key`)
  return {
    certificateFile,
    keyFile,
    certificate: readFileSync(certificateFile, 'utf8'),
    key: readFileSync(keyFile, 'utf8'),
  }
}

export const adminAuthorityFile = resolve(directory, 'admin-authority.pem')
