import { renderFields } from '../output/table.ts'

export interface BannerFacts {
  readonly version: string
  /** Works from any directory: `pilotlight`, or `node /srv/pilotlight/dist/main.js` in a clone. */
  readonly programName: string
  /** What a command needs to find this service, as typed. */
  readonly commandOptions: readonly string[]
  readonly bootUrl: string
  readonly adminUrl: string
  readonly dataDir: string
  readonly configFile?: string
  readonly streams: readonly { readonly name: string; readonly architectures: readonly string[] }[]
  readonly unknown: string
  /** Nobody can use the API yet: there is no password that comes with it. */
  readonly hasTokens: boolean
}

/** The few lines that `serve` says when it is up: what it does, where, and what to type next. */
export function banner(facts: BannerFacts): string {
  const { version, programName, commandOptions, bootUrl, adminUrl, dataDir, configFile, streams, unknown } =
    facts
  const followed = streams
    .map(({ name, architectures }) => `${name} (${architectures.join(', ')})`)
    .join(', ')
  const where = renderFields([
    ['  boot', `${bootUrl}   nodes load /boot.ipxe there, by this machine's own address`],
    ['  admin', `${adminUrl}   the page /, and /readyz, /metrics, /api/v1/docs`],
    ['  data', dataDir],
    ['  config', configFile ?? 'none: defaults, DHCP and TFTP off'],
    ['  streams', followed === '' ? 'none' : followed],
    ['  unknown', unknown],
  ])
  const options = commandOptions.map((option) => ` ${option}`).join('')
  // Notes are behind the sign of a comment, so that whole lines can be pasted.
  const next = [
    ...(facts.hasTokens
      ? []
      : [`token create NAME --role write${options}  # to log in to the page and the API; there is none yet`]),
    `streams${options}  # what is current and what is being fetched`,
    `explain --mac 52:54:00:12:34:56${options}  # what a machine would boot, and why`,
    configFile === undefined
      ? 'config reference  # every setting, for a pilotlight.yaml'
      : `config show${options}  # every setting with its origin`,
  ]
  return `Pilotlight ${version}: follows CoreOS streams and serves verified bootimages to machines that network-boot.

${where}
Next, in another terminal:
${next.map((command) => `  ${programName} ${command}\n`).join('')}`
}
