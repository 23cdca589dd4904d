import type { BootPhase } from '../boot-attempt.ts'
import type { BootEvent } from '../boot-event.ts'
import { fileRoleOf } from './file-role.ts'

/** The phase that each event belongs to, event by event; one that says nothing of it belongs to the phase before. */
export function createStepPhases(): (event: Exclude<BootEvent, { type: 'diagnosed' }>) => BootPhase {
  let phase: BootPhase = 'dhcp'
  let hasLoader = false
  return function phaseOf(event) {
    switch (event.type) {
      case 'dhcp-answered':
      case 'dhcp-unanswered': {
        // An iPXE that was chainloaded asks for an address of its own.
        const isLoader = event.asked !== undefined && event.asked.stage !== 'firmware' && hasLoader
        if (event.asked?.stage === 'firmware') hasLoader = true
        return isLoader ? 'loader' : 'dhcp'
      }
      case 'decided':
      case 'entry-sent':
        phase = 'script'
        return phase
      case 'ignition-sent':
        phase = event.system === 'installed' ? 'system' : 'ignition'
        return phase
      case 'token-refused':
        if (event.purpose === 'ignition') phase = 'ignition'
        return event.purpose === 'ignition' ? 'ignition' : 'system'
      case 'reported':
        phase = 'system'
        return phase
      case 'dhcp-troubled':
        return phase
      default: {
        const role = fileRoleOf(event)
        if (role !== 'other') phase = role === 'disk' ? 'rootfs' : role
        if (role === 'loader') hasLoader = true
        return phase
      }
    }
  }
}
