const anywhere = 'http://own.invalid'

/**
 * Where to go after a login: a path of this page, or its start. What a browser would read as another site
 * (`//evil.example`, `/\evil.example`, `https:…`) is none.
 */
export function ownPath(text: unknown): string {
  if (typeof text !== 'string' || text.length > 2000 || !/^\/[\x21-\x7e]*$/.test(text)) return '/'
  if (!URL.canParse(text, anywhere)) return '/'
  const { origin, pathname, search } = new URL(text, anywhere)
  if (origin !== anywhere || pathname.startsWith('//') || /^\/(?:login|logout|live)\b/.test(pathname))
    return '/'
  return `${pathname}${search}`
}
