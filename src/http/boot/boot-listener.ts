import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import type { Duplex } from 'node:stream'
import type { BootService } from '../../boot/boot-service.ts'
import { noSecrets, type SecretService } from '../../boot/secret-service.ts'
import type { BootEvent } from '../../core/boot-event.ts'
import type { CatalogSource } from '../../core/catalog.ts'
import type { Clock } from '../../core/clock.ts'
import type { Sha256 } from '../../core/digest.ts'
import { ServiceError } from '../../core/errors.ts'
import { createLineLimiter, type LineLimiter } from '../../core/line-limiter.ts'
import { type LoaderSource, noLoaders } from '../../core/loader.ts'
import type { Log } from '../../core/log.ts'
import { nobodySeen, type SeenMachines } from '../../core/seen-machines.ts'
import type { Renderer } from '../../render/renderer.ts'
import { createRequestAnswerer } from './answer-request.ts'
import { plainAddress, type UrlAddress } from './base-url.ts'
import { createBlockCache } from './block-cache.ts'
import { createConnections } from './connections.ts'
import { counted } from './counted-line.ts'
import type { KernelFiles } from './kernel-files.ts'
import { createOpenFiles, type FileProblem } from './open-files.ts'
import { answerToUnreadable, rawResponse } from './raw-response.ts'
import { createTurns } from './turns.ts'

/** Bounds on what clients without a login can take. */
export interface BootListenerLimits {
  readonly maxConnections: number
  readonly maxConnectionsPerAddress: number
  /** Requests that a client may send ahead of their answers. */
  readonly maxPipelined: number
  /** Until the header of a request must have arrived. */
  readonly headerTimeoutMs: number
  /** A connection on which no byte moves for this long is given up; there is no limit to a whole transfer. */
  readonly stallTimeoutMs: number
  /** Firmware waits between HEAD and GET; 30 s at least (field case 87). */
  readonly keepAliveMs: number
  /** After which a lone client counts as slow or fast. */
  readonly settlingMs: number
  /** Memory for file blocks; what slow readers hold is part of it. */
  readonly cacheBytes: number
}

export const defaultBootListenerLimits: BootListenerLimits = {
  maxConnections: 2048,
  maxConnectionsPerAddress: 512,
  maxPipelined: 32,
  headerTimeoutMs: 20_000,
  stallTimeoutMs: 120_000,
  keepAliveMs: 75_000,
  settlingMs: 20,
  cacheBytes: 256 * 1024 * 1024,
}

export interface BootListenerOptions {
  readonly catalog: CatalogSource
  readonly bootService: BootService
  readonly renderer: Renderer
  /** Default: nothing is handed out and no report is taken. */
  readonly secrets?: SecretService
  /** Default: there are none. */
  readonly loaders?: LoaderSource
  /** Whom DHCP has seen; default: nobody. */
  readonly seen?: SeenMachines
  readonly log: Log
  readonly clock: Clock
  /** Address and port in every URL that is handed out; default: those of the connection that asks. */
  readonly urls?: UrlAddress
  /** What a machine gets that is to be ignored; default: a script that leaves network boot. */
  readonly ignoredMachines?: 'script' | 'http-404'
  readonly limits?: Partial<BootListenerLimits>
  /** From `loadKernelFiles`; default: files go through this process, by way of its cache. */
  readonly kernel?: KernelFiles | undefined
  readonly onEvent?: (event: BootEvent) => void
  /** `route` is a pattern of `bootRoutes`, or absent when none matched. */
  readonly onRequest?: (route: string | undefined, method: string, status: number, seconds: number) => void
  /** Somebody opened a connection. */
  readonly onContact?: (address: string) => void
  /** A file of the catalog is not on disk as it should be. It is not served; it needs a scrub. */
  readonly onFileProblem?: (sha256: Sha256, problem: FileProblem | 'changed-while-sent') => void
  /** A loader is not on disk as it was catalogued: the catalogue needs to be read again. */
  readonly onLoaderProblem?: (name: string, problem: FileProblem | 'changed-while-sent') => void
}

/** An address to open, or a socket that the service manager has opened already. */
export type ListenTarget = { readonly host?: string; readonly port: number } | { readonly fd: number }

export interface BoundAddress {
  readonly host: string
  readonly port: number
}

