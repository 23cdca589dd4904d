import { readFileSync } from 'node:fs'

/** The version in package.json, which lies two directories above this file in `src/` and in `dist/` alike. */
export function readVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const { version } = JSON.parse(text) as { version: string }
  return version
}
