import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TokenSubject } from '../boot/boot-tokens.ts'
import type { Leases } from '../boot/leases.ts'
import { sameLineOften } from '../boot/same-line-often.ts'
import type { IgnitionOfBoot } from '../boot/secret-service.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import type { Clock } from '../core/clock.ts'
import { type EffectiveSettings, effectiveSettings } from '../core/effective-settings.ts'
import { ServiceError } from '../core/errors.ts'
import type { Host, IgnitionSource, Inventory } from '../core/host.ts'
import { installerReports, makesReports, servesIgnition } from '../core/ignition-serving.ts'
import type { Log } from '../core/log.ts'
import { createIgnitionShelf } from '../ignition/ignition-shelf.ts'
import type { IgnitionVariables } from '../ignition/ignition-variables.ts'
import type { IgnitionConfig } from '../ignition/read-ignition.ts'
import { type ReportFiles, reportConfig } from '../ignition/report-config.ts'

export interface RenderIgnitionOptions {
  readonly inventory: () => Inventory
  /** Texts of the files that records name. */
  readonly texts: () => LoadedConfig['ignition']
  readonly leases: Pick<Leases, 'attemptOf'>
  readonly reportFiles: ReportFiles
  readonly clock: Clock
  readonly log: Log
}

/**
 * Ignition configs as they are in force now, for one boot each; from memory. A host that is held gets none, whatever it
 * got its script for.
 */
export function createRenderIgnition(options: RenderIgnitionOptions) {
  const { inventory, texts, leases, reportFiles, clock } = options
  const shelf = createIgnitionShelf()
  const lines = sameLineOften(clock)

  function configOf(source: IgnitionSource): IgnitionConfig {
    const { file, inline, template } = source
    const text = inline ?? (file === undefined ? undefined : texts().get(file))
    const config = text === undefined ? undefined : shelf.configOf(text, template !== false)
    if (config !== undefined) return config
    const which = file ?? 'in its record'
    throw new ServiceError('TEMPLATE_RENDER_FAILED', `the Ignition config ${which} is not a good one`, {
      file,
    })
  }

  /** Such a machine stops in its initramfs, and only its console says so. */
  function warnOfVersion({ major, version }: IgnitionConfig, { claims }: IgnitionOfBoot): void {
    const needed = claims.purpose === 'legacy' ? 2 : 3
    if (major === needed) return
    const host = claims.subject.kind === 'host' ? claims.subject.id : undefined
    const more = lines.count(`${version} ${host}`)
    if (more === undefined) return
    const release = leases.attemptOf(claims.bootId)?.bootimage
    options.log.warn(
      { host, version, needed: `${needed}.x`, release, more },
      'this release does not read this version of Ignition',
    )
  }

  /** @throws ServiceError TEMPLATE_RENDER_FAILED naming the config and what is missing */
  return function renderIgnition(boot: IgnitionOfBoot): string | undefined {
    const { claims, baseUrl, reportToken } = boot
    const known = settingsOf(claims.subject, inventory(), clock.now())
    if (known === undefined || known.settings.mode?.value === 'hold') return undefined
    const { host, settings } = known
    const ignition = settings.ignition?.value
    const wishes = { ignition, report: settings.report?.value }
    const reportUrl = `${baseUrl}/report/${reportToken}`
    if (claims.purpose === 'installer') {
      const extraInitrds = settings.extraInitrds.value
      if (!installerReports({ report: wishes.report, extraInitrds })) return undefined
      return reportConfig({ major: 3, system: 'installer', reportUrl }, reportFiles)
    }
    if (!servesIgnition(wishes)) return undefined
    const reports = makesReports(wishes)
    const isOurs = ignition !== undefined && ignition.url === undefined
    const config = isOurs ? configOf(ignition) : undefined
    if (config !== undefined) warnOfVersion(config, boot)
    const values = () => variablesOf(boot, host, settings, reportUrl, leases)
    const text = config === undefined ? undefined : render(config, ignition, values)
    if (!reports) return text
    const around = text === undefined ? urlOf(ignition) : { text }
    const major = config?.major ?? (claims.purpose === 'legacy' ? 2 : 3)
    const system = claims.purpose === 'live' ? 'live' : 'installed'
    return reportConfig({ major, system, reportUrl, ...(around && { around }) }, reportFiles)
  }
}

function urlOf(source: IgnitionSource | undefined): { readonly url: string } | undefined {
  return source?.url === undefined ? undefined : { url: source.url }
}

function settingsOf(
  subject: TokenSubject,
  inventory: Inventory,
  now: number,
): { readonly host?: Host; readonly settings: EffectiveSettings } | undefined {
  if (subject.kind === 'host') {
    const host = inventory.hostsById.get(subject.id)
    if (host === undefined) return undefined
    return { host, settings: effectiveSettings({ inventory, host, firmware: 'unknown', now }) }
  }
  const { unknown } = inventory
  if (unknown.kind === 'ignore') return undefined
  const unknownProfile = unknown.profile
  return { settings: effectiveSettings({ inventory, unknownProfile, firmware: 'unknown', now }) }
}

function render(
  config: IgnitionConfig,
  source: IgnitionSource | undefined,
  values: () => IgnitionVariables,
): string {
  try {
    return config.render(values())
  } catch (cause) {
    const which = source?.file ?? 'in its record'
    const what = cause instanceof Error ? cause.message.split('\n', 1)[0] : String(cause)
    const message = `the Ignition config ${which} cannot be filled in: ${what}`
    throw new ServiceError('TEMPLATE_RENDER_FAILED', message)
  }
}

function variablesOf(
  { claims, baseUrl }: IgnitionOfBoot,
  host: Host | undefined,
  settings: EffectiveSettings,
  reportUrl: string,
  leases: Pick<Leases, 'attemptOf'>,
): IgnitionVariables {
  const attempt = leases.attemptOf(claims.bootId)
  const mac = claims.subject.kind === 'mac' ? claims.subject.mac : attempt?.mac
  const macs = host?.macs ?? (mac === undefined ? [] : [mac])
  // `<stream>/<arch>/<release>/<digest>`
  const [stream = '', arch = '', ...rest] = (attempt?.bootimage ?? '').split('/')
  return {
    host: host?.id ?? '',
    host_name: host?.hostName ?? host?.id ?? '',
    mac: mac ?? macs[0] ?? '',
    macs,
    labels: host?.labels ?? {},
    stream: stream === '' ? (settings.stream?.value ?? '') : stream,
    release: rest.slice(0, -1).join('/'),
    arch: arch === '' ? (host?.arch ?? '') : arch,
    boot_id: claims.bootId,
    base_url: baseUrl,
    report_url: reportUrl,
  }
}

/** @throws ServiceError TEMPLATE_INVALID when the installation is not complete */
export function readReportFiles(templatesDirectory: string): ReportFiles {
  const read = (name: string): string => {
    const path = join(templatesDirectory, 'ignition', name)
    try {
      return readFileSync(path, 'utf8')
    } catch (cause) {
      throw new ServiceError('TEMPLATE_INVALID', `${path} cannot be read`, { path }, cause)
    }
  }
  return {
    script: read('pilotlight-report'),
    unit: read('pilotlight-report.service'),
    installer: read('coreos-installer.conf'),
  }
}
