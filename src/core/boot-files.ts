import type { ArtifactRole } from './artifact.ts'
import type { BootDecision } from './boot-decision.ts'

const none: readonly ArtifactRole[] = []
const live: readonly ArtifactRole[] = ['kernel', 'initramfs', 'rootfs']
const selfContained: readonly ArtifactRole[] = ['kernel', 'initramfs']
const legacyInstaller: readonly ArtifactRole[] = ['kernel', 'initramfs', 'disk']

/** Roles of the files that the script of a decision makes a machine fetch; when it has them, it needs no more of us. */
export function bootFilesOf(decision: BootDecision): readonly ArtifactRole[] {
  if (decision.kind !== 'live' && decision.kind !== 'install') return none
  const { kind, rootfs } = decision.bootimage
  if (kind === 'legacy-installer') return legacyInstaller
  return rootfs === undefined ? selfContained : live
}
