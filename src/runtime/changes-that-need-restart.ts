import type { Config } from '../config/config.ts'

/** Keys that a running service cannot take over, for the log line of a reload. */
export function changesThatNeedRestart(before: Config, after: Config): readonly string[] {
  const keys: readonly (readonly [string, (config: Config) => unknown])[] = [
    ['dataDir', ({ dataDir }) => dataDir],
    ['boot.address', ({ boot }) => boot.address],
    ['boot.http', ({ boot }) => boot.http],
    ['boot.tftp', ({ boot }) => boot.tftp],
    ['boot.dhcp', ({ boot }) => boot.dhcp],
    ['admin.listen', ({ admin }) => admin.listen],
    ['log.format', ({ log }) => log.format],
  ]
  return keys.filter(([, of]) => JSON.stringify(of(before)) !== JSON.stringify(of(after))).map(([key]) => key)
}
