import { isIPv6 } from 'node:net'
import type { Clock } from '../core/clock.ts'
import type { BlockWrap } from './block-number.ts'
import type { Content, ContentOpener } from './content.ts'
import type { EndpointSource, TransferEndpoint } from './endpoint.ts'
import type { IgnoreReason, RefuseReason, TftpEvent } from './event.ts'
import type { TftpAnswer, TftpFiles, TftpPeer } from './files.ts'
import type { FrameCache } from './frame-cache.ts'
import type { MtuOf } from './interface-mtu.ts'
import { blockSizeLimit, type NegotiatedTransfer, type NegotiationLimits, negotiate } from './negotiate.ts'
import { dataHeaderBytes, encodeOack, errorCodes, type ReadRequest, type TftpError } from './packet.ts'
import { segmentedSendBytes } from './segment-limit.ts'
import { startTransferSession, type TransferSession } from './session.ts'
import { tappedEndpoint } from './tapped-endpoint.ts'
import type { TftpName } from './tftp-name.ts'
import type { TftpTap, TransferTap } from './tftp-tap.ts'

/** What serving needs, the same for all listeners of a server. */
export interface ServeContext {
  readonly files: TftpFiles
  readonly contents: ContentOpener
  readonly frames: FrameCache
  readonly mtuOf: MtuOf
  readonly wrap: BlockWrap
  readonly maxBlockSize?: number
  readonly maxWindowSize: number
  readonly clock: Clock
  /** Monotonic milliseconds. */
  now(): number
  emit(event: TftpEvent): void
  readonly tap?: TftpTap
}

/** Where a request came in, and where its transfer goes out. */
export interface ServeSocket {
  readonly localAddress: string
  readonly endpoints: EndpointSource
}

/** A request from its arrival to its last packet. */
export interface ServedRequest {
  readonly peer: TftpPeer
  readonly name: TftpName
  readonly packet: ReadRequest
  /** Absent while the file is being opened. */
  session?: TransferSession
  readonly isOver: boolean
  /** Keeps `dispose` for the end, or calls it at once when the end has come meanwhile. */
  holdUntilEnd(dispose: () => void): void
  /** The client has been heard after its request. */
  confirm(): void
  /** Answers with an ERROR. */
  refuse(reason: RefuseReason, error: TftpError, cause?: unknown): void
  /** Leaves it unanswered. */
  ignore(reason: IgnoreReason): void
  /** Gives everything back; a second time does nothing. */
  finish(): void
}

/** MTU of an interface that does not tell: Ethernet's. */
const assumedMtuBytes = 1500

const emptyRefusal: TftpError = { code: errorCodes.fileNotFound, message: 'the file is empty' }
const unreadableRefusal: TftpError = { code: errorCodes.undefined, message: 'the file cannot be read now' }

async function openContent(context: ServeContext, request: ServedRequest): Promise<Content | undefined> {
  const opening = context.files.open(request.name, request.peer)
  const answer: TftpAnswer = opening instanceof Promise ? await opening : opening
  if (request.isOver) return undefined
  if (answer.kind === 'refused') {
    request.refuse('not-served', answer)
    return undefined
  }
  const content = await context.contents.open(answer, request.packet.mode)
  request.holdUntilEnd(content.close)
  if (request.isOver) return undefined
  // Firmware takes a size of zero for success and then starts nothing (field case 83).
  if (content.sizeBytes > 0) return content
  request.refuse('file-empty', emptyRefusal)
  return undefined
}

function limitsAt({ mtuOf, maxBlockSize, maxWindowSize }: ServeContext, address: string): NegotiationLimits {
  const mtu = mtuOf(address) ?? assumedMtuBytes
  return { maxBlockSize: blockSizeLimit(mtu, isIPv6(address) ? 6 : 4, maxBlockSize), maxWindowSize }
}

/** The packet size to let the kernel cut, where that is of use: packets must fit the MTU, and several one send. */
function segmentBytes(negotiated: NegotiatedTransfer, limits: NegotiationLimits): number | undefined {
  const { windowSize, blockSize } = negotiated
  const stride = blockSize + dataHeaderBytes
  const isUseful = windowSize > 1 && segmentedSendBytes(stride) > stride
  return isUseful && blockSize <= limits.maxBlockSize ? stride : undefined
}

async function openEndpoint(
  { clock, emit, tap }: ServeContext,
  { endpoints }: ServeSocket,
  request: ServedRequest,
  stride: number | undefined,
): Promise<TransferEndpoint | undefined> {
  const { peer } = request
  let transferTap: TransferTap | undefined
  const result = await endpoints.open(peer, stride, {
    ...(tap && { onBytes: (bytes, start, length) => transferTap?.received(bytes, start, length) }),
    onPacket: (packet) => request.session?.receive(packet),
    onPortClosed: () => request.session?.handle({ type: 'port-closed' }),
    onSegmentationFailed: (cause) =>
      emit({ type: 'segmentation-failed', at: clock.now(), client: peer, cause }),
  })
  if (result.kind === 'none') {
    request.ignore(result.reason)
    return undefined
  }
  const { endpoint } = result
  request.holdUntilEnd(endpoint.close)
  transferTap = tap?.transfer(peer, endpoint.localPort)
  if (transferTap === undefined) return endpoint
  request.holdUntilEnd(transferTap.end)
  return tappedEndpoint(endpoint, transferTap)
}

function begin(
  { frames, wrap, clock, now, emit }: ServeContext,
  request: ServedRequest,
  content: Content,
  negotiated: NegotiatedTransfer,
  endpoint: TransferEndpoint,
): void {
  const { peer, name } = request
  const { use, sizeBytes } = content
  const { blockSize, windowSize, timeoutMs, acknowledged, isSizeAsked } = negotiated
  const image = frames.image(content, blockSize)
  request.holdUntilEnd(image.release)
  const hasOack = acknowledged.length > 0
  emit({ type: 'requested', at: clock.now(), client: peer, name, isSizeAsked })
  request.session = startTransferSession({
    plan: {
      blockCount: image.layout.blockCount,
      windowSize,
      hasOack,
      wrap,
      ...(timeoutMs === undefined ? {} : { clientTimeoutMs: timeoutMs }),
    },
    image,
    ...(hasOack ? { oack: encodeOack(acknowledged) } : {}),
    endpoint,
    now,
    onHeard: () => request.confirm(),
    onStarted: () => emit({ type: 'started', at: clock.now(), client: peer, name, use, sizeBytes }),
    onProgress: (deliveredBytes) =>
      emit({ type: 'progressed', at: clock.now(), client: peer, name, use, sizeBytes, deliveredBytes }),
    onEnd(end) {
      request.finish()
      emit({ type: 'ended', at: clock.now(), client: peer, name, use, isSizeAsked, ...end })
    },
  })
}

/** Opens what was asked for and starts its transfer, or refuses. Never rejects. */
export async function serveRequest(
  context: ServeContext,
  from: ServeSocket,
  request: ServedRequest,
): Promise<void> {
  try {
    const content = await openContent(context, request)
    if (content !== undefined) {
      const limits = limitsAt(context, from.localAddress)
      const negotiated = negotiate(request.packet.options, content.sizeBytes, limits)
      const endpoint = await openEndpoint(context, from, request, segmentBytes(negotiated, limits))
      if (endpoint !== undefined && !request.isOver) {
        begin(context, request, content, negotiated, endpoint)
        return
      }
    }
  } catch (cause) {
    if (!request.isOver) request.refuse('file-unreadable', unreadableRefusal, cause)
  }
  request.finish()
}
