import type { BootEvent } from '../core/boot-event.ts'
import type { MacAddress } from '../core/mac.ts'
import type { TftpEvent } from '../tftp/event.ts'
import { isOptionalName } from '../tftp/event-log.ts'
import type { FileUse } from '../tftp/files.ts'
import { errorCodes } from '../tftp/packet.ts'
import type { TftpName } from '../tftp/tftp-name.ts'
import type { TftpSubject } from './tftp-subject.ts'

export interface TftpStepSources {
  /** Whose address it is, as far as DHCP has seen. */
  readonly macOf: (address: string) => MacAddress | undefined
  readonly subjectOf: (name: TftpName, use: FileUse | undefined) => TftpSubject
}

/**
 * The step of a boot behind an event of TFTP. None are a look at the size alone (field case 60), a request from an
 * invented address, a name that loaders try without needing it, and the start of a script, which is over at once.
 */
export function bootStepOfTftp(event: TftpEvent, sources: TftpStepSources): BootEvent | undefined {
  switch (event.type) {
    case 'started':
      return started(event, sources)
    case 'progressed':
      return progressed(event, sources)
    case 'ended':
      return ended(event, sources)
    case 'refused':
      return refused(event, sources)
    default:
      return undefined
  }
}

type Event<Type extends TftpEvent['type']> = Extract<TftpEvent, { readonly type: Type }>

function started(
  { at, client: { address }, name, use }: Event<'started'>,
  { macOf, subjectOf }: TftpStepSources,
): BootEvent | undefined {
  if (subjectOf(name, use).role === 'script') return undefined
  return { type: 'tftp-started', at, mac: macOf(address), address, file: name.path }
}

function progressed(
  { at, client: { address }, name, use, sizeBytes, deliveredBytes }: Event<'progressed'>,
  { subjectOf }: TftpStepSources,
): BootEvent {
  const { artifactRole, loaderArch } = subjectOf(name, use)
  return {
    type: 'artifact-progress',
    at,
    role: artifactRole,
    name: lastPartOf(name.path),
    loaderArch,
    reachedBytes: deliveredBytes,
    totalBytes: sizeBytes,
    address,
  }
}

function ended(event: Event<'ended'>, { macOf, subjectOf }: TftpStepSources): BootEvent | undefined {
  const { at, client, name, use, outcome, figures, clientError } = event
  const { address } = client
  const mac = macOf(address)
  const isWhole = outcome === 'served' || outcome === 'served-unconfirmed'
  // Whoever got nothing and says nothing of it only looked, or is not there; a machine that DHCP knows is, and what is
  // sent to it does not arrive (field case 77).
  const isHeardOf = figures.deliveredBytes > 0 || isComplaint(clientError) || isCutOff(outcome, mac)
  if (!isHeardOf) return undefined
  if (isWhole && use === 'entry-script') {
    return { type: 'entry-sent', at, name: lastPartOf(name.path), address, mac }
  }
  const { role, loaderArch } = subjectOf(name, use)
  return {
    type: 'tftp-ended',
    at,
    mac,
    address,
    file: name.path,
    role,
    loaderArch,
    isWhole,
    sentBytes: figures.deliveredBytes,
    totalBytes: figures.sizeBytes,
    durationMs: figures.durationMs,
    clientError: clientError?.message,
  }
}

/** A look at the size ends with code 0 or 8 (field case 60). */
function isComplaint(error: Event<'ended'>['clientError']): boolean {
  return error !== undefined && error.code !== errorCodes.undefined && error.code !== errorCodes.optionRefused
}

function isCutOff(outcome: Event<'ended'>['outcome'], mac: MacAddress | undefined): boolean {
  return outcome === 'unanswered' && mac !== undefined
}

function refused(
  { at, client: { address }, name, displayName, reason }: Event<'refused'>,
  { macOf }: TftpStepSources,
): BootEvent | undefined {
  // No name, no file that a boot waits for.
  if (displayName === '') return undefined
  if (reason === 'not-served' && name !== undefined && isOptionalName(name)) return undefined
  return { type: 'tftp-refused', at, mac: macOf(address), address, file: displayName, reason }
}

function lastPartOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
