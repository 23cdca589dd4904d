import type { BootDetail, BootSummary, MachineRow } from '../../schemas/boots.ts'
import type { HostDetail, InstallSummary, PinSummary } from '../../schemas/fleet.ts'
import { machinePath, pathWith } from '../page-links.ts'
import { shownBytes } from '../shown-bytes.ts'
import { shownSince, shownTime } from '../shown-time.ts'
import { shownBootState, shownMachineState, shownRowState } from '../state-words.ts'
import { bootLine, bootParts, decisionWord, type Fact, factsOf, shownDiagnosis } from './boot-parts.ts'

export interface MachineFacts {
  /** Absent: a machine without a host. */
  readonly host?: HostDetail | undefined
  readonly mac?: string | undefined
  readonly row?: MachineRow | undefined
  readonly boot?: BootDetail | undefined
  readonly boots: readonly BootSummary[]
  /** Its cards that packets are kept of. */
  readonly captured: readonly string[]
  readonly actions: readonly { readonly word: string; readonly href: string; readonly isGrave: boolean }[]
}

/** One machine: what is wrong, its last boot as a picture, what it boots next and why, its boots before. */
export function machineView(
  { host, mac, row, boot, boots, captured, actions }: MachineFacts,
  now: number,
): object {
  const name = host?.id ?? mac ?? ''
  const macs = host?.macs ?? (mac === undefined ? [] : [mac])
  const seenAt = boot?.lastAt ?? row?.lastSeenAt ?? host?.lastSeenAt
  return {
    name,
    host: host?.id,
    macsText: macs.join(' '),
    state:
      row !== undefined
        ? shownRowState(row)
        : boot !== undefined
          ? shownBootState(boot)
          : shownMachineState('idle'),
    seenAt,
    seen: seenAt === undefined ? undefined : shownSince(seenAt, now),
    diagnosis: shownDiagnosis(boot?.diagnosis ?? row?.diagnosis, now),
    flags: flagsOf(host?.flags ?? row?.flags ?? [], boot?.diagnosis?.text ?? row?.diagnosis?.text),
    actions,
    ...(boot === undefined ? { boot: undefined, isRunning: false } : bootParts(boot, now)),
    /** What it waits for comes by itself. */
    isMoving: host?.decision === 'wait' || (boot !== undefined && boot.state !== 'over'),
    decision: decisionOf(host, boot),
    pins: (host?.pins ?? []).map((pin) => pinOf(pin, now)),
    install: host?.install === undefined ? undefined : installOf(host.install, now),
    facts: host === undefined ? strangerFacts(row, boot, mac) : hostFacts(host, boot),
    defaults: defaultsOf(host),
    captures: captured.map((card) => ({ mac: card, href: `${machinePath(card)}/capture.pcap` })),
    boots: boots.filter(({ id }) => id !== boot?.id).map((earlier) => bootLine(earlier, now)),
    moreHref: pathWith('/boots', host === undefined ? { mac } : { host: host.id }),
  }
}

/** The diagnosis has a place of its own above them. */
function flagsOf(flags: readonly string[], diagnosis: string | undefined): readonly string[] {
  return flags.filter((flag) => diagnosis === undefined || !flag.startsWith(diagnosis))
}

/** The origin of a value that nobody set (`originText`). */
const byDefault = 'default'

function defaultsOf(host: HostDetail | undefined): readonly Fact[] {
  return (host?.values ?? [])
    .filter(({ origin, value }) => origin === byDefault && value !== '')
    .map(({ field, value }) => ({ word: field, value }))
}

function decisionOf(host: HostDetail | undefined, boot: BootDetail | undefined) {
  if (host !== undefined) {
    const { decision, release, reasons } = host
    return { kind: decisionWord(decision), release, reasons }
  }
  if (boot?.decision === undefined) return undefined
  return { kind: decisionWord(boot.decision), release: boot.release, reasons: boot.reasons }
}

function pinOf({ release, reason, origin, until, files }: PinSummary, now: number) {
  return {
    release,
    reason,
    origin,
    until: until === undefined ? undefined : shownTime(until, now),
    files: files
      .filter(({ state }) => state !== 'ready')
      .map(({ arch, state, text, doneBytes, totalBytes }) => {
        const bytes =
          doneBytes === undefined || totalBytes === undefined
            ? ''
            : `, ${shownBytes(doneBytes)} of ${shownBytes(totalBytes)}`
        return `${arch} ${text ?? state}${bytes}`
      }),
  }
}

function installOf(install: InstallSummary, now: number) {
  const {
    state,
    device,
    armedBy,
    armedAt,
    serves,
    mostServes,
    until,
    changedBy,
    changedAt,
    reason,
    failure,
  } = install
  const disk = device === undefined ? '' : ` to ${device}`
  const why = reason === undefined ? '' : `: ${reason}`
  const words: Readonly<Record<InstallSummary['state'], string>> = {
    armed: `Armed${disk} by ${armedBy}, ${shownTime(armedAt, now)}${why}. ${serves} of ${mostServes} scripts handed out; ends ${shownTime(until, now)}.`,
    installed: `Installed${disk}, said by ${changedBy}, ${shownTime(changedAt, now)}.`,
    disarmed: `Disarmed by ${changedBy}, ${shownTime(changedAt, now)}${why}.`,
    exhausted: `Given up: ${serves} of ${mostServes} scripts handed out until ${shownTime(until, now)}, and no report that it is installed.`,
  }
  return {
    text: words[state],
    next: install.next,
    failure:
      failure === undefined
        ? undefined
        : `Failed ${shownTime(failure.at, now)}: ${failure.message ?? 'no reason given'}`,
  }
}

function hostFacts(host: HostDetail, boot: BootDetail | undefined): readonly Fact[] {
  const labels = Object.entries(host.labels).map(([key, value]) => `${key}=${value}`)
  return [
    ...factsOf([
      ['MACs', host.macs.join(', ')],
      ['UUID', host.uuid],
      ['Serial', host.serial],
      ['Architecture', host.arch ?? boot?.arch],
      ['Address', boot?.address ?? host.address],
      ['Host name', host.hostName],
      ['Labels', labels.join(', ')],
      ['Groups', host.groups.join(', ')],
    ]),
    ...host.values
      .filter(({ origin }) => origin !== byDefault)
      .map(({ field, value, origin }) => ({ word: field, value, origin })),
    { word: 'Record', value: host.origin },
  ]
}

function strangerFacts(
  row: MachineRow | undefined,
  boot: BootDetail | undefined,
  mac: string | undefined,
): readonly Fact[] {
  return factsOf([
    ['MAC', mac],
    ['Address', boot?.address],
    ['UUID', boot?.uuid],
    ['Serial', boot?.serial],
    ['Architecture', boot?.arch],
    ['Firmware', boot?.firmware],
    ['Loader', boot?.loader],
    ['Profile', row?.profile],
    ['Stream', row?.stream],
    ['Host', 'none: no record has this MAC'],
  ])
}
