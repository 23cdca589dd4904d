import type { X509Certificate } from 'node:crypto'
import type { Arch } from '../core/arch.ts'
import { issuerName, subjectName } from './certificates.ts'
import type { LoaderInspection } from './inspect-loader.ts'
import { type SecureBootPair, secureBootPairs } from './loader-names.ts'

export interface LoaderSetVerdict {
  /** With a shim and a GRUB that fit each other. */
  readonly architectures: readonly Arch[]
  /** Sentences for an admin; empty for a set that does what it is for. */
  readonly problems: readonly string[]
}

/**
 * Whether the files of a set, by name, boot a machine with Secure Boot: for each architecture a shim that firmware
 * accepts, and beside it a GRUB that this shim accepts. Whose signatures they carry is read, not verified: a file that
 * somebody changed is for firmware and shim to refuse.
 */
export function checkLoaderSet(files: ReadonlyMap<string, LoaderInspection>): LoaderSetVerdict {
  const architectures: Arch[] = []
  const problems: string[] = []
  let isEmpty = true
  for (const pair of secureBootPairs) {
    const shim = files.get(pair.shim)
    const grub = files.get(pair.grub)
    if (shim === undefined && grub === undefined) continue
    isEmpty = false
    const found = pairProblems(pair, shim, grub)
    if (found.length === 0) architectures.push(pair.arch)
    problems.push(...found)
  }
  if (isEmpty) {
    const wanted = secureBootPairs.map(({ shim, grub }) => `${shim} and ${grub}`).join(', or ')
    problems.push(`it holds no shim and no GRUB: put ${wanted} there`)
  }
  return { architectures, problems }
}

function pairProblems(
  { shim: shimName, grub: grubName }: SecureBootPair,
  shim: LoaderInspection | undefined,
  grub: LoaderInspection | undefined,
): readonly string[] {
  if (shim === undefined) return [`${grubName} has no ${shimName} beside it`]
  if (grub === undefined) return [`${shimName} has no ${grubName} beside it, which it starts`]
  if (shim.kind !== 'shim') return [`${shimName} is no shim`]
  const problems: string[] = []
  if (shim.signers.length === 0) {
    problems.push(`${shimName} is not signed, so firmware with Secure Boot refuses it`)
  }
  const refusal = refusalByShim(shim, grub)
  if (refusal !== undefined) problems.push(`${grubName} ${refusal}`)
  return problems
}

/** The authority whose certificates nearly every firmware holds; shim accepts what firmware accepts. */
const firmwareAuthority = /^Microsoft /

/**
 * Why a shim would not start an image, or let GRUB start it: the end of a sentence that begins with the image.
 * `undefined` when its signer is one that this shim trusts.
 */
export function refusalByShim(
  shim: Pick<LoaderInspection, 'trusted'>,
  { signers }: Pick<LoaderInspection, 'signers'>,
): string | undefined {
  if (signers.length === 0) return 'is not signed'
  if (signers.some((signer) => isTrusted(signer, shim.trusted))) return undefined
  const said = signers
    .map((signer) => `${subjectName(signer)} (issued by ${issuerName(signer)})`)
    .join(' and ')
  const trusted = shim.trusted.map(subjectName).join(', ') || 'nobody'
  return `is signed by ${said}, and this shim trusts ${trusted}`
}

function isTrusted(signer: X509Certificate, trusted: readonly X509Certificate[]): boolean {
  if (firmwareAuthority.test(issuerName(signer))) return true
  return trusted.some((authority) => authority.raw.equals(signer.raw) || isIssuedBy(signer, authority))
}

function isIssuedBy(signer: X509Certificate, authority: X509Certificate): boolean {
  try {
    return signer.checkIssued(authority) && signer.verify(authority.publicKey)
  } catch {
    // A key of a kind that this Node cannot use signed nothing that it could check.
    return false
  }
}
