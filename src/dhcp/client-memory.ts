import { BoundedMap } from './bounded-map.ts'
import type { ClientKey } from './hardware-address.ts'
import type { PxeClient } from './pxe-client.ts'
import type { StageRecord } from './stage-memory.ts'
import type { OfferRecord } from './unanswered-offers.ts'

/** What is remembered of one client between its packets; changed in place, packet by packet. */
export interface RememberedClient {
  stage: StageRecord | undefined
  offer: OfferRecord | undefined
  /** Its last DISCOVER, if it came as a boot client. */
  discover: { readonly client: PxeClient; readonly xid: number; readonly at: number } | undefined
}

export interface ClientMemory {
  /** What is known of a client, for reading. */
  find(key: ClientKey): RememberedClient | undefined
  /** The same, to be written to; a client that is not known is from now on. */
  recall(key: ClientKey): RememberedClient
  entries(): IterableIterator<[ClientKey, RememberedClient]>
}

/** Enough for any boot network; as many spoofed addresses push out what is remembered, and cost a few megabytes. */
const maxClients = 16_384
/** How long a REQUEST without a vendor class belongs to the DISCOVER before it (field case 42). */
const discoverMemoryMs = 60_000

export function createClientMemory(capacity = maxClients): ClientMemory {
  const clients = new BoundedMap<ClientKey, RememberedClient>(capacity)
  return {
    find: (key) => clients.get(key),
    recall(key) {
      const known = clients.get(key)
      if (known) return known
      const fresh: RememberedClient = { stage: undefined, offer: undefined, discover: undefined }
      clients.set(key, fresh)
      return fresh
    },
    entries: () => clients.entries(),
  }
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
