import { suggestion } from '../../config/suggest.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Target } from '../../core/fleet.ts'
import type { Group, Host, Inventory, Origin } from '../../core/host.ts'
import { noSuchHost } from '../no-such-name.ts'

/** @throws ServiceError NOT_FOUND */
export function findHost(id: string, { hostsById }: Inventory): Host {
  const host = hostsById.get(id)
  if (host === undefined) throw noSuchHost(id, hostsById.keys())
  return host
}

/** @throws ServiceError NOT_FOUND */
export function findGroup(name: string, { groups }: Inventory): Group {
  const group = groups.find((candidate) => candidate.name === name)
  if (group !== undefined) return group
  const names = groups.map((candidate) => candidate.name)
  throw new ServiceError('NOT_FOUND', `there is no group ${name}`, {
    field: 'group',
    hint: suggestion(name, names) ?? `groups: ${names.slice(0, 10).join(', ') || 'none'}`,
  })
}

/** @throws ServiceError NOT_FOUND */
export function findTarget({ kind, name }: Target, inventory: Inventory): Host | Group {
  return kind === 'host' ? findHost(name, inventory) : findGroup(name, inventory)
}

export const targetText = ({ kind, name }: Target): string => `${kind}/${name}`

/** Whether a record is declared in a file, and so changed there alone. */
export const isOfFile = ({ file }: Origin): boolean => file !== undefined

/** `hosts.d/rack1.yaml:5` */
export function placeText({ file, line }: Origin): string {
  return file === undefined ? 'a record of the API' : `${file}${line === undefined ? '' : `:${line}`}`
}
