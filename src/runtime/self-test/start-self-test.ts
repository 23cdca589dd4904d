import type { Timers } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import { listInterfaceAddresses } from '../../dhcp/interface-addresses.ts'
import { fetchByTftp } from '../clients/fetch-by-tftp.ts'
import type { Engine } from '../engine.ts'
import type { LoaderShelf } from '../loader-shelf.ts'
import { createKernelCheck } from './kernel-check.ts'
import { lookAtHandOuts } from './look-at-hand-outs.ts'
import { createSelfTest, type SelfTest } from './self-test.ts'

/** The self-test of a running service. It is there before what it looks at, and looks later. */
export function startSelfTest(options: {
  readonly engine: () => Engine
  readonly loaders: () => LoaderShelf
  readonly timers: Timers
  readonly log: Log
}): SelfTest {
  const { engine, loaders, timers, log } = options
  const kernels = createKernelCheck()
  return createSelfTest({
    look: () =>
      lookAtHandOuts({
        loaded: engine().loaded,
        inventory: () => engine().fleet.inventory(),
        loaders: loaders(),
        catalog: engine().publisher,
        listAddresses: listInterfaceAddresses,
        fetch: fetchByTftp,
        kernels,
      }),
    lookForMending: () => loaders().refresh(),
    timers,
    log,
  })
}
