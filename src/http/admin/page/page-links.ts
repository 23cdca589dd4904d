import { parseMac } from '../../../core/mac.ts'

export function hostPath(id: string): string {
  return `/hosts/${encodeURIComponent(id)}`
}

export function machinePath(mac: string): string {
  return `/machines/${encodeURIComponent(mac)}`
}

export function bootPath(id: string): string {
  return `/boots/${encodeURIComponent(id)}`
}

/** Of what a row or an event tells of; none where nobody knows whose it is. */
export function subjectPath(subject: { readonly host?: string; readonly mac?: string }): string | undefined {
  if (subject.host !== undefined) return hostPath(subject.host)
  return subject.mac === undefined ? undefined : machinePath(subject.mac)
}

/** Of a key of a machine row: a host id, or a MAC in our spelling. */
export function keyPath(key: string): string {
  return parseMac(key) === key ? machinePath(key) : hostPath(key)
}

/** A path with the values that are there as its query. */
export function pathWith(path: string, query: Readonly<Record<string, string | number | undefined>>): string {
  const text = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') text.set(name, String(value))
  }
  return text.size === 0 ? path : `${path}?${text}`
}
