import type { BootClient } from '../core/client.ts'
import { macWithHyphens } from '../core/mac.ts'

/** The name under which PXELINUX finds the configuration of a machine, by what is known of it (field case 80). */
export function configName({ macs: [mac], uuid }: Pick<BootClient, 'macs' | 'uuid'>): string {
  if (mac !== undefined) return `pxelinux.cfg/01-${macWithHyphens(mac)}`
  return `pxelinux.cfg/${uuid ?? 'default'}`
}
