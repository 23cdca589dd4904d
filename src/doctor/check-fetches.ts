import { type Finding, findingsOf } from './finding.ts'

/** A string that DHCP hands out, or that a site's own server would, and what came of fetching it from ourselves. */
export interface FetchFacts {
  readonly via: 'tftp' | 'http'
  /** The file name, or the URL. */
  readonly target: string
  /** The address of ours that was asked. */
  readonly address: string
  readonly outcome:
    | { readonly kind: 'fetched'; readonly sizeBytes: number; readonly milliseconds: number }
    /** Other bytes than those of the file that is meant to be there. */
    | { readonly kind: 'other-bytes'; readonly expected: string; readonly found: string }
    /** The answer came from another address than the one that was asked (field case 50). */
    | { readonly kind: 'other-source'; readonly from: string; readonly asker?: string }
    | { readonly kind: 'refused'; readonly reason: string }
    | { readonly kind: 'silent' }
    | { readonly kind: 'failed'; readonly reason: string }
}

const { ok, note, warning, problem } = findingsOf('fetch')

export interface FetchesWanted {
  readonly isRunning: boolean
  readonly isDhcpOn: boolean
  readonly isTftpOn: boolean
}

/** Whether everything that machines are told to fetch can be fetched, and answers from where it was asked. */
export function checkFetches(
  fetches: readonly FetchFacts[],
  { isRunning, isDhcpOn, isTftpOn }: FetchesWanted,
): readonly Finding[] {
  const without =
    isDhcpOn && !isTftpOn
      ? [
          warning(
            'DHCP hands out loaders by TFTP, and boot.tftp is off: only UEFI HTTP Boot gets further',
            'set boot.tftp: {}',
          ),
        ]
      : []
  if (!isRunning) return without
  if (fetches.length === 0)
    return [...without, note('nothing that machines fetch has a known address and port')]
  const bad = fetches.flatMap((fetch) => findingOf(fetch) ?? [])
  return [...without, ...summaries(fetches), ...bad]
}

/** One line for each address and protocol: what went well is not worth more. */
function summaries(fetches: readonly FetchFacts[]): readonly Finding[] {
  const good = new Map<string, string[]>()
  for (const { via, address, target, outcome } of fetches) {
    if (outcome.kind !== 'fetched') continue
    const place = `${via.toUpperCase()} ${address}`
    good.set(place, [...(good.get(place) ?? []), target])
  }
  return [...good].map(([place, targets]) =>
    ok(`${place}: ${targets.join(', ')}: fetched whole, answered from where it was asked`),
  )
}

function findingOf({ via, target, address, outcome }: FetchFacts): Finding | undefined {
  const what = via === 'tftp' ? `TFTP of ${target} from ${address}` : `GET ${target}`
  switch (outcome.kind) {
    case 'fetched':
      return undefined
    case 'other-bytes':
      return problem(
        `${what}: sent other bytes than the file has (sha256 ${outcome.found.slice(0, 16)}…, not ${outcome.expected.slice(0, 16)}…)`,
        'the file was replaced, or something stands between; restart the service, and see who answers there',
      )
    case 'other-source':
      return warning(
        `${what}: the answer to ${outcome.asker ?? 'us'} came from ${outcome.from}; machines on other networks drop that`,
        'give the TFTP socket one address (boot.tftp.listen, or ListenDatagram= with an address), and look for NAT between',
      )
    case 'refused':
      return problem(`${what}: ${outcome.reason}`, 'see the log of the service for the name')
    case 'silent':
      return problem(`${what}: no answer`, 'look for a packet filter: nft list ruleset')
    case 'failed':
      return problem(
        `${what}: ${outcome.reason}`,
        'see whether the address is ours and nothing filters it: nft list ruleset',
      )
  }
}
