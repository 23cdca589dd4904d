import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

/**
 * The arrows of the house: each folder and what it may import. Frontends (dhcp, tftp, http) never import each other;
 * only runtime wires; core knows nothing but itself.
 */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  core: [],
  upstream: ['core'],
  streams: ['core', 'upstream'],
  artifacts: ['core', 'upstream'],
  state: ['core', 'streams'],
  catalog: ['core', 'state', 'artifacts'],
  rollout: ['core', 'streams', 'artifacts', 'state', 'catalog'],
  boot: ['core', 'catalog', 'state'],
  render: ['core', 'catalog'],
  native: [],
  udp: ['native'],
  capture: ['core'],
  dhcp: ['core', 'udp'],
  loaders: ['core'],
  ignition: ['core'],
  config: ['core', 'upstream', 'streams', 'artifacts', 'loaders', 'ignition'],
  telemetry: ['core', 'artifacts', 'state'],
  webhooks: ['core', 'upstream'],
  tftp: ['core', 'udp'],
  'http/boot': ['core', 'catalog', 'boot', 'render', 'native'],
  'http/admin': ['core', 'telemetry'],
  doctor: ['core', 'config'],
  runtime: ['*'],
  cli: ['core', 'config', 'doctor', 'runtime', 'http/admin', 'telemetry'],
  main: ['*'],
}

/** Interfaces of a folder that others may name as types without depending on its code. */
const portFiles: ReadonlySet<string> = new Set([
  'streams/metadata.ts',
  'state/store.ts',
  'artifacts/blob-store.ts',
  'artifacts/fetcher.ts',
  'upstream/client.ts',
  'render/renderer.ts',
])

/** Packages and node: modules that the inside of the house must do without. */
const pureFolders = ['core']

const src = resolve(import.meta.dirname, '../src')
const sources = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => path.replaceAll('\\', '/'))

interface Import {
  readonly from: string
  readonly to: string
}

function importsOf(path: string): readonly Import[] {
  const text = readFileSync(join(src, path), 'utf8')
  const targets = text.matchAll(
    /^(?:import|export)\s[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'|import\('([^']+)'\)/gm,
  )
  return [...targets].map((match) => ({ from: path, to: match[1] ?? match[2] ?? match[3] ?? '' }))
}

function folderOf(path: string): string {
  const [first = '', second] = path.split('/')
  if (second === undefined) return first.replace(/\.ts$/, '')
  return first === 'http' ? `${first}/${second}` : first
}

function targetOf({ from, to }: Import): string {
  return relative(src, resolve(src, dirname(from), to)).replaceAll('\\', '/')
}

const imports = sources.flatMap(importsOf)
const internal = imports.filter(({ to }) => to.startsWith('.'))

describe('the arrows of the house', () => {
  it('finds the sources it is about', () => {
    expect(sources.length).toBeGreaterThan(20)
    expect(internal.length).toBeGreaterThan(40)
  })

  it('every folder has a row in the table', () => {
    expect([...new Set(sources.map(folderOf))].filter((folder) => !(folder in mayImport))).toEqual([])
  })

  it('no folder imports what it may not', () => {
    const wrong = internal.filter((entry) => {
      const target = targetOf(entry)
      const from = folderOf(entry.from)
      const allowed = mayImport[from] ?? []
      return !(
        folderOf(target) === from ||
        allowed.includes('*') ||
        allowed.includes(folderOf(target)) ||
        (from !== 'core' && portFiles.has(target))
      )
    })
    expect(wrong.map((entry) => `${entry.from} -> ${targetOf(entry)}`)).toEqual([])
  })

  it('core needs neither packages nor node: modules', () => {
    const outside = imports.filter(
      ({ from, to }) => pureFolders.includes(folderOf(from)) && !to.startsWith('.'),
    )
    expect(outside).toEqual([])
  })

  it('only the process entry ends the process', () => {
    const callers = sources.filter((path) => /process\.exit\(/.test(readFileSync(join(src, path), 'utf8')))
    expect(callers.filter((path) => path !== 'main.ts')).toEqual([])
  })

  it('the environment is read in config, cli and the entry alone', () => {
    const readers = sources.filter((path) => /process\.env\b/.test(readFileSync(join(src, path), 'utf8')))
    expect(readers.filter((path) => !['config', 'cli', 'main'].includes(folderOf(path)))).toEqual([])
  })
})
