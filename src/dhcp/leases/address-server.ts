import { formatIpv4Subnet, type Ipv4, isInSubnet } from '../../core/ipv4.ts'
import type { DhcpSubnet, ServerDhcpSettings } from '../dhcp-settings.ts'
import type { ClientKey } from '../hardware-address.ts'
import { networkOptions } from '../network-options.ts'
import type { DhcpOption } from '../options.ts'
import type { DhcpPacket } from '../packet.ts'
import { LeasePool, type PoolUsage } from './allocate.ts'
import type { LeaseChange } from './lease.ts'
import { answerLeaseRequest, type LeaseAnswer } from './lease-answer.ts'

export interface AddressRequest {
  readonly packet: DhcpPacket
  readonly key: ClientKey
  /** Our address on the wire that the packet came by. */
  readonly wireAddress: Ipv4
  readonly reserved: Ipv4 | undefined
  readonly isKnown: boolean
  readonly isOurServer: (address: Ipv4) => boolean
  /** Seconds since the epoch. */
  readonly now: number
}

export type AddressAnswer =
  | {
      readonly subnet: DhcpSubnet
      readonly answer: LeaseAnswer
      readonly networkOptions: readonly DhcpOption[]
      /** The pool has just run out of addresses, or just has some again. */
      readonly turned: 'pool-exhausted' | 'pool-available' | undefined
      readonly isReservationUnavailable: boolean
    }
  | { readonly subnet?: undefined }

/** All subnets that we own, with their leases. */
export interface AddressServer {
  /** `subnet` is absent when the client is on none of ours. */
  answer(request: AddressRequest): AddressAnswer
  restore(changes: readonly LeaseChange[], now: number): void
  changes(now: number): LeaseChange[]
  noteStored(changes: readonly LeaseChange[]): void
  usage(now: number): readonly (PoolUsage & { readonly subnet: string })[]
}

interface Served {
  readonly pool: LeasePool
  readonly networkOptions: readonly DhcpOption[]
  isExhausted: boolean
}

export function createAddressServer({
  settings,
  isReserved,
  isOurs,
}: {
  readonly settings: ServerDhcpSettings
  readonly isReserved: (address: Ipv4) => boolean
  readonly isOurs: (address: Ipv4) => boolean
}): AddressServer {
  const all: readonly Served[] = settings.subnets.map((subnet) => ({
    pool: new LeasePool({
      subnet,
      isReserved,
      isOurs: (address) => isOurs(address) || subnet.routers.includes(address),
    }),
    networkOptions: networkOptions(subnet),
    isExhausted: false,
  }))

  function servedAt(address: Ipv4): Served | undefined {
    return all.find(({ pool }) => isInSubnet(address, pool.subnet.subnet))
  }

  /** Relayed: the relay's own address says where the client is. A client that renews by unicast is where its address is. */
  function servedFor({ packet: { giaddr, ciaddr }, wireAddress }: AddressRequest): Served | undefined {
    if (giaddr !== 0) return servedAt(giaddr)
    return (ciaddr === 0 ? undefined : servedAt(ciaddr)) ?? servedAt(wireAddress)
  }

  return {
    answer(request) {
      const served = servedFor(request)
      if (served === undefined) return {}
      const { pool } = served
      const { packet, key, reserved, isKnown, isOurServer, now } = request
      const { isAuthoritative } = settings
      const answer = answerLeaseRequest({
        packet,
        key,
        pool,
        reserved,
        isKnown,
        isOurServer,
        isAuthoritative,
        now,
      })
      const turned = noteExhaustion(served, answer)
      return {
        subnet: pool.subnet,
        answer,
        networkOptions: served.networkOptions,
        turned,
        isReservationUnavailable:
          reserved !== undefined && answer.kind === 'offer' && answer.address !== reserved,
      }
    },
    restore(changes, now) {
      for (const change of changes) servedAt(change.address)?.pool.restore(change, now)
    },
    changes: (now) => all.flatMap(({ pool }) => [...pool.changes(now)]),
    noteStored(changes) {
      for (const change of changes) servedAt(change.address)?.pool.noteStored(change)
    },
    usage: (now) =>
      all.map(({ pool }) => ({ ...pool.usage(now), subnet: formatIpv4Subnet(pool.subnet.subnet) })),
  }
}

function noteExhaustion(
  served: Served,
  answer: LeaseAnswer,
): 'pool-exhausted' | 'pool-available' | undefined {
  const isExhausted = answer.kind === 'silent' && answer.reason === 'pool-exhausted'
  if (isExhausted === served.isExhausted || (!isExhausted && answer.kind !== 'offer')) return undefined
  served.isExhausted = isExhausted
  return isExhausted ? 'pool-exhausted' : 'pool-available'
}
