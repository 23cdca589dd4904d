/** A URL as it may be logged and shown: without user, password, query and fragment, which can be secrets. */
export function displayUrl(url: string | URL): string {
  const text = String(url)
  if (!URL.canParse(text)) return '(not a URL)'
  const { protocol, host, pathname } = new URL(text)
  return `${protocol}//${host}${pathname}`
}
