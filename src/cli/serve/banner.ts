import { renderFields } from '../output/table.ts'

export interface BannerFacts {
  readonly version: string
  /** As typed: `pilotlight`, or `node dist/main.js` in a clone. */
  readonly programName: string
  readonly bootUrl: string
  readonly adminUrl: string
  readonly dataDir: string
  readonly configFile?: string
  readonly streams: readonly { readonly name: string; readonly architectures: readonly string[] }[]
  readonly unknown: string
}

/** The few lines that `serve` says when it is up: what it does, where, and what to type next. */
export function banner(facts: BannerFacts): string {
  const { version, programName, bootUrl, adminUrl, dataDir, configFile, streams, unknown } = facts
  const followed = streams
    .map(({ name, architectures }) => `${name} (${architectures.join(', ')})`)
    .join(', ')
  const where = renderFields([
    ['  boot', `${bootUrl}   nodes load /boot.ipxe there, by this machine's own address`],
    ['  admin', `${adminUrl}   /readyz, /metrics, /api/v1/streams`],
    ['  data', dataDir],
    ['  config', configFile ?? 'none: defaults, DHCP and TFTP off'],
    ['  streams', followed === '' ? 'none' : followed],
    ['  unknown', unknown],
  ])
  const next = renderFields([
    [`  ${programName} streams`, 'what is current and what is being fetched'],
    [`  ${programName} explain --mac 52:54:00:12:34:56`, 'what a machine would boot, and why'],
    ...(configFile === undefined
      ? [[`  ${programName} config reference`, 'every setting, for a pilotlight.yaml'] as const]
      : [[`  ${programName} config show`, 'every setting with its origin'] as const]),
  ])
  return `Pilotlight ${version}: follows CoreOS streams and serves verified bootimages to machines that network-boot.

${where}
Next, in another terminal:
${next}`
}
