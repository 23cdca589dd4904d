import { Counter, Gauge, type Registry } from 'prom-client'

/** Figures of DHCP at one moment; the names are of closed sets, never a client's. */
export interface DhcpFigures {
  /** By type of packet, then by how it was answered. */
  readonly packets: Readonly<Record<string, Readonly<Record<string, number>>>>
  /** By kind of answer. */
  readonly replies: Readonly<Record<string, number>>
  /** Packets without an answer, by reason. */
  readonly silences: Readonly<Record<string, number>>
  readonly troubles: Readonly<Record<string, number>>
  /** One entry a subnet that we own. */
  readonly pools: readonly {
    readonly subnet: string
    readonly size: number
    readonly leased: number
    readonly offered: number
    readonly declined: number
  }[]
}

/** Figures of TFTP at one moment. */
export interface TftpFigures {
  /** By how they ended. */
  readonly requests: Readonly<Record<string, number>>
  readonly sentBytes: number
  readonly retransmits: number
  readonly strayPackets: number
  readonly activeTransfers: number
}

type Samples = readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[]

/** Answers by the names that RFC 2131 gives them. */
const answerTypes = { offer: 'offer', acknowledge: 'ack', refuse: 'nak' } as const

/** Series of DHCP. They are read from `figures` by each scrape, so that no packet pays for them. */
export function observeDhcp(registry: Registry, figures: () => DhcpFigures): void {
  const registers = [registry]
  readCounter(
    {
      name: 'pilotlight_dhcp_packets_total',
      help: 'DHCP packets that came in and that left, by type; what left is every answer.',
      labelNames: ['direction', 'type'],
      registers,
    },
    () => {
      const { packets, replies } = figures()
      const received = Object.entries(packets).map(
        ([type, outcomes]) =>
          [
            { direction: 'in', type },
            Object.values(outcomes).reduce((sum, count) => sum + count, 0),
          ] as const,
      )
      const sent = Object.entries(answerTypes).map(
        ([kind, type]) => [{ direction: 'out', type }, replies[kind] ?? 0] as const,
      )
      return [...received, ...sent]
    },
  )
  readCounter(
    {
      name: 'pilotlight_dhcp_ignored_total',
      help: 'DHCP packets that were left without an answer, by reason; most are normal.',
      labelNames: ['reason'],
      registers,
    },
    () => labelled('reason', figures().silences),
  )
  readCounter(
    {
      name: 'pilotlight_dhcp_troubles_total',
      help: 'Events of DHCP that somebody may have to look at; the log says of which machine.',
      labelNames: ['trouble'],
      registers,
    },
    () => labelled('trouble', figures().troubles),
  )
  readGauge(
    {
      name: 'pilotlight_dhcp_pool_addresses',
      help: 'Addresses in the ranges of a subnet.',
      labelNames: ['subnet'],
      registers,
    },
    () => figures().pools.map(({ subnet, size }) => [{ subnet }, size]),
  )
  readGauge(
    {
      name: 'pilotlight_dhcp_leases',
      help: 'Addresses of a subnet that are leased, on offer, or resting after somebody declined them.',
      labelNames: ['subnet', 'state'],
      registers,
    },
    () =>
      figures().pools.flatMap(({ subnet, leased, offered, declined }) =>
        labelled('state', { leased, offered, declined }).map(
          ([labels, value]) => [{ subnet, ...labels }, value] as const,
        ),
      ),
  )
}

/** Series of TFTP. */
export function observeTftp(registry: Registry, figures: () => TftpFigures): void {
  const registers = [registry]
  readCounter(
    {
      name: 'pilotlight_tftp_transfers_total',
      help: 'TFTP requests by how they ended, refused ones too; looks at the size alone are aborted.',
      labelNames: ['outcome'],
      registers,
    },
    () => labelled('outcome', figures().requests),
  )
  readCounter(
    {
      name: 'pilotlight_tftp_sent_bytes_total',
      help: 'Bytes that TFTP clients acknowledged, of transfers that have ended.',
      registers,
    },
    () => [[{}, figures().sentBytes]],
  )
  readCounter(
    { name: 'pilotlight_tftp_retransmits_total', help: 'TFTP blocks that were sent again.', registers },
    () => [[{}, figures().retransmits]],
  )
  readCounter(
    {
      name: 'pilotlight_tftp_stray_packets_total',
      help: 'TFTP packets that belong to no transfer under way.',
      registers,
    },
    () => [[{}, figures().strayPackets]],
  )
  readGauge(
    { name: 'pilotlight_tftp_transfers', help: 'TFTP transfers that are under way.', registers },
    () => [[{}, figures().activeTransfers]],
  )
}

interface SeriesOptions {
  readonly name: string
  readonly help: string
  readonly labelNames?: string[]
  readonly registers: Registry[]
}

function readCounter(options: SeriesOptions, read: () => Samples): void {
  new Counter({
    ...options,
    collect() {
      this.reset()
      for (const [labels, value] of read()) this.inc({ ...labels }, value)
    },
  })
}

function readGauge(options: SeriesOptions, read: () => Samples): void {
  new Gauge({
    ...options,
    collect() {
      this.reset()
      for (const [labels, value] of read()) this.set({ ...labels }, value)
    },
  })
}

function labelled(
  label: string,
  counts: Readonly<Record<string, number>>,
): readonly (readonly [Readonly<Record<string, string>>, number])[] {
  return Object.entries(counts).map(([name, value]) => [{ [label]: name }, value] as const)
}
