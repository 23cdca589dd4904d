import { readFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import type { Arch } from '../core/arch.ts'
import type { LoaderSet } from '../core/loader.ts'
import { signerCertificates } from './certificates.ts'
import { refusalByShim } from './check-loader-set.ts'
import { inspectLoader } from './inspect-loader.ts'
import { secureBootPairs } from './loader-names.ts'
import { readPeImage } from './pe-image.ts'

/** Real ones have below 64 MiB. */
const maxKernelBytes = 256 * 1024 * 1024

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
  const kernel = readPeImage(unpacked(kernelBytes))
  if (kernel === undefined) return 'is no EFI program, so GRUB cannot have it checked'
  return refusalByShim(inspectLoader(shimBytes), { signers: signerCertificates(kernel.certificates) })
}

/** Of an aarch64 kernel in gzip it is what GRUB unpacks that is checked; what is no gzip after all stays as it is. */
function unpacked(bytes: Buffer): Buffer {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  try {
    return gunzipSync(bytes, { maxOutputLength: maxKernelBytes })
  } catch {
    return bytes
  }
}
