import { BoundedMap } from './bounded-map.ts'
import type { ClientKey } from './hardware-address.ts'
import type { PxeClient } from './pxe-client.ts'
import type { StageRecord } from './stage-memory.ts'
import type { OfferRecord } from './unanswered-offers.ts'

/** What is remembered of one client between its packets. */
export interface RememberedClient {
  readonly stage?: StageRecord
  readonly offer?: OfferRecord
  /** Its last DISCOVER as a boot client. */
  readonly discover?: { readonly client: PxeClient; readonly xid: number; readonly at: number }
}

export type ClientMemory = BoundedMap<ClientKey, RememberedClient>

/** Enough for any boot network; 16k spoofed addresses push out what is remembered and cost a few megabytes. */
const maxClients = 16_384
/** How long a REQUEST without a vendor class belongs to the DISCOVER before it (field case 42). */
const discoverMemoryMs = 60_000

export function createClientMemory(capacity = maxClients): ClientMemory {
  return new BoundedMap(capacity)
}

/**
 * The boot client behind a REQUEST that does not say so: old Raspberry Pi ROMs leave option 60 out of it. The
 * transaction must be the same, or an OS that comes up within the minute would be taken for the firmware.
 */
export function rememberedBootClient(
  remembered: RememberedClient | undefined,
  xid: number,
  now: number,
): PxeClient | undefined {
  const discover = remembered?.discover
  if (discover === undefined || discover.xid !== xid || now - discover.at > discoverMemoryMs) return undefined
  return discover.client
}
