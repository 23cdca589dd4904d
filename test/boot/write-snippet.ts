import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Firmware } from './boot-machine.ts'
import { type BootSite, loaderSet } from './boot-site.ts'

const snippets = resolve(import.meta.dirname, '../../deploy/examples/dhcp')

/**
 * Puts one of our documented snippets into the folder of a boot, as an admin would, and returns its path. With Secure
 * Boot it hands out the shim, as its first lines say.
 */
export function writeSnippet(site: BootSite, name: string, firmware: Firmware): string {
  const text = readFileSync(join(snippets, name), 'utf8')
  const path = join(site.directory, name)
  writeFileSync(
    path,
    firmware.endsWith('-secure') ? text.replaceAll('snponly.efi', `${loaderSet}/shimx64.efi`) : text,
  )
  return path
}
