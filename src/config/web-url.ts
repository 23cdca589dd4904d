import { webhookAddressRefusal } from '../upstream/address-rules.ts'

declare const baseUrlBrand: unique symbol

/** An http(s) URL that others are resolved against; ends with a slash, has neither query nor fragment. */
export type BaseUrl = string & { readonly [baseUrlBrand]: true }

/** Why this is no URL that the service may ask (field case 163); `undefined` when it is one. */
export function httpUrlProblem(text: string): string | undefined {
  if (!isPlainText(text) || !URL.canParse(text)) return 'it is not a URL'
  const { protocol, username, password, hash } = new URL(text)
  if (protocol !== 'http:' && protocol !== 'https:') return `its scheme is ${protocol.slice(0, -1)}`
  // A password in a URL ends up in logs and in other people's terminals.
  if (username !== '' || password !== '') return 'it holds a user name or a password'
  return hash === '' && !text.endsWith('#') ? undefined : 'it has a fragment'
}

export function baseUrlProblem(text: string): string | undefined {
  const problem = httpUrlProblem(text)
  if (problem !== undefined) return problem
  return text.includes('?') ? 'it has a query' : undefined
}

/** Reads a base URL; a missing slash at the end is added, since it always means a directory. */
export function parseBaseUrl(text: string): BaseUrl | undefined {
  if (baseUrlProblem(text) !== undefined) return undefined
  const { href } = new URL(text)
  return (href.endsWith('/') ? href : `${href}/`) as BaseUrl
}

/** Why this is no origin (`https://mirror.example:8443`): a path would promise more than is checked. */
export function originProblem(text: string): string | undefined {
  const problem = baseUrlProblem(text)
  if (problem !== undefined) return problem
  return new URL(text).pathname === '/' ? undefined : 'it has a path'
}

/** A proxy may have a user name and password, as everywhere; nothing else is different. */
export function proxyUrlProblem(text: string): string | undefined {
  if (!isPlainText(text) || !URL.canParse(text)) return 'it is not a URL'
  const { protocol, pathname, search, hash } = new URL(text)
  if (protocol !== 'http:' && protocol !== 'https:') return `its scheme is ${protocol.slice(0, -1)}`
  return pathname === '/' && search === '' && hash === '' ? undefined : 'it has a path'
}

/** An admin wrote it, so any network is fine; what is no service's own address is not (field case 163). */
export function webhookUrlProblem(text: string): string | undefined {
  const problem = httpUrlProblem(text)
  if (problem !== undefined) return problem
  const refusal = webhookAddressRefusal(new URL(text).hostname)
  return refusal === undefined ? undefined : `that is a ${refusal} address`
}

export function originOf(url: string): string {
  return new URL(url).origin
}

/** `new URL` forgives blanks and control characters; a configuration need not. */
function isPlainText(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text)
}
