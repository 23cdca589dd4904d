/** One line of the section that says of what generation a signed image is (shim SBAT.md). */
export interface SbatEntry {
  readonly component: string
  readonly version: string
}

const longestSection = 16 * 1024
const maxEntries = 64

/** Reads `component,generation,vendor,package,version,url` lines; what is no such line is passed over. */
export function readSbat(section: Buffer): readonly SbatEntry[] {
  return section
    .toString('latin1', 0, longestSection)
    .replace(/\0.*$/s, '')
    .split('\n', maxEntries)
    .flatMap((line) => {
      const [component, , , , version] = line.trim().split(',')
      return component && version && /^[\x20-\x7e]{1,100}$/.test(version) ? [{ component, version }] : []
    })
}
