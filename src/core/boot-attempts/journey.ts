import type { DecisionKind } from '../boot-decision.ts'
import type { BootEvent, DhcpQuestion } from '../boot-event.ts'
import { type FileRole, fileRoleOf } from './file-role.ts'

/** How far a boot came; each includes those before. */
export const reached = {
  nothing: 0,
  loader: 1,
  script: 2,
  files: 3,
  /** Kernel and initramfs are whole: the loader has handed over, or is about to. */
  kernel: 4,
  /** The system itself asked for something. */
  system: 5,
} as const
export type Reached = (typeof reached)[keyof typeof reached]

/**
 * What has to be known of an attempt to tell whether an event still belongs to it. Changed in place, by every event:
 * a few comparisons each.
 */
export interface Journey {
  level: Reached
  /** Its firmware was heard or fetched a loader, so that an iPXE is not itself the firmware. */
  hasFirmware: boolean
  /** Of the last DHCP run of its firmware. */
  xid: number | undefined
  via: DhcpQuestion['via'] | undefined
  /** Of its last decision. */
  kind: DecisionKind | undefined
  /** Loaders that it fetched whole. */
  loaders: number
  hasKernel: boolean
  hasInitramfs: boolean
}

export function createJourney(): Journey {
  return {
    level: reached.nothing,
    hasFirmware: false,
    xid: undefined,
    via: undefined,
    kind: undefined,
    loaders: 0,
    hasKernel: false,
    hasInitramfs: false,
  }
}

/** Moves the journey on by one event. */
export function travel(journey: Journey, event: BootEvent): void {
  const level = levelBy(journey, event)
  if (journey.level < level) journey.level = level
}

/** How far the event takes it; notes by the way what the next one needs to know. */
function levelBy(journey: Journey, event: BootEvent): Reached {
  switch (event.type) {
    case 'dhcp-answered':
    case 'dhcp-unanswered':
      // By which entry it came to its disk stays known, whatever it tries on its way there.
      if (event.asked?.stage === 'firmware' && journey.kind !== 'local' && journey.kind !== 'ignore') {
        journey.hasFirmware = true
        journey.xid = event.asked.xid
        journey.via = event.asked.via
      }
      return reached.nothing
    case 'entry-sent':
      return reached.script
    case 'decided':
      // It begins with its files once more.
      journey.level = reached.script
      journey.kind = event.kind
      journey.hasKernel = false
      journey.hasInitramfs = false
      return reached.script
    case 'tftp-started':
    case 'artifact-progress':
      return levelByFile(journey, fileRoleOf(event), false)
    case 'tftp-ended':
      return levelByFile(journey, fileRoleOf(event), event.isWhole)
    case 'artifact-sent':
      if (event.status >= 300) return reached.nothing
      return levelByFile(journey, fileRoleOf(event), event.completed && event.method === 'GET')
    case 'ignition-sent':
    case 'reported':
      return reached.system
    default:
      return reached.nothing
  }
}

function levelByFile(journey: Journey, role: FileRole, isWhole: boolean): Reached {
  if (role === 'loader') {
    journey.hasFirmware = true
    if (isWhole) journey.loaders += 1
    return reached.loader
  }
  if (role === 'script') return reached.script
  // Modules and certificates of a loader, before there is a decision.
  if (role === 'other') return reached.loader
  if ((role === 'rootfs' || role === 'disk') && journey.level >= reached.kernel) return reached.system
  if (isWhole && role === 'kernel') journey.hasKernel = true
  if (isWhole && role === 'initramfs') journey.hasInitramfs = true
  return journey.hasKernel && journey.hasInitramfs ? reached.kernel : reached.files
}
