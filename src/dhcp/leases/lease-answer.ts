import { type Ipv4, isInSubnet } from '../../core/ipv4.ts'
import type { ClientKey } from '../hardware-address.ts'
import { messageType, optionCode } from '../option-codes.ts'
import { findOption, readIpv4, readUint32 } from '../options.ts'
import type { DhcpPacket } from '../packet.ts'
import type { BindRefusal, LeasePool } from './allocate.ts'
import type { LeaseChange } from './lease.ts'

/** What an address server says to one message, apart from how to boot. */
export type LeaseAnswer =
  | { readonly kind: 'offer'; readonly address: Ipv4; readonly leaseSeconds: number }
  /** Leaves only once `change`, where there is one, is stored. */
  | {
      readonly kind: 'acknowledge'
      readonly address: Ipv4
      readonly leaseSeconds: number
      readonly change: LeaseChange | undefined
    }
  /** An answer to INFORM: options, but neither address nor lease. */
  | { readonly kind: 'inform' }
  | { readonly kind: 'refuse'; readonly reason: RefuseReason }
  | { readonly kind: 'silent'; readonly reason: LeaseSilence; readonly change: LeaseChange | undefined }

/** Why a DHCPNAK leaves. */
export type RefuseReason = BindRefusal | 'wrong-subnet'

export type LeaseSilence =
  | 'message-type-missing'
  | 'message-type-not-for-servers'
  | 'other-server-chosen'
  | 'client-not-known'
  | 'pool-exhausted'
  | 'lease-unknown'
  | 'request-without-address'
  | 'declined'
  | 'released'

export interface LeaseRequest {
  readonly packet: DhcpPacket
  readonly key: ClientKey
  /** The subnet that the client is on. */
  readonly pool: LeasePool
  /** The address that its host record reserves. */
  readonly reserved: Ipv4 | undefined
  readonly isKnown: boolean
  /** Whether an address is one of our server identifiers. */
  readonly isOurServer: (address: Ipv4) => boolean
  readonly isAuthoritative: boolean
  /** Seconds since the epoch. */
  readonly now: number
}

const shortestLeaseSeconds = 120

/** The DHCP server's side of RFC 2131 §4.3. Changes the pool, and nothing else. */
export function answerLeaseRequest(request: LeaseRequest): LeaseAnswer {
  const { packet } = request
  switch (packet.messageType) {
    case messageType.discover:
      return answerDiscover(request)
    case messageType.request:
      return answerRequest(request)
    case messageType.decline:
      return answerDecline(request)
    case messageType.release:
      return silent('released', request.pool.release(request.key, packet.ciaddr, request.now))
    case messageType.inform:
      return { kind: 'inform' }
    case undefined:
      return silent('message-type-missing')
    default:
      return silent('message-type-not-for-servers')
  }
}

function answerDiscover(request: LeaseRequest): LeaseAnswer {
  const { packet, key, pool, reserved, now } = request
  if (isTurnedAway(request)) return silent('client-not-known')
  const requested = readIpv4(findOption(packet.options, optionCode.requestedAddress))
  const address = pool.offer(key, now, { requested, reserved })
  if (address === undefined) return silent('pool-exhausted')
  return { kind: 'offer', address, leaseSeconds: leaseSecondsFor(request) }
}

/** Which of the four kinds of REQUEST it is can be told from options 54 and 50 and ciaddr (RFC 2131 §4.3.2). */
function answerRequest(request: LeaseRequest): LeaseAnswer {
  const { packet, key, pool, isOurServer } = request
  const chosenServer = readIpv4(findOption(packet.options, optionCode.serverIdentifier))
  const requested = readIpv4(findOption(packet.options, optionCode.requestedAddress))
  if (chosenServer !== undefined && !isOurServer(chosenServer)) {
    pool.withdrawOffer(key)
    return silent('other-server-chosen')
  }
  const address = requested ?? (packet.ciaddr === 0 ? undefined : packet.ciaddr)
  if (address === undefined) return silent('request-without-address')
  const isSelecting = chosenServer !== undefined
  return isSelecting ? grant(request, address) : confirm(request, address)
}

/** The client chose our offer, so a refusal is ours to make. */
function grant(request: LeaseRequest, address: Ipv4): LeaseAnswer {
  if (isTurnedAway(request)) return { kind: 'refuse', reason: 'reserved-for-another' }
  return bind(request, address)
}

/**
 * The client came back with an address from before: after a reboot (INIT-REBOOT), or to renew or rebind. Who is not the
 * only server may speak of its own leases alone (field case 22). Who is, rebuilds lost leases from what clients say.
 */
function confirm(request: LeaseRequest, address: Ipv4): LeaseAnswer {
  const { isAuthoritative, pool } = request
  if (!isInSubnet(address, pool.subnet.subnet)) {
    return isAuthoritative ? { kind: 'refuse', reason: 'wrong-subnet' } : silent('lease-unknown')
  }
  if (!isAuthoritative && !isOnRecord(request, address)) return silent('lease-unknown')
  if (isTurnedAway(request))
    return isAuthoritative ? { kind: 'refuse', reason: 'reserved-for-another' } : silent('client-not-known')
  return bind(request, address)
}

/** We leased it to this client, or lease it another: then it is for us to say so. */
function isOnRecord({ key, pool, reserved, now }: LeaseRequest, address: Ipv4): boolean {
  const lease = pool.leaseOf(key)
  return address === reserved || (lease !== undefined && (lease.address === address || lease.until > now))
}

function bind(request: LeaseRequest, address: Ipv4): LeaseAnswer {
  const { key, pool, now, reserved } = request
  const binding = pool.bind(key, address, now, leaseSecondsFor(request), reserved)
  if (!binding.lease) return { kind: 'refuse', reason: binding.reason }
  return {
    kind: 'acknowledge',
    address,
    leaseSeconds: binding.lease.until - now,
    change: binding.change,
  }
}

function answerDecline({ packet, key, pool, now }: LeaseRequest): LeaseAnswer {
  const address = readIpv4(findOption(packet.options, optionCode.requestedAddress))
  return silent('declined', address === undefined ? undefined : pool.decline(key, address, now))
}

/** A shorter time than ours is granted when asked for, a longer one never. */
function leaseSecondsFor({ packet, pool }: LeaseRequest): number {
  const asked = readUint32(findOption(packet.options, optionCode.leaseTime))
  const { leaseSeconds } = pool.subnet
  return asked === undefined ? leaseSeconds : Math.min(Math.max(asked, shortestLeaseSeconds), leaseSeconds)
}

function isTurnedAway({ pool, isKnown }: LeaseRequest): boolean {
  return pool.subnet.allow === 'known' && !isKnown
}

function silent(reason: LeaseSilence, change?: LeaseChange): LeaseAnswer {
  return { kind: 'silent', reason, change }
}
