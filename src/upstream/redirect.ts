/** At most this many hops; CDNs of the projects we follow need one or two. */
export const maxRedirects = 5

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

export type Redirect =
  | { readonly kind: 'none' }
  | { readonly kind: 'follow'; readonly url: URL }
  | { readonly kind: 'refused'; readonly why: string }

/**
 * Where an answer sends us, judged on its text alone (addresses are judged apart, for every hop).
 * A redirect status without `Location` is an answer like any other. User names in a target are dropped:
 * whoever redirects does not choose our credentials.
 */
export function judgeRedirect(
  from: URL,
  status: number,
  location: string | undefined,
  visited: readonly string[],
): Redirect {
  if (!redirectStatuses.has(status) || location === undefined) return { kind: 'none' }
  if (!URL.canParse(location, from.href)) return { kind: 'refused', why: 'its target is not a URL' }
  const url = new URL(location, from.href)
  url.username = ''
  url.password = ''
  url.hash = ''
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return { kind: 'refused', why: `its target is ${url.protocol}, not http or https` }
  }
  if (from.protocol === 'https:' && url.protocol === 'http:') {
    return { kind: 'refused', why: 'it leads from https to http' }
  }
  if (visited.includes(url.href)) return { kind: 'refused', why: 'it leads in a circle' }
  if (visited.length > maxRedirects) return { kind: 'refused', why: `more than ${maxRedirects} redirects` }
  return { kind: 'follow', url }
}
