import { createHash } from 'node:crypto'

/** 48 bits of the SHA-256 of a host id: how a token names its host. No secret, and not alone enough to be one host. */
export function hostMark(id: string): number {
  return createHash('sha256').update(id).digest().readUIntBE(0, 6)
}

/** Finds hosts by their marks. */
export interface HostMarks {
  hostsOf(mark: number): readonly string[]
}

/** Everything that is said of machines; another object after each change. */
interface Hosts {
  readonly hostsById: ReadonlyMap<string, unknown>
}

/**
 * Looks a host up without a list that somebody would have to keep: what is new is taken up when a mark is not found and
 * the hosts have changed since. What is gone is left out of answers.
 */
export function createHostMarks(current: () => Hosts): HostMarks {
  const idsByMark = new Map<number, string[]>()
  const known = new Set<string>()
  let taken: Hosts | undefined

  function takeUp({ hostsById }: Hosts): void {
    // Many have come and gone: they are not remembered for ever.
    if (known.size > 2 * hostsById.size + 1_000) {
      known.clear()
      idsByMark.clear()
    }
    for (const id of hostsById.keys()) {
      if (known.has(id)) continue
      known.add(id)
      const mark = hostMark(id)
      idsByMark.set(mark, [...(idsByMark.get(mark) ?? []), id])
    }
  }

  return {
    hostsOf(mark) {
      const hosts = current()
      const find = () => (idsByMark.get(mark) ?? []).filter((id) => hosts.hostsById.has(id))
      const found = find()
      if (found.length > 0 || hosts === taken) return found
      takeUp(hosts)
      taken = hosts
      return find()
    },
  }
}
