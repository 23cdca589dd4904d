import { type BootPhase, bootPhases } from '../boot-attempt.ts'
import type { AttemptFacts, PhaseSilences } from './attempt-facts.ts'

/** How long a boot may be silent in each phase before its next step is overdue, ms. */
export type PhaseLimits = Readonly<Record<BootPhase, number>>

const seconds = 1000
const minutes = 60 * seconds

/**
 * What is normal for machines nobody knows yet. Silence counts, not duration: bytes that move are a sign of life, so a
 * rootfs may take an hour over a slow line.
 */
export const defaultLimits: PhaseLimits = {
  /** EDK2 asks after 0, 4, 12 and 28 s and gives up after 63 s. */
  dhcp: 90 * seconds,
  /** A loader's own driver resets the link: spanning tree or LACP blocks it for 30 to 70 s (field case 58). */
  loader: 3 * minutes,
  /** Scripts try again at least once a minute. */
  script: 2.5 * minutes,
  kernel: 2.5 * minutes,
  /** The kernel unpacks, drivers start, and the link comes up once more. */
  initramfs: 5 * minutes,
  rootfs: 5 * minutes,
  /** From the last file to the config: the rootfs is unpacked, and the network may be set up anew. */
  ignition: 5 * minutes,
  /** Ignition writes disks and files, and units start, with nothing to be seen from here. */
  system: 15 * minutes,
}

/** An installer writes the disk in silence, and the machine is restarted before the last word. */
const installFactor = 3
/** A TFTP transfer tells nothing until it ends: kernels and initramfs take minutes by it. */
const tftpTransferMs = 15 * minutes

/** Of boots that went well the last ones count. */
export const mostLearnedBoots = 8
const fewestForLess = 3
const longestLimitMs = 4 * 60 * minutes

/**
 * Limits of a machine whose boots were seen: three times the longest silence of its last good boots, and half a minute.
 * One boot can only make them longer; a few, shorter too, to a third of what is normal for others.
 */
export function learnLimits(history: readonly PhaseSilences[]): PhaseLimits {
  if (history.length === 0) return defaultLimits
  const learned: Record<BootPhase, number> = { ...defaultLimits }
  for (const phase of bootPhases) {
    let longest = 0
    let count = 0
    for (const { [phase]: silence } of history) {
      if (silence === undefined) continue
      count += 1
      if (silence > longest) longest = silence
    }
    if (count === 0) continue
    const usual = Math.min(3 * longest + 30 * seconds, longestLimitMs)
    const normal = defaultLimits[phase]
    learned[phase] = count < fewestForLess ? Math.max(normal, usual) : Math.max(normal / 3, usual)
  }
  return learned
}

/** How long this boot may be silent from now on. */
export function limitOf(facts: AttemptFacts, limits: PhaseLimits): number {
  const { phase, decision, files } = facts
  let limit = limits[phase]
  if (decision?.kind === 'install' && (phase === 'system' || phase === 'rootfs' || phase === 'ignition')) {
    limit = Math.max(limit, limit < defaultLimits[phase] ? limit : defaultLimits[phase] * installFactor)
  }
  for (const file of files.values()) {
    if (file.isOpen && file.lastAt === facts.lastAt)
      limit = Math.max(limit, openTransferLimit(file.totalBytes))
  }
  return limit
}

/** HTTP tells of its progress, and its size with it; TFTP does not. */
function openTransferLimit(totalBytes: number | undefined): number {
  return totalBytes === undefined ? tftpTransferMs : 0
}
