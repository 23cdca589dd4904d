import { ServiceError } from '../../core/errors.ts'
import type { FleetOperations } from '../../http/admin/fleet-operations.ts'

/** Stands where nothing about machines can be asked or done: every method says so. */
export function createAbsentFleet(): FleetOperations {
  return new Proxy({} as FleetOperations, {
    get: (_, name) => {
      if (name === 'authenticate') return () => undefined
      return async () => {
        throw new ServiceError('SERVICE_UNAVAILABLE', 'nothing about machines can be asked or done here')
      }
    },
  })
}
