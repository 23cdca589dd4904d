import type { AdminOperations } from '../http/admin/operations.ts'
import { createOperations, type OperationsOptions } from './create-operations.ts'
import { createInsideDoctor } from './doctor/inside-doctor.ts'
import type { FleetParts } from './fleet/create-fleet-operations.ts'
import type { BootNetwork } from './start-boot-network.ts'
import type { BootViews } from './timeline/boot-views.ts'

/** What admins can see and do of a running service; its doctor looks at what the others tell. */
export function createServiceOperations({
  fleet,
  views,
  strangers,
  captureOf,
  ...options
}: Omit<OperationsOptions, 'fleet' | 'boots'> & {
  readonly fleet: FleetParts
  readonly views: BootViews
  readonly strangers: Parameters<BootViews['operations']>[0]['strangers']
  readonly captureOf: BootNetwork['captureOf']
}): AdminOperations {
  const boots = views.operations({
    hosts: fleet.hosts,
    strangers,
    captureOf,
    diagnose: () => diagnose(),
  })
  const operations = createOperations({ ...options, fleet: fleet.operations, boots })
  const diagnose = createInsideDoctor({
    loaded: options.engine.loaded,
    operations,
    listPatterns: boots.listPatterns,
    clock: options.clock,
  })
  return operations
}
