import {
  type ApiTokenRecord,
  type BootTokenRevocation,
  type FleetChange,
  type FleetState,
  type InstallRecord,
  type RecordKind,
  type RunTimeSetting,
  runTimeSettingId,
  type StoredRecord,
} from '../../core/fleet.ts'

/** What admins said at run time, as the store has it; for those who check and list. Boots read the fleet view. */
export interface FleetMemory {
  readonly records: Readonly<Record<RecordKind, ReadonlyMap<string, StoredRecord>>>
  /** By `runTimeSettingId`. */
  readonly settings: ReadonlyMap<string, RunTimeSetting>
  /** By host. */
  readonly installs: ReadonlyMap<string, InstallRecord>
  readonly tokens: ReadonlyMap<string, ApiTokenRecord>
  /** By host. */
  readonly revocations: ReadonlyMap<string, BootTokenRevocation>
  /** Everything anew. */
  load(state: FleetState): void
  apply(changes: readonly FleetChange[]): void
  /**
   * What takes these changes back after they were applied; asked for before they are. Reports and revocations are for
   * ever.
   */
  inverse(changes: readonly FleetChange[]): readonly FleetChange[]
}

export function createFleetMemory(): FleetMemory {
  const records = {
    host: new Map<string, StoredRecord>(),
    group: new Map<string, StoredRecord>(),
    profile: new Map<string, StoredRecord>(),
  }
  const settings = new Map<string, RunTimeSetting>()
  const installs = new Map<string, InstallRecord>()
  const tokens = new Map<string, ApiTokenRecord>()
  const revocations = new Map<string, BootTokenRevocation>()

  function put(change: Extract<FleetChange, { readonly put: string }>): void {
    switch (change.put) {
      case 'record':
        records[change.record.kind].set(change.record.name, change.record)
        return
      case 'setting':
        settings.set(runTimeSettingId(change.setting), change.setting)
        return
      case 'install':
        installs.set(change.install.host, change.install)
        return
      case 'token':
        tokens.set(change.token.id, change.token)
        return
      case 'revocation':
        revocations.set(change.revocation.host, change.revocation)
        return
      case 'report':
        return
    }
  }

  function remove(change: Extract<FleetChange, { readonly remove: string }>): void {
    switch (change.remove) {
      case 'record':
        records[change.kind].delete(change.name)
        return
      case 'setting':
        settings.delete(change.id)
        return
      case 'install':
        installs.delete(change.host)
        return
      case 'token':
        tokens.delete(change.id)
        return
    }
  }

  const recordAgain = (kind: RecordKind, name: string): FleetChange => {
    const record = records[kind].get(name)
    return record === undefined ? { remove: 'record', kind, name } : { put: 'record', record }
  }
  const settingAgain = (id: string): FleetChange => {
    const setting = settings.get(id)
    return setting === undefined ? { remove: 'setting', id } : { put: 'setting', setting }
  }
  const installAgain = (host: string): FleetChange => {
    const install = installs.get(host)
    return install === undefined ? { remove: 'install', host } : { put: 'install', install }
  }
  const tokenAgain = (id: string): FleetChange => {
    const token = tokens.get(id)
    return token === undefined ? { remove: 'token', id } : { put: 'token', token }
  }

  function inverseOf(change: FleetChange): readonly FleetChange[] {
    if ('put' in change) {
      switch (change.put) {
        case 'record':
          return [recordAgain(change.record.kind, change.record.name)]
        case 'setting':
          return [settingAgain(runTimeSettingId(change.setting))]
        case 'install':
          return [installAgain(change.install.host)]
        case 'token':
          return [tokenAgain(change.token.id)]
        default:
          return []
      }
    }
    switch (change.remove) {
      case 'record':
        return [recordAgain(change.kind, change.name)]
      case 'setting':
        return [settingAgain(change.id)]
      case 'install':
        return [installAgain(change.host)]
      case 'token':
        return [tokenAgain(change.id)]
    }
  }

  return {
    records,
    settings,
    installs,
    tokens,
    revocations,
    load(state) {
      for (const map of [...Object.values(records), settings, installs, tokens, revocations]) map.clear()
      for (const record of state.records) put({ put: 'record', record })
      for (const setting of state.settings) put({ put: 'setting', setting })
      for (const install of state.installs) put({ put: 'install', install })
      for (const token of state.tokens) put({ put: 'token', token })
      for (const revocation of state.revocations) put({ put: 'revocation', revocation })
    },
    apply(changes) {
      for (const change of changes) 'put' in change ? put(change) : remove(change)
    },
    inverse: (changes) => changes.flatMap(inverseOf).reverse(),
  }
}
