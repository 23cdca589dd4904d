import { leaseEndedBy } from '../boot/leases.ts'
import type { BootEvent } from '../core/boot-event.ts'
import type { BootLog } from '../telemetry/boot-log.ts'
import type { Metrics } from '../telemetry/create-metrics.ts'
import type { Engine } from './engine.ts'
import type { LateNetwork } from './late-network.ts'
import { isOwnQuestion } from './own-question.ts'

/** Everybody who hears of each step of a boot, after the machine has its answer. */
export function createBootEventSink(options: {
  readonly metrics: Pick<Metrics, 'onBootEvent'>
  readonly bootLog: Pick<BootLog, 'write'>
  readonly engine: () => Pick<Engine, 'leases'>
  readonly network: LateNetwork
  readonly noteStranger: (event: BootEvent) => void
  readonly noteStep: (event: BootEvent) => void
}): (event: BootEvent) => void {
  const { metrics, bootLog, engine, network, noteStranger, noteStep } = options
  return (event) => {
    if (isOwnQuestion(event)) return
    metrics.onBootEvent(event)
    bootLog.write(event)
    noteStranger(event)
    const ended = leaseEndedBy(event)
    if (ended !== undefined) engine().leases.end(ended)
    noteStep(event)
    // An iPXE that lacks something is sent for another one, and has not come any further yet.
    if (event.type === 'decided' && event.kind !== 'chainload' && event.mac !== undefined) {
      network.started()?.noteDecision(event.mac)
    }
  }
}
