/** What a loader does with a configuration in the language of PXELINUX. */
export interface PxelinuxLabel {
  readonly name: string
  readonly kernel?: string
  readonly initrds: readonly string[]
  /** The kernel's command line, as words. */
  readonly words: readonly string[]
  readonly addsBootInterface: boolean
  readonly localBoot?: number
  readonly config?: string
  readonly program?: string
}

export interface PxelinuxConfig {
  readonly says: readonly string[]
  /** The label that is booted: at once, or after so many tenths of a second. */
  readonly chosen?: PxelinuxLabel
  readonly waitsFor: number
  readonly labels: readonly PxelinuxLabel[]
  /** The label that is taken when a boot failed and the time is up; absent: the default again. */
  readonly afterFailure?: PxelinuxLabel
  /** Tenths of a second after which a failed boot is tried again. */
  readonly timeout: number
  readonly totalTimeout: number
}

const inLabel = new Set(['KERNEL', 'INITRD', 'APPEND', 'IPAPPEND', 'LOCALBOOT', 'CONFIG', 'PXE'])

/** Reads it as PXELINUX 6 does; any word that it does not know is an error here. */
export function readPxelinux(text: string): PxelinuxConfig {
  const says: string[] = []
  const labels: { -readonly [Key in keyof PxelinuxLabel]: PxelinuxLabel[Key] }[] = []
  const numbers = new Map<string, number>()
  let chosen = ''
  let onTimeout: string | undefined
  for (const [keyword, rest] of linesOf(text)) {
    const label = labels.at(-1)
    if (keyword === 'SAY') says.push(rest)
    else if (keyword === 'DEFAULT') chosen = rest
    else if (keyword === 'ONTIMEOUT') onTimeout = rest
    else if (keyword === 'PROMPT' || keyword === 'TIMEOUT' || keyword === 'TOTALTIMEOUT') {
      numbers.set(keyword, Number(rest))
    } else if (keyword === 'LABEL') {
      labels.push({ name: rest, initrds: [], words: [], addsBootInterface: false })
    } else if (!inLabel.has(keyword) || label === undefined) {
      throw new Error(`not understood: ${keyword} ${rest}`)
    } else if (keyword === 'KERNEL') label.kernel = rest
    else if (keyword === 'INITRD') label.initrds = rest.split(',')
    else if (keyword === 'APPEND') label.words = rest === '' ? [] : rest.split(/\s+/)
    else if (keyword === 'IPAPPEND') label.addsBootInterface = (Number(rest) & 2) === 2
    else if (keyword === 'LOCALBOOT') label.localBoot = Number(rest)
    else if (keyword === 'CONFIG') label.config = rest
    else label.program = rest
  }
  const timeout = numbers.get('TIMEOUT') ?? 0
  const found = labels.find(({ name }) => name === chosen)
  const after = labels.find(({ name }) => name === onTimeout)
  if (onTimeout !== undefined && after === undefined) throw new Error(`no label ${onTimeout}`)
  return {
    says,
    ...(found === undefined ? {} : { chosen: found }),
    waitsFor: numbers.get('PROMPT') === 1 ? timeout : 0,
    labels,
    ...(after === undefined ? {} : { afterFailure: after }),
    timeout,
    totalTimeout: numbers.get('TOTALTIMEOUT') ?? 0,
  }
}

/** Reads it as petitboot does: labels with kernel, one initrd and arguments, in capital letters; nothing else. */
export function readPetitboot(
  text: string,
): readonly Pick<PxelinuxLabel, 'name' | 'kernel' | 'initrds' | 'words'>[] {
  const labels: { name: string; kernel?: string; initrds: string[]; words: string[] }[] = []
  for (const [keyword, rest] of linesOf(text)) {
    const label = labels.at(-1)
    if (keyword === 'LABEL') labels.push({ name: rest, initrds: [], words: [] })
    else if (label === undefined) continue
    else if (keyword === 'KERNEL') label.kernel = rest
    else if (keyword === 'INITRD') label.initrds = [rest]
    else if (keyword === 'APPEND') {
      label.words = rest.split(' ')
      const initrd = /initrd=(\S*)/i.exec(rest)?.[1]
      if (initrd !== undefined) label.initrds = [initrd]
    }
  }
  return labels
}

function linesOf(text: string): readonly (readonly [keyword: string, rest: string])[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const at = line.search(/\s/)
      return at === -1 ? ([line, ''] as const) : ([line.slice(0, at), line.slice(at).trim()] as const)
    })
}
