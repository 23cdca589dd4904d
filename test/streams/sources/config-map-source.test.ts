import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseMetadata } from '../../../src/streams/parse-document.ts'
import { clusterApiUrl } from '../../../src/streams/sources/config-map-source.ts'
import { createSource } from '../../../src/streams/sources/create-source.ts'
import type { MetadataSource } from '../../../src/streams/sources/source.ts'
import type { UpstreamOptions } from '../../../src/upstream/client.ts'
import { metadataSourceContract } from '../../contracts/metadata-source.ts'
import {
  createScriptedUpstream,
  type ScriptedAnswer,
  type ScriptedUpstream,
} from '../../fakes/scripted-upstream.ts'
import { bytesOf, configMap, streamDocument } from '../../fixtures/streams/documents.ts'

let folder: string
let clients: { readonly options: UpstreamOptions; readonly client: ScriptedUpstream }[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pilotlight-configmap-'))
  clients = []
  await writeFile(join(folder, 'token'), 'token-1\n')
  await writeFile(join(folder, 'ca.crt'), 'CA 1')
})

afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

const server = 'https://172.30.0.1:6443'
const url = `${server}/api/v1/namespaces/openshift-machine-config-operator/configmaps/coreos-bootimages`
const manifest = bytesOf(configMap({ stream: streamDocument() }))

function source(
  answer: () => ScriptedAnswer,
  extra: { server?: string; namespace?: string; name?: string } = {},
): MetadataSource {
  return createSource({
    kind: 'config-map',
    server,
    tokenFile: join(folder, 'token'),
    caFile: join(folder, 'ca.crt'),
    createClient(options) {
      const client = createScriptedUpstream(answer)
      clients.push({ options, client })
      return client
    },
    ...extra,
  })
}

describe('the ConfigMap of a cluster', () => {
  metadataSourceContract(async () => {
    let held: Uint8Array | undefined
    return {
      source: source(() => (held === undefined ? { status: 404 } : { body: held })),
      async put(bytes) {
        held = bytes
      },
      async dispose() {},
    }
  })

  it('is asked for by name with the token of the service account, trusting the CA of the cluster', async () => {
    const made = source(() => ({ body: manifest }))
    expect(made.description).toBe('ConfigMap openshift-machine-config-operator/coreos-bootimages')
    expect(await made.fetch({ read: parseMetadata })).toMatchObject({
      url,
      document: { format: 'configmap' },
    })
    expect(clients[0]?.options).toEqual({ ca: 'CA 1', allowedOrigins: [server] })
    expect(clients[0]?.client.requests[0]).toMatchObject({
      url,
      headers: { accept: 'application/json', authorization: 'Bearer token-1' },
    })
  })

  it('another name, namespace and server can be meant', async () => {
    const made = source(() => ({ body: manifest }), {
      server: 'https://api.example:6443/',
      namespace: 'a/b',
      name: 'c',
    })
    await made.fetch({ read: parseMetadata })
    expect(clients[0]?.client.requests[0]?.url).toBe(
      'https://api.example:6443/api/v1/namespaces/a%2Fb/configmaps/c',
    )
  })

  it('a renewed token is used, a renewed CA makes a new client and closes the old one', async () => {
    const made = source(() => ({ body: manifest }))
    await made.fetch({ read: parseMetadata })
    await writeFile(join(folder, 'token'), 'token-2')
    await made.fetch({ read: parseMetadata })
    expect(clients).toHaveLength(1)
    expect(clients[0]?.client.requests[1]?.headers).toMatchObject({ authorization: 'Bearer token-2' })
    await writeFile(join(folder, 'ca.crt'), 'CA 2')
    await made.fetch({ read: parseMetadata })
    expect(clients.map(({ options, client }) => [options.ca, client.isClosed])).toEqual([
      ['CA 1', true],
      ['CA 2', false],
    ])
    await made.close()
    expect(clients[1]?.client.isClosed).toBe(true)
  })

  it.each([401, 403])('status %i says which permission is missing', async (status) => {
    await expect(source(() => ({ status })).fetch({ read: parseMetadata })).rejects.toMatchObject({
      code: 'METADATA_UNAVAILABLE',
      message: `${url}: answered with status ${status}: the service account needs "get" on this ConfigMap`,
    })
  })

  it.each(['token', 'ca.crt'])('without the file %s it says which one', async (name) => {
    await rm(join(folder, name))
    await expect(source(() => ({ body: manifest })).fetch({ read: parseMetadata })).rejects.toMatchObject({
      code: 'METADATA_UNAVAILABLE',
      message: `${join(folder, name)}: cannot be read (ENOENT)`,
    })
  })

  it('the address that Kubernetes tells its pods may be IPv6', () => {
    expect(clusterApiUrl('172.30.0.1', '443')).toBe('https://172.30.0.1:443')
    expect(clusterApiUrl('fd02::1', '6443')).toBe('https://[fd02::1]:6443')
  })
})
