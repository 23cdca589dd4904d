/** What an Ignition template can use. Everything is escaped for the inside of a JSON string; lists and maps are JSON. */
export interface IgnitionVariables {
  readonly host: string
  readonly host_name: string
  readonly mac: string
  readonly macs: readonly string[]
  readonly labels: Readonly<Record<string, string>>
  readonly stream: string
  readonly release: string
  readonly arch: string
  readonly boot_id: string
  readonly base_url: string
  readonly report_url: string
}

export type IgnitionVariableName = keyof IgnitionVariables

/** What each is, with the value that a config is tried out with when it is loaded. */
export const ignitionVariables: {
  readonly [Name in IgnitionVariableName]: {
    readonly text: string
    readonly example: IgnitionVariables[Name]
  }
} = {
  host: { text: 'Id of the host; empty for an unknown machine.', example: 'rack1-n01' },
  host_name: {
    text: '`hostName` of the host, else its id; empty for an unknown machine.',
    example: 'rack1-n01',
  },
  mac: { text: 'The first MAC of the machine; may be empty.', example: '52:54:00:ab:cd:ef' },
  macs: { text: 'All of its MACs.', example: ['52:54:00:ab:cd:ef', '52:54:00:ab:cd:f0'] },
  labels: {
    text: 'Labels of the host: `labels.site`. One that the host lacks is an error, unless `default` gives a value.',
    example: { site: 'edge' },
  },
  stream: { text: 'The stream of this boot.', example: 'fcos-stable' },
  release: {
    text: 'The release of this boot; empty where the service was killed in between.',
    example: '44.20260707.3.1',
  },
  arch: { text: 'RPM name of the architecture; may be empty.', example: 'x86_64' },
  boot_id: { text: 'Id of this boot.', example: 'AAECAwQFBgcICQoLDA0ODw' },
  base_url: {
    text: 'Where this service is reached; no slash at the end.',
    example: 'http://192.0.2.10:8080',
  },
  report_url: {
    text: 'Where the machine reports how it fares, for `boot.tokens.reportLife`. A secret of this boot.',
    example: `http://192.0.2.10:8080/report/${'A'.repeat(64)}`,
  },
}

export const ignitionVariableNames = Object.keys(ignitionVariables) as readonly IgnitionVariableName[]
