/** A URL as it may be logged and shown: without user, password, query and fragment, which can be secrets. */
export function displayUrl(url: string | URL): string {
  const text = String(url)
  if (!URL.canParse(text)) return '(not a URL)'
  const { protocol, host, pathname } = new URL(text)
  return `${protocol}//${host}${pathname}`
}

/** The URL that identifies a resource: without user, password and fragment. */
export function withoutLogin(url: string | URL): string {
  const bare = new URL(url)
  bare.username = ''
  bare.password = ''
  bare.hash = ''
  return bare.href
}
