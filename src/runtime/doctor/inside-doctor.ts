import type { LoadedConfig } from '../../config/load-config.ts'
import type { Clock } from '../../core/clock.ts'
import { diagnoseInside, type InsideFacts } from '../../doctor/diagnose-inside.ts'
import { isHealthy } from '../../doctor/finding.ts'
import type { BootOperations } from '../../http/admin/boot-operations.ts'
import type { AdminOperations, StreamSummary } from '../../http/admin/operations.ts'
import type { DoctorReport } from '../../http/admin/schemas/boots.ts'
import { lookAtAddresses } from './look-at-addresses.ts'
import { lookAtDataDirectory, lookAtDisk } from './look-at-storage.ts'

export interface InsideDoctorOptions {
  /** As it is now. */
  readonly loaded: () => Pick<LoadedConfig, 'config'>
  readonly operations: Pick<AdminOperations, 'readiness' | 'streams'>
  readonly listPatterns: BootOperations['listPatterns']
  readonly clock: Clock
  /** A page that many people look at costs one look in this time, in ms. */
  readonly keepMs?: number
}

const usualKeepMs = 5_000

/**
 * What `pilotlight doctor` finds, for inside the running service: from memory and a few calls of the file system, so
 * that no boot waits for it. Whoever asks while it looks, or shortly afterwards, gets the same report.
 */
export function createInsideDoctor({
  loaded,
  operations,
  listPatterns,
  clock,
  keepMs = usualKeepMs,
}: InsideDoctorOptions): BootOperations['diagnose'] {
  let looking: Promise<DoctorReport> | undefined
  let last: { readonly at: number; readonly report: DoctorReport } | undefined

  async function look(): Promise<DoctorReport> {
    const { config } = loaded()
    const [{ parts }, streams, patterns, disk] = await Promise.all([
      operations.readiness(),
      operations.streams(),
      listPatterns(),
      lookAtDisk(config.dataDir),
    ])
    const now = clock.now()
    const findings = diagnoseInside(config, {
      pid: process.pid,
      parts,
      patterns,
      addresses: lookAtAddresses(config.boot.dhcp?.interfaces ?? []),
      streams: streams.map(followedFacts),
      ...(disk !== undefined && { disk }),
      dataDirectory: lookAtDataDirectory(config.dataDir),
      now,
    })
    return { healthy: isHealthy(findings), checkedAt: new Date(now).toISOString(), findings }
  }

  return async () => {
    // A clock that was set back does not keep a report for ever.
    const age = last === undefined ? Number.NaN : clock.now() - last.at
    if (last !== undefined && age >= 0 && age < keepMs) return last.report
    looking ??= look().finally(() => {
      looking = undefined
    })
    const report = await looking
    last = { at: clock.now(), report }
    return report
  }
}

function followedFacts(stream: StreamSummary): InsideFacts['streams'][number] {
  const { name, source, lastSuccessAt, failingSince, error, architectures } = stream
  return {
    name,
    source,
    ...(lastSuccessAt !== undefined && { lastSuccessAt }),
    ...(failingSince !== undefined && { failingSince }),
    ...(error !== undefined && { error: error.message }),
    architectures: architectures.map(({ arch, current, pending, damaged, problem }) => ({
      arch,
      ...(current !== undefined && { current }),
      ...(pending !== undefined && { held: pendingText(pending) }),
      ...(damaged !== undefined && { damaged: damaged.text }),
      ...(problem !== undefined && { problem }),
    })),
  }
}

function pendingText({
  change,
  release,
  decides,
}: NonNullable<StreamSummary['architectures'][number]['pending']>) {
  return `${change}${release === undefined ? '' : ` to ${release}`} is not followed: ${decides}`
}
