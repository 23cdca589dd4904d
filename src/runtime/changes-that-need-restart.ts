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
    ['admin.trustedProxies', ({ admin }) => admin.trustedProxies],
    // Renewed files are taken over; whether there is TLS, and whether clients need a certificate, is not.
    ['admin.tls', ({ admin }) => [admin.tls !== undefined, admin.tls?.clientAuthority !== undefined]],
    ['capture', ({ capture }) => capture],
    ['log.format', ({ log }) => log.format],
  ]
  return keys.filter(([, of]) => JSON.stringify(of(before)) !== JSON.stringify(of(after))).map(([key]) => key)
}
