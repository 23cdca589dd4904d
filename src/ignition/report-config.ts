import type { IgnitionMajor } from './read-ignition.ts'

/** What makes a machine report: files of `templates/ignition`. */
export interface ReportFiles {
  /** `pilotlight-report`: posts one status after the other. */
  readonly script: string
  /** `pilotlight-report.service`, in which `@statuses@` stands for what is to be told. */
  readonly unit: string
  /** `coreos-installer.conf`: what the live system that installs tells before it restarts. */
  readonly installer: string
}

/**
 * Which system reads the config: one that runs from RAM, one that was written to a disk, or the live one that writes
 * it.
 */
export type ReportingSystem = 'live' | 'installed' | 'installer'

export interface ReportConfig {
  readonly major: IgnitionMajor
  readonly system: ReportingSystem
  readonly reportUrl: string
  /** The config of the machine itself, which stands above ours. */
  readonly around?: { readonly text: string } | { readonly url: string }
}

const statuses = { live: 'booted', installed: 'installed booted' } as const
const scriptPath = '/usr/local/bin/pilotlight-report'
const urlPath = '/etc/pilotlight/report-url'
const ownerOnly = 0o600
const executable = 0o755

/**
 * An Ignition config that makes its machine report, with the machine's own config in it: `config.merge` of 3.0.0, which
 * every Ignition of today reads whatever version the inner one has, or `config.append` of 2.2.0.
 */
export function reportConfig(config: ReportConfig, files: ReportFiles): string {
  const { major, system, reportUrl, around } = config
  const file = (path: string, mode: number, text: string) => ({
    ...(major === 2 ? { filesystem: 'root' } : {}),
    path,
    mode,
    overwrite: true,
    contents: { source: dataUrl(text) },
  })
  const sources =
    around === undefined ? [] : [{ source: 'url' in around ? around.url : dataUrl(around.text) }]
  const version = major === 2 ? '2.2.0' : '3.0.0'
  const inner = major === 2 ? { append: sources } : { merge: sources }
  return JSON.stringify({
    ignition: { version, ...(sources.length === 0 ? {} : { config: inner }) },
    storage: {
      files: [file(urlPath, ownerOnly, `${reportUrl}\n`), file(scriptPath, executable, files.script)],
    },
    systemd: { units: [unitFor(system, files)] },
  })
}

function unitFor(system: ReportingSystem, files: ReportFiles): object {
  if (system === 'installer') {
    const dropins = [{ name: '50-pilotlight-report.conf', contents: files.installer }]
    return { name: 'coreos-installer.service', dropins }
  }
  const contents = files.unit.replace('@statuses@', statuses[system])
  return { name: 'pilotlight-report.service', enabled: true, contents }
}

function dataUrl(text: string): string {
  return `data:;base64,${Buffer.from(text).toString('base64')}`
}
