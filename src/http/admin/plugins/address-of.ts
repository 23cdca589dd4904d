import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

/** Who asks. What a proxy forwards may be any text: only an address counts, else that of the connection. */
export function addressOf({ ip, socket }: FastifyRequest): string {
  return isIP(ip) === 0 ? (socket.remoteAddress ?? 'unknown') : ip
}
