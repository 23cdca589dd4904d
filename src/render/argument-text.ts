import { ServiceError } from '../core/errors.ts'
import {
  grubArgumentProblem,
  ipxeArgumentProblem,
  pxelinuxArgumentProblem,
} from '../core/kernel-argument-rules.ts'
import type { Dialect } from './dialect.ts'
import { grubWord } from './grub-word.ts'

interface Writing {
  readonly loader: string
  problem(argument: string): string | undefined
  word(argument: string): string
}

const asItIs = (argument: string) => argument

const writings: Readonly<Record<Dialect, Writing>> = {
  ipxe: { loader: 'iPXE', problem: ipxeArgumentProblem, word: asItIs },
  grub: { loader: 'GRUB', problem: grubArgumentProblem, word: grubWord },
  pxelinux: { loader: 'PXELINUX', problem: pxelinuxArgumentProblem, word: asItIs },
}

/**
 * Kernel arguments as they stand in a script.
 * @throws ServiceError KERNEL_ARGUMENT_INVALID for one that the loader of this dialect would change or cut
 */
export function argumentText(words: readonly string[], dialect: Dialect): string {
  const { loader, problem, word } = writings[dialect]
  for (const argument of words) {
    const reason = problem(argument)
    if (reason === undefined) continue
    const message = `kernel argument ${JSON.stringify(argument)} cannot be written for ${loader}: ${reason}`
    throw new ServiceError('KERNEL_ARGUMENT_INVALID', message, { argument, dialect })
  }
  return words.map(word).join(' ')
}
