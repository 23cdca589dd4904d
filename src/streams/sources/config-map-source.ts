import { readFile } from 'node:fs/promises'
import { isServiceError, type ServiceError } from '../../core/errors.ts'
import type { UpstreamClient, UpstreamOptions } from '../../upstream/client.ts'
import { answerFrom } from './fetch-document.ts'
import type { MetadataSource } from './source.ts'
import { unavailable } from './source-error.ts'

export interface ConfigMapSourceOptions {
  readonly kind: 'config-map'
  /** The API server, `https://host:port`; `clusterApiUrl` makes it from what Kubernetes tells its pods. */
  readonly server: string
  /** The service account's token; read for every request, because the cluster renews it. */
  readonly tokenFile: string
  /** The cluster's CA, PEM; read for every request too. */
  readonly caFile: string
  /** Default `openshift-machine-config-operator`. */
  readonly namespace?: string
  /** Default `coreos-bootimages`. */
  readonly name?: string
  /** `createUpstreamClient`: the client trusts one CA, so it is made when that is known and when it changes. */
  readonly createClient: (options: UpstreamOptions) => UpstreamClient
}

/** From `KUBERNETES_SERVICE_HOST` and `KUBERNETES_SERVICE_PORT`; the host may be an IPv6 address without brackets. */
export function clusterApiUrl(host: string, port: string): string {
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** A ConfigMap of the cluster that this service runs in; needs `get` on that one object (facts §6). */
export function createConfigMapSource(options: ConfigMapSourceOptions): MetadataSource {
  const { namespace = 'openshift-machine-config-operator', name = 'coreos-bootimages' } = options
  const { origin } = new URL(options.server)
  const path = [namespace, 'configmaps', name].map(encodeURIComponent).join('/')
  const url = `${options.server.replace(/\/+$/, '')}/api/v1/namespaces/${path}`
  let connection: { readonly ca: string; readonly client: UpstreamClient } | undefined

  async function connect(): Promise<UpstreamClient> {
    const ca = await readText(options.caFile)
    if (connection?.ca !== ca) {
      await connection?.client.close()
      connection = { ca, client: options.createClient({ ca, allowedOrigins: [origin] }) }
    }
    return connection.client
  }

  return {
    description: `ConfigMap ${namespace}/${name}`,
    hasMirrors: false,
    async fetch(request) {
      const client = await connect()
      const authorization = `Bearer ${(await readText(options.tokenFile)).trim()}`
      const headers = { accept: 'application/json', authorization }
      try {
        return await answerFrom({ client, url, headers, viaMirror: false }, request)
      } catch (error) {
        throw isRefusal(error) ? refused(url, error) : error
      }
    },
    async close() {
      await connection?.client.close()
      connection = undefined
    },
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw unavailable(path, `cannot be read (${(cause as NodeJS.ErrnoException).code})`, cause)
  }
}

function isRefusal(error: unknown): error is ServiceError {
  return isServiceError(error) && (error.details.status === 401 || error.details.status === 403)
}

function refused(url: string, cause: ServiceError): ServiceError {
  const what = `answered with status ${cause.details.status}: the service account needs "get" on this ConfigMap`
  return unavailable(url, what, cause, cause.details)
}
