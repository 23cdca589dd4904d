import type { LoaderPlatform } from '../core/loader.ts'
import { type LoaderInspection, machineText } from './inspect-loader.ts'

const machines: Readonly<Partial<Record<LoaderPlatform, string>>> = {
  'efi-x64': '8664',
  'efi-arm64': 'AA64',
  'efi-ia32': '014C',
  'efi-arm32': '01C2',
  'efi-riscv64': '5064',
  'efi-loong64': '6264',
}

/**
 * Why firmware of a platform could not start this file; `undefined` when it can. A wrong one looks like success:
 * firmware fetches all of it and goes back to its menu without a word (field case 14).
 */
export function platformProblem(inspection: LoaderInspection, platform: LoaderPlatform): string | undefined {
  const { format, machine } = inspection
  if (platform === 'bios') {
    if (format === 'pe')
      return `it is an EFI program (PE machine ${machineText(machine ?? 0)}), which no BIOS starts`
    return format === 'bios' ? undefined : 'it is no boot program for a BIOS'
  }
  if (format !== 'pe' || machine === undefined) return 'it is no EFI program'
  if (inspection.platform === platform) return undefined
  const found = machineText(machine)
  const wanted = machines[platform]
  if (found === wanted) return 'it is a PE image, but no EFI program'
  return `its PE machine is ${found}${inspection.platform === undefined ? '' : ` (${inspection.platform})`}, ${platform} needs ${wanted}`
}
