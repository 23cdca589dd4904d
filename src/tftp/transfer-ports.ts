/** Which local port the next transfer gets. */
export interface TransferPorts {
  /** 0 lets the system choose; `undefined`: all are taken. */
  take(): number | undefined
  release(port: number): void
  /** How many there are to try when some are in use by others. */
  readonly count: number
}

/** Any free port. */
export function createEphemeralPorts(): TransferPorts {
  return { take: () => 0, release() {}, count: 1 }
}

/** A range that a firewall lets through (field case 77); in turn, so that late packets meet no new transfer. */
export function createPortRange(first: number, last: number): TransferPorts {
  const count = last - first + 1
  const taken = new Set<number>()
  let next = 0
  return {
    count,
    take() {
      for (let tried = 0; tried < count; tried += 1) {
        const port = first + next
        next = (next + 1) % count
        if (taken.has(port)) continue
        taken.add(port)
        return port
      }
      return undefined
    },
    release(port) {
      taken.delete(port)
    },
  }
}
