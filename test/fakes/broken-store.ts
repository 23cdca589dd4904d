import { ServiceError } from '../../src/core/errors.ts'
import type { StateStore } from '../../src/state/store.ts'
import { storeSteps } from '../../src/state/store-steps.ts'

/** A state store in which everything fails, as when its disk is gone. Closing still works. */
export function createBrokenStore(): StateStore {
  const fails = (step: string) => async (): Promise<never> => {
    throw new ServiceError('STATE_UNAVAILABLE', `${step}: disk I/O error`, { step })
  }
  const methods = Object.entries(storeSteps).map(([name, step]) => [name, fails(step)])
  return { ...(Object.fromEntries(methods) as Omit<StateStore, 'close'>), async close() {} }
}
