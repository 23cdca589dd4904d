import { spawnSync } from 'node:child_process'

/** Where a request goes, and what to call the copy. */
export interface TftpErrand {
  readonly host: string
  readonly port: number
  readonly remote: string
  readonly local: string
}

/** A program that fetches files by TFTP. */
export interface TftpProgram {
  readonly program: string
  readonly how: string
  command(errand: TftpErrand): readonly string[]
  /** The options that it asks for, in its order; how long it waits differs between versions. */
  readonly asks: readonly string[]
  readonly netascii?: true
}

export const tftpPrograms: readonly TftpProgram[] = [
  {
    program: 'curl',
    how: 'as it comes',
    command: ({ host, port, remote, local }) => [
      'curl',
      '-sS',
      '-o',
      local,
      `tftp://${host}:${port}/${remote}`,
    ],
    asks: ['tsize=0', 'blksize=512', 'timeout'],
  },
  {
    program: 'curl',
    how: 'with blocks of 1468',
    command: ({ host, port, remote, local }) => [
      ...['curl', '-sS', '--tftp-blksize', '1468', '-o', local],
      `tftp://${host}:${port}/${remote}`,
    ],
    asks: ['tsize=0', 'blksize=1468', 'timeout'],
  },
  {
    program: 'curl',
    how: 'without options',
    command: ({ host, port, remote, local }) => [
      ...['curl', '-sS', '--tftp-no-options', '-o', local],
      `tftp://${host}:${port}/${remote}`,
    ],
    asks: [],
  },
  {
    program: 'tftp',
    how: 'tftp-hpa, octet',
    command: ({ host, port, remote, local }) => [
      ...['tftp', '-m', 'octet', host, `${port}`, '-c', 'get', remote, local],
    ],
    asks: [],
  },
  {
    program: 'tftp',
    how: 'tftp-hpa, netascii',
    command: ({ host, port, remote, local }) => [
      ...['tftp', '-m', 'netascii', host, `${port}`, '-c', 'get', remote, local],
    ],
    asks: [],
    netascii: true,
  },
  {
    program: 'atftp',
    how: 'as it comes',
    command: ({ host, port, remote, local }) => [
      'atftp',
      '--get',
      '-r',
      remote,
      '-l',
      local,
      host,
      `${port}`,
    ],
    asks: [],
  },
  {
    program: 'atftp',
    how: 'with windows of eight',
    command: ({ host, port, remote, local }) => [
      ...['atftp', '--get', '--option', 'tsize 0', '--option', 'blksize 1468', '--option', 'windowsize 8'],
      ...['-r', remote, '-l', local, host, `${port}`],
    ],
    asks: ['tsize=0', 'blksize=1468', 'windowsize=8'],
  },
  {
    program: 'busybox',
    how: 'as it comes',
    command: ({ host, port, remote, local }) => [
      'busybox',
      'tftp',
      '-g',
      '-r',
      remote,
      '-l',
      local,
      host,
      `${port}`,
    ],
    asks: ['tsize=0'],
  },
  {
    program: 'busybox',
    how: 'with blocks of 1468',
    command: ({ host, port, remote, local }) => [
      ...['busybox', 'tftp', '-g', '-b', '1468', '-r', remote, '-l', local, host, `${port}`],
    ],
    asks: ['blksize=1468', 'tsize=0'],
  },
]

function isInstalled(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`]).status === 0
}

/** Which of these programs are on this machine; says which are not. */
export function installedPrograms(programs: readonly string[], purpose: string): ReadonlySet<string> {
  const wanted = [...new Set(programs)]
  const here = new Set(wanted.filter(isInstalled))
  for (const program of wanted)
    if (!here.has(program)) console.log(`${program} is not installed: not tried as ${purpose}`)
  return here
}
