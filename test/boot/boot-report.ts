/** What the rig saw of a boot (`report.json`). Times are in seconds since the machine was switched on. */
export interface BootReport {
  readonly ok: boolean
  readonly problem: string | null
  readonly stages: Readonly<Record<string, number>>
  readonly node: {
    readonly marker: string | null
    readonly cmdline: string | null
    readonly network: string | null
  }
  readonly dhcp: readonly SeenDhcp[]
  readonly tftp: readonly SeenTftp[]
  readonly http: readonly SeenHttp[]
  readonly phone_home: readonly { readonly time: number; readonly path: string; readonly text: string }[]
  /** Packets that the capture could not keep up with. */
  readonly capture_lost: number
}

export interface SeenDhcp {
  readonly time: number
  /** `192.0.2.10 port 67` */
  readonly from: string
  readonly to: string
  readonly type: string
  readonly yiaddr?: string
  readonly siaddr?: string
  readonly file: string
  /** By `<code> <name>`. */
  readonly options: Readonly<Record<string, unknown>>
  readonly hex: string
}

export interface SeenTftp {
  readonly time: number
  readonly file: string
  readonly bytes: number
  readonly resent: number
  readonly error: string | null
  /** Of what was sent; `null` when not all of it was seen. */
  readonly sha256: string | null
}

export interface SeenHttp {
  readonly time: number
  readonly method: string
  readonly target: string
  readonly status: number | null
  readonly bytes: number
  /** Of the body; `null` when not all of it was seen. */
  readonly sha256: string | null
}

/**
 * The digests of what the machine was sent whole, by HTTP or TFTP, when it asked for the artifact of this digest; each
 * once. Whatever name its loader is given for it: PXELINUX has no room for a long one.
 */
export function sentDigests(report: BootReport, digest: string): readonly string[] {
  const isIt = (path: string) => path.startsWith(`/artifacts/${digest}/`)
  const bodies = report.http.filter(({ status, target }) => status === 200 && isIt(target))
  const transfers = report.tftp.filter(({ file, error }) => error === null && isIt(file))
  return [...new Set([...bodies, ...transfers].flatMap(({ sha256 }) => sha256 ?? []))]
}

/** What a booted machine said when it phoned home, line by line, by its first word: `fetched rootfs`, `marker` … */
export function saidAtHome(report: BootReport, beginning: string): string | undefined {
  const lines = report.phone_home.flatMap(({ text }) => text.split('\n'))
  return lines.findLast((line) => line.startsWith(`${beginning} `))?.slice(beginning.length + 1)
}

/** `key=value` words of a line. */
export function wordOf(line: string | undefined, key: string): string | undefined {
  return line
    ?.split(' ')
    .find((word) => word.startsWith(`${key}=`))
    ?.slice(key.length + 1)
}
