/** Architectures by their RPM names; every other spelling is mapped at the edge. */
export const architectures = ['x86_64', 'aarch64', 'ppc64le', 's390x'] as const
export type Arch = (typeof architectures)[number]

const spellings: Readonly<Record<string, Arch>> = {
  x86_64: 'x86_64',
  'x86-64': 'x86_64',
  amd64: 'x86_64',
  x64: 'x86_64',
  aarch64: 'aarch64',
  arm64: 'aarch64',
  ppc64le: 'ppc64le',
  ppc64el: 'ppc64le',
  s390x: 's390x',
}

/** Maps RPM, Go, Debian and EFI spellings to the RPM name; `undefined` for what we do not know. */
export function parseArch(text: string): Arch | undefined {
  const key = text.trim().toLowerCase()
  return Object.hasOwn(spellings, key) ? spellings[key] : undefined
}

/**
 * The architecture behind what iPXE says in `${buildarch}` and `${platform}`.
 * A 32-bit iPXE on a BIOS machine runs on 64-bit CPUs, so `i386` with `pcbios` means x86_64
 * unless the entry script's `cpuid --ext 29` (long mode) said otherwise.
 */
export function archFromIpxe(
  buildArch: string,
  platform: string | undefined,
  hasLongMode: boolean | undefined,
): Arch | undefined {
  if (buildArch === 'i386' || buildArch === 'x86_32') {
    if (hasLongMode === false) return undefined
    // 32-bit UEFI cannot start a 64-bit EFI stub kernel; only BIOS may switch modes.
    return platform === undefined || platform === 'pcbios' ? 'x86_64' : undefined
  }
  return parseArch(buildArch)
}

/**
 * The architecture behind what GRUB says in `$grub_cpu` and `$grub_platform`. A 32-bit GRUB on a BIOS machine starts
 * 64-bit kernels; on 32-bit UEFI it cannot. Power says `powerpc` whatever its byte order, and only the little one
 * boots anything here.
 */
export function archFromGrub(cpu: string, platform: string | undefined): Arch | undefined {
  if (cpu === 'i386') return platform === 'pc' ? 'x86_64' : undefined
  if (cpu === 'powerpc') return platform === 'ieee1275' ? 'ppc64le' : undefined
  return parseArch(cpu)
}
