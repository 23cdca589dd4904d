import { parseMac } from '../../../core/mac.ts'
import { type ServiceEvent, type ServiceEventType, serviceEventTypes } from '../../../core/service-event.ts'
import { usageError } from '../api-error.ts'

/** What somebody wants to follow, as he says it. */
export interface FollowQuery {
  /** Id of an event. */
  readonly after?: string
  /** Separated by commas. */
  readonly types?: string
  readonly host?: string
  readonly mac?: string
}

/** Which events are meant. @throws ServiceError USAGE for a type that is none, or a MAC that is none */
export function readFollowQuery({ types, host, mac }: FollowQuery): (event: ServiceEvent) => boolean {
  const wanted = types === undefined ? undefined : typesIn(types)
  const card = mac === undefined ? undefined : parseMac(mac)
  if (mac !== undefined && card === undefined) {
    throw usageError('mac is not understood', { field: 'mac', hint: 'for example 52:54:00:ab:cd:ef' })
  }
  return ({ type, about }) =>
    (wanted === undefined || wanted.has(type)) &&
    (host === undefined || about?.host === host) &&
    (card === undefined || about?.mac === card)
}

function typesIn(text: string): ReadonlySet<ServiceEventType> {
  const words = text.split(',').map((word) => word.trim())
  const known = words.map((word) => serviceEventTypes.find((type) => type === word))
  const found = known.filter((type) => type !== undefined)
  if (found.length === words.length) return new Set(found)
  throw usageError('types has a word that is no type of event', {
    field: 'types',
    hint: `allowed, separated by commas: ${serviceEventTypes.join(', ')}`,
  })
}
