/** What a browser says of where a request comes from. */
export interface FormHeaders {
  readonly origin?: string | undefined
  /** `sec-fetch-site` (W3C Fetch Metadata). */
  readonly fetchSite?: string | undefined
}

/**
 * Whether a form may have been sent by a page of this listener. A browser says so itself, in a header that no page can
 * set, where the connection is safe; else it tells the page's origin. Where it tells neither it is no browser, or an old
 * one, and the form's own token must do.
 * @param host of the request, as the browser knows it
 */
export function isOwnForm({ origin, fetchSite }: FormHeaders, host: string): boolean {
  // A proxy may give us another name than the browser knows.
  if (fetchSite !== undefined) return fetchSite === 'same-origin' || fetchSite === 'none'
  if (origin === undefined) return true
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase()
}
