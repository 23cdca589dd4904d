import type { Page } from './fleet-operations.ts'
import type {
  BootDetail,
  BootQuery,
  BootSummary,
  Capture,
  DoctorReport,
  MachinePage,
  MachineQuery,
  PatternSummary,
} from './schemas/boots.ts'

/**
 * What can be seen of boots: where each machine is, where it stopped, and what to do.
 * @throws ServiceError from every method: USAGE (a value is wrong), NOT_FOUND, STATE_UNAVAILABLE (history)
 */
export interface BootOperations {
  /** Boot attempts, newest first: from memory, and older ones from the store. */
  listBoots(query: BootQuery): Promise<Page<BootSummary>>
  /** By attempt id, boot id, or the last one of a MAC or host id. */
  showBoot(id: string): Promise<BootDetail>
  /** One row for each host, and for each machine without a host that was seen; from memory. */
  listMachines(query: MachineQuery): Promise<MachinePage>
  /** The pattern table, with the machines that show each pattern now. */
  listPatterns(): Promise<readonly PatternSummary[]>
  /** Packets of the last boots of a machine, as a pcap file. */
  capture(request: { readonly mac: string }): Promise<Capture>
  /** What `pilotlight doctor` finds, looked at from inside the service. */
  diagnose(): Promise<DoctorReport>
}
