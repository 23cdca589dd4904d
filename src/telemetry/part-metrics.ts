import { Gauge, type Registry } from 'prom-client'

/** One part of the service, as `/readyz` tells it. */
export interface PartFigures {
  readonly part: string
  readonly ready: boolean
  /** Why it is not ready, or what is wrong with it all the same. */
  readonly reason?: string
}

/** Series of what `/readyz` says, asked for by each scrape; a service that cannot say has none. */
export function observeParts(registry: Registry, parts: () => Promise<readonly PartFigures[]>): void {
  gauge(
    registry,
    'pilotlight_part_ready',
    '1: this part of the service is ready.',
    parts,
    ({ ready }) => ready,
  )
  gauge(
    registry,
    'pilotlight_part_troubled',
    '1: this part works, and something is wrong with it; /readyz says what.',
    parts,
    ({ ready, reason }) => ready && reason !== undefined,
  )
}

function gauge(
  registry: Registry,
  name: string,
  help: string,
  parts: () => Promise<readonly PartFigures[]>,
  holds: (part: PartFigures) => boolean,
): void {
  new Gauge({
    name,
    help,
    labelNames: ['part'],
    registers: [registry],
    async collect() {
      const told = await parts().catch(() => [])
      this.reset()
      for (const part of told) this.set({ part: part.part }, holds(part) ? 1 : 0)
    },
  })
}
