import type { BootEvent } from '../core/boot-event.ts'
import { isProbeMac } from '../core/probe-mac.ts'

/** Whether `pilotlight doctor` asked, which is no machine: neither a boot, nor one that was seen. */
export function isOwnQuestion(event: BootEvent): boolean {
  return 'mac' in event && event.mac !== undefined && isProbeMac(event.mac)
}
