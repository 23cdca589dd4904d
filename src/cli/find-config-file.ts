import { existsSync } from 'node:fs'
import { resolve } from 'node:path'

/** Where a packaged service has it. */
export const systemConfigFile = '/etc/pilotlight/pilotlight.yaml'

export interface ConfigFileQuery {
  /** From `--config`. */
  readonly flag?: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly exists?: (path: string) => boolean
}

/**
 * The configuration file of a run: `--config`, else `PILOTLIGHT_CONFIG`, else `./pilotlight.yaml`, else
 * `/etc/pilotlight/pilotlight.yaml`, else none (defaults alone). A file that was named must exist, a usual one may.
 */
export function findConfigFile({ flag, env, cwd, exists = existsSync }: ConfigFileQuery): string | undefined {
  const named = flag ?? (env.PILOTLIGHT_CONFIG === '' ? undefined : env.PILOTLIGHT_CONFIG)
  if (named !== undefined) return resolve(cwd, named)
  return [resolve(cwd, 'pilotlight.yaml'), systemConfigFile].find(exists)
}
