import { type Finding, findingsOf } from './finding.ts'

/** An answer to our DISCOVER; addresses are dotted quads. */
export interface OfferFacts {
  /** By option 54, else where it came from. */
  readonly server: string
  /** Offered to the machine; absent in the answers of a proxy. */
  readonly address?: string
  readonly nextServer?: string
  readonly bootFile?: string
  /** It comes from this machine's own service. */
  readonly isOurs: boolean
}

/** What was heard on one wire. */
export interface WireFacts {
  readonly interface: string
  readonly outcome:
    | { readonly kind: 'asked'; readonly offers: readonly OfferFacts[] }
    | { readonly kind: 'not-asked'; readonly why: string; readonly todo?: string }
}

export interface DhcpWanted {
  readonly mode: 'off' | 'proxy' | 'server'
  readonly isRunning: boolean
}

const { ok, note, warning, problem } = findingsOf('dhcp')

/** Who else gives addresses and boot files on each wire, and whether that fits our mode. */
export function checkDhcp(wires: readonly WireFacts[], wanted: DhcpWanted): readonly Finding[] {
  if (wires.length === 0) {
    const why = wanted.mode === 'off' ? 'DHCP is off here' : 'boot.dhcp names no interface'
    return [
      note(`${why}; no wire was asked`, 'ask one all the same with: pilotlight doctor --interface eth1'),
    ]
  }
  return wires.flatMap(({ interface: device, outcome }) => {
    if (outcome.kind === 'not-asked')
      return [note(`${device}: other DHCP servers could not be looked for: ${outcome.why}`, outcome.todo)]
    return [...foreign(device, outcome.offers, wanted), ...own(device, outcome.offers, wanted)]
  })
}

function foreign(device: string, offers: readonly OfferFacts[], { mode }: DhcpWanted): readonly Finding[] {
  const others = offers.filter(({ isOurs }) => !isOurs)
  const givers = others.filter(({ address }) => address !== undefined)
  const findings = others.map((offer) => findingOf(device, offer, mode))
  if (mode === 'proxy' && givers.length === 0) {
    findings.push(
      problem(
        `${device}: nobody offered an address, and a proxy gives none`,
        "see why the site's DHCP server does not answer on this wire, or use boot.dhcp.mode: server",
      ),
    )
  }
  if (mode === 'server' && others.length === 0) findings.push(ok(`${device}: no other DHCP server answers`))
  return findings
}

function findingOf(device: string, offer: OfferFacts, mode: DhcpWanted['mode']): Finding {
  const { server, address, bootFile, nextServer } = offer
  const gives = address === undefined ? 'no address' : `address ${address}`
  const boots =
    bootFile === undefined
      ? 'no boot file'
      : `boot file ${bootFile}${nextServer === undefined ? '' : ` from ${nextServer}`}`
  const said = `${device}: ${server} offers ${gives} and ${boots}`
  if (mode === 'server' && address !== undefined)
    return problem(said, 'two servers on one wire: turn that one off, or use boot.dhcp.mode: proxy here')
  if (mode === 'off') return note(said)
  if (bootFile !== undefined) {
    return warning(
      said,
      'machines may take its boot file instead of ours: take next-server and file (66, 67) out there',
    )
  }
  return ok(said)
}

function own(
  device: string,
  offers: readonly OfferFacts[],
  { mode, isRunning }: DhcpWanted,
): readonly Finding[] {
  const ours = offers.filter(({ isOurs }) => isOurs)
  const [first] = ours
  if (first !== undefined)
    return [ok(`${device}: the service offers ${first.bootFile ?? 'no boot file'} to UEFI x64`)]
  if (mode === 'off' || !isRunning) return []
  return [
    note(
      `${device}: the service itself did not answer`,
      'fine where unknown machines are ignored (unknown: ignore); else see the log of the service',
    ),
  ]
}
