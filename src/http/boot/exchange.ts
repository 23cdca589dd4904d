import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TraceId } from '../../core/boot-event.ts'
import type { Connection } from './connections.ts'
import type { HeaderLines } from './reply.ts'

/** One request and the answer that is being written to it. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly connection: Connection
  readonly isHead: boolean
  /** The connection ends with this answer. */
  readonly isLast: boolean
  /** The trace that the request belongs to, where it says so. */
  readonly trace: TraceId | undefined
  /** The pattern that matched and the answer's status, once they are known; for metrics. */
  route: string | undefined
  status: number
  /** Its absence is normal: a name that loaders try on their way to another. */
  isProbe: boolean
}

/** Writes the head: the given lines in the given letter case, and those of the protocol that Node adds. */
export function writeHead(exchange: Exchange, status: number, lines: HeaderLines): void {
  exchange.status = status
  exchange.response.writeHead(status, exchange.isLast ? [...lines, 'Connection', 'close'] : [...lines])
}

/** Resolves when the answers before this one have left; `false` when the connection did first. */
export function isItsTurn({ response, connection }: Exchange): Promise<boolean> {
  if (connection.isGone) return Promise.resolve(false)
  if (response.socket !== null) return Promise.resolve(!response.destroyed)
  return new Promise((resolve) => {
    function settle(isOpen: boolean): void {
      response.off('socket', onSocket)
      connection.onGone.delete(onGone)
      resolve(isOpen)
    }
    const onSocket = () => settle(true)
    const onGone = () => settle(false)
    response.once('socket', onSocket)
    connection.onGone.add(onGone)
  })
}
