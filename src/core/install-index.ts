import type { InstallRecord } from './fleet.ts'

/** Where installs stand, by host and by what their machines are recognised by. */
export interface InstallIndex {
  /** The same maps, whatever is put or removed. */
  readonly byHost: ReadonlyMap<string, InstallRecord>
  readonly byMark: ReadonlyMap<string, readonly InstallRecord[]>
  put(record: InstallRecord): void
  remove(host: string): void
}

export function createInstallIndex(): InstallIndex {
  const byHost = new Map<string, InstallRecord>()
  const byMark = new Map<string, readonly InstallRecord[]>()

  function remove(host: string): void {
    const record = byHost.get(host)
    byHost.delete(host)
    for (const mark of record?.marks ?? []) {
      const others = byMark.get(mark)?.filter((other) => other !== record) ?? []
      if (others.length === 0) byMark.delete(mark)
      else byMark.set(mark, others)
    }
  }

  return {
    byHost,
    byMark,
    put(record) {
      remove(record.host)
      byHost.set(record.host, record)
      for (const mark of record.marks ?? []) byMark.set(mark, [...(byMark.get(mark) ?? []), record])
    },
    remove,
  }
}
