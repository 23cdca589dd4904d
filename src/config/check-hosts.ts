import { parseMac } from '../core/mac.ts'
import { parseUuid, swapUuidByteOrder } from '../core/uuid.ts'
import { checkSettings, type KnownNames } from './check-settings.ts'
import type { ConfigPath } from './config-path.ts'
import { type HostsFile, positionsIn } from './hosts-files.ts'
import { createReporter, type Reporter } from './layered-data.ts'
import type { RawHost } from './machine-schema.ts'
import { type ConfigProblem, problemAt } from './problem.ts'

interface Claim {
  readonly host: string
  readonly file: string
  readonly line: number
}

/** Each mark of a machine belongs to one host, over all files; references lead to something. */
export function checkHosts(
  files: readonly HostsFile[],
  known: KnownNames & { readonly now: number },
  problems: ConfigProblem[],
  warnings: ConfigProblem[],
): void {
  const claims = new Map<string, Claim>()
  for (const file of files) {
    const report: Reporter = {
      ...createReporter(positionsIn(file), problems, warnings),
      // Finding the very place means parsing the file once more; for a warning the host is near enough.
      warn: (path, message, hint) => {
        const line = file.lines[Number(path[1])] ?? 1
        warnings.push(problemAt({ file: file.file, line, column: 1 }, path, message, hint))
      },
    }
    for (const [index, host] of file.hosts.entries()) {
      const path: ConfigPath = ['hosts', index]
      const claim: Claim = { host: host.id, file: file.file, line: file.lines[index] ?? 1 }
      checkMarks(host, path, claim, claims, report)
      checkSettings(host, path, { ...known, report })
    }
  }
}

function checkMarks(
  host: RawHost,
  path: ConfigPath,
  claim: Claim,
  claims: Map<string, Claim>,
  report: Reporter,
): void {
  const take = (keys: readonly string[], at: ConfigPath, what: string) => {
    const other = keys.map((key) => claims.get(key)).find((found) => found !== undefined)
    if (other === undefined) {
      for (const key of keys) claims.set(key, claim)
      return
    }
    const whose =
      other === claim ? 'is there twice' : `belongs to host ${other.host} (${other.file}:${other.line})`
    report.problem([...path, ...at], `${what} ${whose}`)
  }
  take([`id ${host.id}`], ['id'], `the id ${host.id}`)
  for (const [index, text] of (host.macs ?? []).entries()) {
    const mac = parseMac(text) ?? text
    take([`mac ${mac}`], ['macs', index], `MAC ${mac}`)
  }
  const uuid = host.uuid === undefined ? undefined : parseUuid(host.uuid)
  if (uuid !== undefined) {
    // Firmware and BMC may spell one machine's UUID in either byte order (field case 155).
    const swapped = swapUuidByteOrder(uuid)
    take([...new Set([`uuid ${uuid}`, `uuid ${swapped}`])], ['uuid'], `UUID ${uuid} (in either byte order)`)
  }
  if (host.serial !== undefined) take([`serial ${host.serial}`], ['serial'], `serial ${host.serial}`)
}
