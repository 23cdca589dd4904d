import { effectiveSettings } from '../core/effective-settings.ts'
import type { Host, Inventory } from '../core/host.ts'
import { installerReports } from '../core/ignition-serving.ts'
import type { HostsFile } from './hosts-files.ts'
import { type ConfigProblem, problemAt } from './problem.ts'

/** More say nothing new, and a hundred thousand lines say nothing at all. */
const toldHosts = 10

/**
 * Warns of known machines that nothing gives a mode, a stream or the disk to install to: they are held when they boot;
 * and of those that install and cannot report it: they install again whenever they boot from the network.
 */
export function checkHeldHosts(
  files: readonly HostsFile[],
  inventory: Inventory,
  now: number,
  warnings: ConfigProblem[],
): void {
  // Racks of machines are alike, so few questions are asked for a hundred thousand of them.
  const lacks = new Map<string, string | undefined>()
  const lackOfAny = (host: Host): string | undefined => {
    const { mode, stream, profile, install, labels, report, extraInitrds } = host
    const key = JSON.stringify([mode, stream, profile, install?.device, labels, report, extraInitrds?.length])
    if (!lacks.has(key)) lacks.set(key, lackOf(host, inventory, now))
    return lacks.get(key)
  }
  let untold = 0
  let told = 0
  for (const { file, hosts, places } of files) {
    for (const [index, { id }] of hosts.entries()) {
      const host = inventory.hostsById.get(id)
      const lacking = host === undefined ? undefined : lackOfAny(host)
      if (lacking === undefined) continue
      if (told >= toldHosts) {
        untold += 1
        continue
      }
      told += 1
      const place = places[index] ?? { file, line: 1, column: 1 }
      warnings.push(problemAt(place, ['hosts', index], `host ${id} ${lacking}`))
    }
  }
  const [first] = files
  if (untold > 0 && first !== undefined) {
    warnings.push(
      problemAt({ file: first.file, line: 1, column: 1 }, [], `${untold} more hosts are like these`),
    )
  }
}

function lackOf(host: Host, inventory: Inventory, now: number): string | undefined {
  const settings = effectiveSettings({ inventory, host, firmware: 'uefi', now })
  const { mode, stream, installDevice, isProfileMissing } = settings
  // Told as a mistake.
  if (isProfileMissing) return undefined
  if (mode === undefined) return 'has no mode, so it is held; give it a profile, or a mode'
  const needsStream = mode.value === 'live' || mode.value === 'install'
  if (needsStream && stream === undefined)
    return 'has no stream, so it is held; give it a profile, or a stream'
  if (mode.value !== 'install') return undefined
  if (installDevice === undefined)
    return 'is to be installed to no disk, so it is held; give it install.device'
  const { report, extraInitrds } = settings
  if (installerReports({ report: report?.value, extraInitrds: extraInitrds.value })) return undefined
  const why = report?.value === false ? 'report: false' : 'its installer has extraInitrds'
  return `is installed and cannot report it (${why}), so it installs again at each network boot, five times at most; say pilotlight install HOST --done after the first`
}
