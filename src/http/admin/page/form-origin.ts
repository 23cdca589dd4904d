/** What a browser says of where a request comes from. */
export interface FormHeaders {
  readonly origin?: string | undefined
  /** `sec-fetch-site` (W3C Fetch Metadata). */
  readonly fetchSite?: string | undefined
}

/**
 * Whether a form may have been sent by a page of this listener. A browser tells the page's origin with every form; where
 * it tells nothing it is no browser, or an old one, and the form's own token must do.
 * @param host of the request, as the browser knows it
 */
export function isOwnForm({ origin, fetchSite }: FormHeaders, host: string): boolean {
  if (fetchSite !== undefined && fetchSite !== 'same-origin' && fetchSite !== 'none') return false
  if (origin === undefined) return true
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase()
}
