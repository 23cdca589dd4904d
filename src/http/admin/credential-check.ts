import type { Clock } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Actor, ApiRole } from '../../core/fleet.ts'
import { createLineLimiter } from '../../core/line-limiter.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../telemetry/create-metrics.ts'
import type { FleetOperations } from './fleet-operations.ts'
import { createLoginGuard } from './login-guard.ts'

/** Looks at tokens of one listener, wherever they are shown: in a header of the API, or in the login of the page. */
export interface CredentialCheck {
  /**
   * Whose it is.
   * @param address who shows it; too many that do not count make it wait
   * @throws ServiceError UNAUTHENTICATED, RATE_LIMITED
   */
  prove(address: string, credential: string): { readonly actor: Actor; readonly role: ApiRole }
}

export interface CredentialCheckOptions {
  readonly fleet: Pick<FleetOperations, 'authenticate'>
  readonly metrics: Pick<Metrics, 'onRefusedLogin'>
  readonly clock: Clock
  readonly log: Log
}

export const challenge = 'Bearer realm="pilotlight"'
export const tokenHint = 'make one on the machine of the service: pilotlight token create NAME --role read'

export function createCredentialCheck({
  fleet,
  metrics,
  clock,
  log,
}: CredentialCheckOptions): CredentialCheck {
  const guard = createLoginGuard({ clock })
  const lines = createLineLimiter({ clock, mostLines: 20 })

  function refused(address: string, reason: 'invalid' | 'limited'): void {
    metrics.onRefusedLogin(reason)
    const suppressed = lines.admit(address)
    if (suppressed !== undefined) log.warn({ address, reason, suppressed }, 'API login refused')
  }

  return {
    prove(address, credential) {
      const waitSeconds = guard.waitSeconds(address, credential)
      if (waitSeconds > 0) {
        refused(address, 'limited')
        throw new ServiceError('RATE_LIMITED', 'too many tokens that do not count came from this address', {
          retryAfterSeconds: waitSeconds,
          hint: `wait ${waitSeconds} seconds`,
        })
      }
      const found = fleet.authenticate(credential)
      if (found === undefined) {
        guard.failed(address)
        refused(address, 'invalid')
        throw new ServiceError('UNAUTHENTICATED', 'this token does not count: wrong, ended or revoked', {
          challenge: `${challenge}, error="invalid_token"`,
          hint: tokenHint,
        })
      }
      guard.succeeded(address, credential)
      return found
    },
  }
}
