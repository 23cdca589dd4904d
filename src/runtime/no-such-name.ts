import { suggestion } from '../config/suggest.ts'
import { ServiceError } from '../core/errors.ts'

/** Somebody asked for a stream that the configuration does not have. */
export function noSuchStream(name: string, configured: readonly string[]): ServiceError {
  return new ServiceError('NOT_FOUND', `stream ${name} is not configured`, {
    field: 'stream',
    hint: suggestion(name, configured) ?? `configured: ${configured.join(', ') || 'none'}`,
  })
}

/** Somebody asked for a host by an id that no record has. */
export function noSuchHost(id: string, ids: Iterable<string>): ServiceError {
  return new ServiceError('NOT_FOUND', `no host has the id ${id}`, {
    field: 'host',
    hint: suggestion(id, ids) ?? 'pilotlight host list shows them all',
  })
}