export interface BootListener {
  /** @throws ServiceError LISTEN_FAILED */
  listen(target: ListenTarget): Promise<BoundAddress>
  /** `undefined` unless it listens. */
  address(): BoundAddress | undefined
  /** Takes no new request; transfers may go on for `graceMs` (default 0), then they are cut. */
  close(options?: { readonly graceMs?: number }): Promise<void>
}

/** Of each kind, whoever asks: names can be made up without end (field case 84). */
const mostLinesAMinute = 600
/** Room for a request line of 8 KiB and as much of header lines. */
const maxHeaderBytes = 16 * 1024
/** Slices between two looks at the network: 4 MiB, near 2 ms. */
const slicesPerTurn = 8
/** 8 MiB in one write to a slow client, as long as the cache has room. */
const maxBlocksAtOnce = 16

/**
 * The listener that nodes boot from. Plain `node:http`, because firmware and loaders want what frameworks smooth
 * over: header names in exact letter case, raw paths, requests without Host, HTTP/1.0, never a 3xx, never a chunk.
 */
export function createBootListener(options: BootListenerOptions): BootListener {
  const { catalog, bootService, renderer, clock, log, urls = {}, ignoredMachines = 'script' } = options
  const limits = { ...defaultBootListenerLimits, ...options.limits }
  const connections = createConnections({
    maximum: limits.maxConnections,
    maxPerAddress: limits.maxConnectionsPerAddress,
    urls,
  })
  const misses = createLineLimiter({ clock, mostLines: mostLinesAMinute })
  const alarms = createLineLimiter({ clock, mostLines: mostLinesAMinute })
  let closing: Promise<void> | undefined

  function onFileProblem(sha256: Sha256, problem: FileProblem | 'changed-while-sent'): void {
    const suppressed = alarms.admit(`${sha256} ${problem}`, true)
    if (suppressed !== undefined)
      log.error(counted({ sha256, problem }, suppressed), 'verified file cannot be served')
    // A file that could not be opened for want of descriptors is as good as before.
    if (problem !== 'out-of-descriptors') options.onFileProblem?.(sha256, problem)
  }

  const answerRequest = createRequestAnswerer({
    sources: {
      catalog,
      bootService,
      renderer,
      loaders: options.loaders ?? { current: () => noLoaders },
      seen: options.seen ?? nobodySeen,
      secrets: options.secrets ?? noSecrets,
      clock,
      ignoredMachines,
      onFileProblem,
      log: limitErrors(log, alarms),
    },
    fileParts: {
      openFiles: createOpenFiles(),
      cache: createBlockCache({ sizeBytes: limits.cacheBytes }),
      turns: createTurns(slicesPerTurn),
      maxBlocksAtOnce,
      kernel: options.kernel,
      settlingMs: limits.settlingMs,
      pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      clock,
      onEvent: (event) => options.onEvent?.(event),
      touch: (bootId) => bootService.touch(bootId),
      onFileProblem,
      onLoaderProblem(name, problem) {
        const suppressed = alarms.admit(`${name} ${problem}`)
        if (suppressed !== undefined)
          log.warn(counted({ name, problem }, suppressed), 'loader cannot be served')
        if (problem !== 'out-of-descriptors') options.onLoaderProblem?.(name, problem)
      },
    },
    misses,
    isClosing: () => closing !== undefined,
    monotonicSeconds: () => performance.now() / 1000,
    onRequest: (...facts) => options.onRequest?.(...facts),
  })

  const server = createServer({
    requireHostHeader: false,
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: limits.headerTimeoutMs,
    requestTimeout: limits.headerTimeoutMs * 2,
    connectionsCheckingInterval: Math.ceil(limits.headerTimeoutMs / 4),
    keepAliveTimeout: limits.keepAliveMs,
    noDelay: true,
  })
  server.maxHeadersCount = 100
  // A client may close its half once it has asked, and still reads (RFC 9112 §9.6). Without this, Node ends the
  // connection with what is written by then, and the file is cut. The types do not know the property.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.maxConnections = limits.maxConnections
  // Counts from the last byte that moved, either way.
  server.timeout = limits.stallTimeoutMs

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const connection = connections.of(request.socket)
    if (connection === undefined) return
    connection.openRequests += 1
    connections.onAsked(request.socket)
    if (connection.openRequests > limits.maxPipelined) {
      request.socket.destroy()
      return
    }
    response.on('close', () => {
      connection.openRequests -= 1
      if (connection.openRequests > 0) return
      if (connection.lastWords === undefined) connections.onAnswered(request.socket)
      else endWith(request.socket, connection.lastWords)
    })
    answerRequest(request, response, connection)
  }

  server.on('request', onRequest)
  // No loader waits for a 100; what would be sent after it is dropped anyway.
  server.on('checkContinue', onRequest)
  server.on('checkExpectation', onRequest)
  server.on('connection', (socket: Socket) => {
    const connection = connections.open(socket)
    if (connection !== undefined) options.onContact?.(connection.address)
    else warnOfConnections(socket.remoteAddress, 'too many boot connections from one address')
  })
  server.on('drop', (drop) => {
    warnOfConnections(drop?.remoteAddress, 'too many boot connections')
  })
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    const text = 'This is no proxy. Only GET and HEAD are answered here.'
    refuse(socket, 'CONNECT', 405, rawResponse(405, text, 'GET, HEAD'))
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET') {
      socket.destroy()
      return
    }
    const { status, text } = answerToUnreadable(error.code)
    refuse(socket, '', status, rawResponse(status, text))
  })

  function warnOfConnections(address: string | undefined, message: string): void {
    const suppressed = misses.admit(`${message} ${message.endsWith('address') ? address : ''}`)
    if (suppressed === undefined) return
    const mac = address === undefined ? undefined : options.seen?.macOf(plainAddress(address))
    log.warn(counted({ address, mac }, suppressed), message)
  }

  /** What the parser gave up gets its answer too, but not in the middle of another one. */
  function refuse(socket: Duplex, method: string, status: number, words: string): void {
    const connection = connections.of(socket as Socket)
    if (connection === undefined || connection.lastWords !== undefined) return
    connection.lastWords = words
    options.onRequest?.(undefined, method, status, 0)
    if (connection.openRequests === 0) endWith(socket, words)
  }

  function address(): BoundAddress | undefined {
    const bound = server.address()
    if (bound === null || typeof bound === 'string') return undefined
    return { host: bound.address, port: bound.port }
  }

  function closeServer(graceMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cut = setTimeout(() => server.closeAllConnections(), graceMs)
      // An error here says that it never listened: there is nothing to wait for.
      server.close(() => {
        clearTimeout(cut)
        resolve()
      })
      server.closeIdleConnections()
    })
  }

  return {
    address,
    listen(target) {
      return new Promise((resolve, reject) => {
        function onError(cause: NodeJS.ErrnoException): void {
          reject(
            new ServiceError(
              'LISTEN_FAILED',
              listenFailure(target, cause),
              { ...target, errno: cause.code },
              cause,
            ),
          )
        }
        server.once('error', onError)
        server.listen('fd' in target ? { fd: target.fd } : { host: target.host, port: target.port }, () => {
          server.off('error', onError)
          resolve(address() ?? { host: '', port: 0 })
        })
      })
    },
    close({ graceMs = 0 } = {}) {
      closing ??= closeServer(graceMs)
      return closing
    },
  }
}

function endWith(socket: Duplex, words: string): void {
  if (socket.writable) socket.end(words, () => socket.destroy())
  else socket.destroy()
}

function listenFailure(target: ListenTarget, cause: NodeJS.ErrnoException): string {
  const place =
    'fd' in target ? `descriptor ${target.fd}` : `${target.host ?? 'all addresses'} port ${target.port}`
  const hint =
    cause.code === 'EADDRINUSE'
      ? 'something else listens there'
      : cause.code === 'EACCES'
        ? 'the process may not (ports below 1024 need NET_BIND_SERVICE)'
        : cause.message
  return `the boot listener cannot open ${place}: ${hint}`
}

/** A fault that every node of a rack meets is one line a minute, not one for each of their retries. */
function limitErrors(log: Log, alarms: LineLimiter): Log {
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => log.warn(fields, message),
    error(fields, message) {
      const suppressed = alarms.admit(`${message} ${'code' in fields ? fields.code : ''}`, true)
      if (suppressed !== undefined) log.error(counted(fields, suppressed), message)
    },
  }
}
