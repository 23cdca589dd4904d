/**
 * How a token names its host: 48 bits of a fast hash of its id (two FNV-1a of 32 bits with different beginnings). It only
 * finds the host; that it is this one and no other, the code of the token says, which is made over the whole id.
 */
export function hostMark(id: string): number {
  let low = 0x811c9dc5
  let high = 0x9e3779b9
  for (let index = 0; index < id.length; index += 1) {
    const unit = id.charCodeAt(index)
    low = Math.imul(low ^ unit, 0x01000193)
    high = Math.imul(high ^ unit, 0x01000193)
  }
  return ((high >>> 16) * 0x1_0000_0000 + (low >>> 0)) % 0x1_0000_0000_0000
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
      const ids = idsByMark.get(mark)
      if (ids === undefined) idsByMark.set(mark, [id])
      else ids.push(id)
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
