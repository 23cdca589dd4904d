import { readFile } from 'node:fs/promises'
import type { Arch } from '../core/arch.ts'
import type { LoaderSet } from '../core/loader.ts'
import { signerCertificates } from './certificates.ts'
import { refusalByShim } from './check-loader-set.ts'
import { inspectLoader } from './inspect-loader.ts'
import { secureBootPairs } from './loader-names.ts'
import { readPeImage } from './pe-image.ts'

/**
 * Why a set of loaders would not start a kernel under Secure Boot (DESIGN §9): GRUB asks shim, and shim knows the
 * signers that it trusts. The end of a sentence that begins with the kernel; `undefined` when it would.
 */
export async function kernelProblem(
  set: LoaderSet,
  arch: Arch,
  kernelPath: string,
): Promise<string | undefined> {
  const name = secureBootPairs.find((pair) => pair.arch === arch)?.shim
  const shim = name === undefined ? undefined : set.files.get(name)
  if (shim === undefined) return `cannot be started: loader set ${set.name} has no shim for ${arch}`
  const [shimBytes, kernelBytes] = await Promise.all([readFile(shim.path), readFile(kernelPath)])
  const kernel = readPeImage(kernelBytes)
  if (kernel === undefined) return 'is no EFI program, so GRUB cannot have it checked'
  return refusalByShim(inspectLoader(shimBytes), { signers: signerCertificates(kernel.certificates) })
}
