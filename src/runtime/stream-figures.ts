import type { CatalogArch, CatalogStream } from '../core/catalog.ts'
import type { StreamFigures } from '../telemetry/stream-metrics.ts'

/** What a monitoring system wants to know of a stream: when it was read, and how much of it does not go on. */
export function streamFigures({ health, byArch }: CatalogStream): StreamFigures {
  const archs = [...byArch.values()]
  return {
    ...(health.lastSuccessAt !== undefined && { lastSuccessAt: health.lastSuccessAt }),
    held: archs.filter(({ pending }) => pending?.policy === 'hold').length,
    failed: archs.filter(hasFailed).length,
  }
}

/** What is wanted, or what was current and is fetched again, cannot be had. */
function hasFailed({ target, damaged }: CatalogArch): boolean {
  return [target, damaged].some(
    (status) => status?.state === 'failed' || status?.state === 'pending-signature',
  )
}
