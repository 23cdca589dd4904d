/**
 * How we speak with the outside. Plain data, so that a worker thread can make the same client.
 */
export interface UpstreamOptions {
  /** `http://proxy:3128`; from the configuration or `HTTPS_PROXY`/`HTTP_PROXY`. */
  readonly proxy?: string
  /** Host suffixes and addresses that bypass the proxy, as in `NO_PROXY`. */
  readonly noProxy?: string
  /** PEM certificates trusted besides the system's. */
  readonly ca?: string
  /**
   * Origins (`http://127.0.0.1:9000`) that may have loopback or link-local addresses: those the admin wrote down
   * (sources, mirrors, `upstream.allow`). Any other origin that resolves to such an address is refused, on every hop.
   */
  readonly allowedOrigins: readonly string[]
  /** Extra request headers by origin; never sent to another origin, not even after a redirect. */
  readonly headers?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** `pilotlight/1.2.3`; default `pilotlight`. */
  readonly userAgent?: string
  /** How long an answer may take to start, and then to bring more; default 30 s. */
  readonly stallTimeoutMs?: number
}

export interface UpstreamRequest {
  readonly url: string
  readonly method?: 'GET' | 'HEAD'
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export interface UpstreamResponse {
  /** After redirects. */
  readonly url: string
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: AsyncIterable<Uint8Array>
  /** Gives the connection up without reading on. */
  discard(): Promise<void>
}

export interface UpstreamClient {
  /**
   * One request; follows at most five redirects, each checked anew. No total time limit, but a response must start
   * within 30 s and then make progress every 30 s. Any status is a value, not an error.
   * @throws ServiceError UPSTREAM_UNREACHABLE when nothing answers, UPSTREAM_REFUSED for a refused address or redirect,
   *   UPSTREAM_STALLED when progress stops
   */
  request(request: UpstreamRequest): Promise<UpstreamResponse>
  close(): Promise<void>
}
