import type { StreamConfig } from '../config/config.ts'
import type { Clock, Timers } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import {
  createRefresher,
  type RefreshedDocument,
  type Refresher,
  type RefreshFailure,
  type RefreshOutcome,
} from '../streams/refresher.ts'
import { createSource, type SourceOptions } from '../streams/sources/create-source.ts'
import type { MetadataSource } from '../streams/sources/source.ts'
import type { UpstreamClient, UpstreamOptions } from '../upstream/client.ts'
import { createUpstreamClient } from '../upstream/create-upstream-client.ts'

export interface StreamSetOptions {
  readonly clock: Clock
  readonly timers: Timers
  readonly random: () => number
  readonly log: Log
  /** Follow in the background; else only on `refresh`. */
  readonly follows: boolean
  /** Of the trace of whatever asks. */
  readonly traceHeaders?: () => Readonly<Record<string, string>>
  readonly onDocument: (document: RefreshedDocument) => Promise<void>
  readonly onUnchanged: (document: RefreshedDocument) => Promise<void>
  readonly onFailure: (stream: string, failure: RefreshFailure) => void
}

/** The refreshers of the configured streams; a reload replaces those whose configuration changed. */
export interface StreamSet {
  configure(streams: ReadonlyMap<string, StreamConfig>, upstream: UpstreamOptions): Promise<void>
  /** `undefined` for a stream that is not configured. `fresh`: past every cache on the way. */
  refresh(stream: string, options?: { readonly fresh?: boolean }): Promise<RefreshOutcome | undefined>
  canonical(stream: string): Promise<RefreshedDocument | undefined>
  /** Where a stream comes from, for people: without credentials. */
  describe(stream: string): string
  /** Where relative locations of a stream's documents start, unless its configuration says so. */
  baseUrlOf(stream: string): string | undefined
  /** The client that speaks with the outside as configured now. */
  client(): UpstreamClient
  stop(): Promise<void>
}

interface Member {
  /** Everything that makes a refresher what it is. */
  readonly key: string
  readonly source: MetadataSource
  readonly refresher: Refresher
}

export function createStreamSet(options: StreamSetOptions): StreamSet {
  const { clock, timers, log } = options
  const members = new Map<string, Member>()
  let client: UpstreamClient | undefined
  let clientKey: string | undefined

  function currentClient(): UpstreamClient {
    if (client === undefined) throw new Error('the streams are not configured yet')
    return client
  }

  function createMember(stream: StreamConfig, key: string): Member {
    const source = createSource(sourceOptions(stream, currentClient(), timers))
    const refresher = createRefresher({
      stream: stream.name,
      source,
      hints: stream.source.hints,
      clock,
      timers,
      random: options.random,
      log,
      refreshMs: stream.refreshMs,
      onDocument: options.onDocument,
      onUnchanged: options.onUnchanged,
      onFailure: (failure) => options.onFailure(stream.name, failure),
    })
    return { key, source, refresher }
  }

  async function drop(name: string): Promise<void> {
    const member = members.get(name)
    members.delete(name)
    await member?.refresher.stop()
    await member?.source.close()
  }

  return {
    async configure(streams, upstream) {
      const nextClientKey = JSON.stringify(upstream)
      const previous = client
      const isSameClient = nextClientKey === clientKey
      if (!isSameClient) {
        client = createUpstreamClient({
          ...upstream,
          ...(options.traceHeaders && { traceHeaders: options.traceHeaders }),
        })
        clientKey = nextClientKey
      }
      const keyOf = (stream: StreamConfig) => JSON.stringify([stream.source, stream.refreshMs])
      for (const [name, member] of [...members]) {
        const stream = streams.get(name)
        if (!isSameClient || stream === undefined || keyOf(stream) !== member.key) await drop(name)
      }
      if (!isSameClient) await previous?.close()
      for (const stream of streams.values()) {
        if (members.has(stream.name)) continue
        const member = createMember(stream, keyOf(stream))
        members.set(stream.name, member)
        if (options.follows) member.refresher.start()
      }
    },
    refresh: async (stream, settings) => members.get(stream)?.refresher.refreshNow(settings),
    canonical: async (stream) => members.get(stream)?.refresher.fetchCanonical(),
    describe: (stream) => members.get(stream)?.source.description ?? '',
    baseUrlOf: (stream) => members.get(stream)?.source.baseUrl,
    client: currentClient,
    async stop() {
      await Promise.all([...members.keys()].map(drop))
      await client?.close()
    },
  }
}

function sourceOptions({ source }: StreamConfig, client: UpstreamClient, timers: Timers): SourceOptions {
  switch (source.kind) {
    case 'url':
      return { kind: 'url', url: source.url, mirrors: source.mirrors, client }
    case 'file':
      return { kind: 'file', path: source.path, timers }
    case 'directory':
      return { kind: 'directory', path: source.path, stream: source.stream, timers }
    case 'configMap': {
      const { server, namespace, name, tokenFile, caFile } = source
      return {
        kind: 'config-map',
        server,
        namespace,
        name,
        tokenFile,
        caFile,
        createClient: createUpstreamClient,
      }
    }
  }
}
