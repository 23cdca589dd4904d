import { createPrivateKey, X509Certificate } from 'node:crypto'
import { webhookSecretProblem } from '../core/webhook.ts'
import type { ConfigPath } from './config-path.ts'
import type { RawConfig } from './schema.ts'

/** A file whose content the configuration needs. */
export interface ReferencedFile {
  readonly path: ConfigPath
  /** As written. */
  readonly file: string
  readonly what: 'key file' | 'certificate file' | 'header file' | 'private key file' | 'secret file'
}

/** All files that must be read before the configuration is complete. */
export function referencedFiles(raw: RawConfig): readonly ReferencedFile[] {
  const files: ReferencedFile[] = keyFiles(raw.keys, ['keys'])
  const { ca } = raw.upstream
  if (ca !== undefined) files.push({ path: ['upstream', 'ca'], file: ca, what: 'certificate file' })
  const { tls } = raw.admin
  if (tls !== undefined) {
    const { certificate, key, clientAuthority } = tls
    files.push({ path: ['admin', 'tls', 'certificate'], file: certificate, what: 'certificate file' })
    files.push({ path: ['admin', 'tls', 'key'], file: key, what: 'private key file' })
    if (clientAuthority !== undefined) {
      files.push({
        path: ['admin', 'tls', 'clientAuthority'],
        file: clientAuthority,
        what: 'certificate file',
      })
    }
  }
  for (const [name, { keys, source }] of Object.entries(raw.streams)) {
    files.push(...keyFiles(keys ?? [], ['streams', name, 'keys']))
    for (const [header, value] of Object.entries(source.headers ?? {})) {
      if (typeof value === 'string' || value.file === undefined) continue
      files.push({
        path: ['streams', name, 'source', 'headers', header, 'file'],
        file: value.file,
        what: 'header file',
      })
    }
  }
  for (const [index, { secretFile }] of raw.webhooks.entries()) {
    files.push({ path: ['webhooks', index, 'secretFile'], file: secretFile, what: 'secret file' })
  }
  return files
}

function keyFiles(files: readonly string[], path: ConfigPath): ReferencedFile[] {
  return files.map((file, index) => ({ path: [...path, index], file, what: 'key file' }))
}

/** Why a file is not of the kind that it is named as; the rest of a sentence that begins with the file. */
export function contentProblem(what: ReferencedFile['what'], text: string): string | undefined {
  switch (what) {
    case 'key file':
      if (text.includes('BEGIN PGP PRIVATE KEY BLOCK'))
        return 'holds a private key, which does not belong here'
      return text.includes('-----BEGIN PGP PUBLIC KEY BLOCK-----')
        ? undefined
        : 'holds no armored OpenPGP public key'
    case 'certificate file':
      return certificateProblem(text)
    case 'private key file':
      return privateKeyProblem(text)
    case 'secret file':
      return webhookSecretProblem(text)
    case 'header file':
      return text.trim() === '' ? 'is empty' : undefined
  }
}

function privateKeyProblem(text: string): string | undefined {
  if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(text)) {
    return 'needs a passphrase, which nobody could type at a start: openssl pkey -in OLD -out NEW takes it away'
  }
  if (!/-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/.test(text)) return 'holds no private key in PEM form'
  try {
    createPrivateKey(text)
    return undefined
  } catch (error) {
    return `holds a private key that cannot be used: ${openSslReason(error)}`
  }
}

/** `error:0480006C:PEM routines::no start line` without its number. */
export function openSslReason(error: unknown): string {
  const { reason, message } = error as { readonly reason?: string; readonly message: string }
  return reason ?? message.replace(/^error:[0-9A-F]+:/, '')
}

function certificateProblem(text: string): string | undefined {
  const certificates = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g)
  if (certificates === null) return 'holds no certificate in PEM form'
  for (const [index, certificate] of certificates.entries()) {
    try {
      new X509Certificate(certificate)
    } catch {
      return `holds a certificate that cannot be read (number ${index + 1})`
    }
  }
  return undefined
}
