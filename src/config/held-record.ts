import type { RecordKind } from '../core/fleet.ts'
import type { Group, Host, Origin } from '../core/host.ts'
import { parseMac } from '../core/mac.ts'
import { parseUuid } from '../core/uuid.ts'

type Spec = Readonly<Record<string, unknown>>

/**
 * What stands in for a record that cannot be read: its machines are held, because what is not read may be a pin or a
 * hold, and nobody is made a stranger by it (G5). Marks and labels are taken from it as far as they can be read.
 * Nothing stands in for a profile: machines whose profile is not there are held anyway.
 */
export function heldRecord(
  kind: RecordKind,
  name: string,
  spec: Spec,
  { by, at, why }: { readonly by: string; readonly at: number; readonly why: string },
):
  | { readonly kind: 'host'; readonly record: Host }
  | { readonly kind: 'group'; readonly record: Group }
  | undefined {
  const origin: Origin = { kind, name, by, at }
  const held = { mode: 'hold', holdReason: why, origin } as const
  if (kind === 'host')
    return { kind, record: { id: name, ...marksIn(spec), labels: labelsIn(spec.labels), ...held } }
  const { labels } = objectIn(spec.match)
  const wanted = labelsIn(labels)
  // A group without labels selects everybody.
  if (kind === 'profile' || Object.keys(wanted).length === 0) return undefined
  return { kind, record: { name, labels: wanted, ...held } }
}

function marksIn({ macs, uuid, serial }: Spec): Pick<Host, 'macs' | 'uuid' | 'serial'> {
  const found = textsIn(macs).map(parseMac)
  const id = typeof uuid === 'string' ? parseUuid(uuid) : undefined
  return {
    macs: found.filter((mac) => mac !== undefined),
    ...(id === undefined ? {} : { uuid: id }),
    ...(typeof serial === 'string' && serial !== '' ? { serial } : {}),
  }
}

function labelsIn(labels: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(objectIn(labels)).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  )
}

function textsIn(list: unknown): readonly string[] {
  return Array.isArray(list) ? list.filter((each): each is string => typeof each === 'string') : []
}

function objectIn(value: unknown): Spec {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Spec) : {}
}
