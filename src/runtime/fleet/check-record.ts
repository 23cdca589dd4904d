import { ownSubnets } from '../../config/check-dhcp.ts'
import { knownNames } from '../../config/check-settings.ts'
import type { LoadedConfig } from '../../config/load-config.ts'
import { parseRecord, type RecordContext, type RecordProblem } from '../../config/parse-record.ts'
import { ServiceError } from '../../core/errors.ts'
import type { RecordKind } from '../../core/fleet.ts'
import type { RecordOf } from '../../core/fleet-index.ts'
import type { Host, Inventory } from '../../core/host.ts'
import { formatIpv4 } from '../../core/ipv4.ts'
import { parseMac } from '../../core/mac.ts'
import { placeText } from './find-target.ts'

export type Spec = Readonly<Record<string, unknown>>

/** What a record of the API can refer to: what files say, and what was made by the API. */
export function recordContext(options: {
  readonly loaded: LoadedConfig
  readonly inventory: Inventory
  readonly by: string
  readonly now: number
  /** Profiles that are made together with it, with their streams. */
  readonly others?: ReadonlyMap<string, string | undefined>
}): RecordContext {
  const { loaded, inventory, by, now, others } = options
  const known = knownNames(loaded.raw)
  const subnets = ownSubnets(loaded.raw)
  return {
    ...known,
    profiles: new Set([...known.profiles, ...inventory.profiles.keys(), ...(others?.keys() ?? [])]),
    streamOfProfile: (name) =>
      others?.get(name) ?? inventory.profiles.get(name)?.stream ?? known.streamOfProfile(name),
    by,
    at: now,
    now,
    ...(subnets && { subnets }),
  }
}

/**
 * A record by the rules of the files.
 * @throws ServiceError USAGE with the path of the first mistake in `field`, and all of them in its message
 */
export function checkRecord<Kind extends RecordKind>(
  kind: Kind,
  name: string,
  spec: Spec,
  context: RecordContext,
): RecordOf[Kind] {
  const parsed = parseRecord(kind, name, spec, context)
  if ('record' in parsed) return parsed.record
  const [first] = parsed.problems
  throw new ServiceError('USAGE', parsed.problems.map(recordProblemText).join('; '), {
    ...(first === undefined || first.path === '' ? {} : { field: `spec.${first.path}` }),
    ...(first?.hint === undefined ? {} : { hint: first.hint }),
  })
}

export function recordProblemText({ path, message }: RecordProblem): string {
  return path === '' ? message : `${path}: ${message}`
}

/** A mark of a machine, and whose it is already. */
export interface TakenMark {
  readonly field: string
  readonly text: string
  readonly holder: Host
}

/** Marks of this host that another one has, whose record is not about to be replaced. */
export function takenMarks(
  host: Host,
  inventory: Inventory,
  isReplaced: (id: string) => boolean = (id) => id === host.id,
): readonly TakenMark[] {
  const { hostsByMac, hostsByUuid, hostsBySerial, hostsByAddress } = inventory
  const { macs, uuid, serial, address } = host
  const holders: readonly (readonly [string, string, Host | undefined])[] = [
    ...macs.map((mac, index) => [`macs[${index}]`, `MAC ${mac}`, hostsByMac.get(mac)] as const),
    ['uuid', `UUID ${uuid} (in either byte order)`, uuid === undefined ? undefined : hostsByUuid.get(uuid)],
    ['serial', `serial ${serial}`, serial === undefined ? undefined : hostsBySerial.get(serial)],
    [
      'address',
      `address ${address === undefined ? '' : formatIpv4(address)}`,
      address === undefined ? undefined : hostsByAddress.get(address),
    ],
  ]
  return holders.flatMap(([field, text, holder]) =>
    holder === undefined || isReplaced(holder.id) ? [] : [{ field, text, holder }],
  )
}

/** `MAC 52:54:00:ab:cd:ef belongs to host rack1-n01 (hosts.d/rack1.yaml:5)` */
export function takenText({ text, holder }: TakenMark): string {
  return `${text} belongs to host ${holder.id} (${placeText(holder.origin)})`
}

/** As it is kept: MACs in the one spelling that everything else uses (field case 148). */
export function keptSpec(spec: Spec): Spec {
  const { macs } = spec
  if (!Array.isArray(macs)) return spec
  return { ...spec, macs: macs.map((mac: unknown) => parseMac(String(mac)) ?? mac) }
}
