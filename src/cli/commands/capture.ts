import { resolve } from 'node:path'
import type { Command } from 'commander'
import { ServiceError } from '../../core/errors.ts'
import { machineCapture } from '../boots/machine-capture.ts'
import { saveCapture } from '../boots/save-capture.ts'
import { examples, type RunCommand } from '../command.ts'
import { exitCode } from '../exit-codes.ts'
import { count, formatBytes, formatTime } from '../output/format.ts'
import type { Session } from '../session.ts'

export function addCapture(program: Command, run: RunCommand): void {
  program
    .command('capture')
    .description('write the DHCP and TFTP packets of the last boots of a machine as a pcap file')
    .argument('<machine>', 'a MAC, or the id of a host')
    .argument('[file]', 'a new file; - or nothing: standard output')
    .option('--force', 'write over a file that is there', false)
    .addHelpText(
      'after',
      `
For tshark and Wireshark. The service keeps the last packets of each machine in memory, so a restart forgets them. Of
TFTP DATA only the header is kept, because scripts carry tokens; what goes by HTTP is not in it. The mode of the file
is 0600. Exits with 1 when the file is there already, 2 when no packets of that machine are kept.
${examples('pilotlight capture rack1-n01 boot.pcap', 'pilotlight capture 52:54:00:ab:cd:ef | tshark -r -')}`,
    )
    .action((machine: string, file: string | undefined, { force }: { force: boolean }) =>
      run((session) => capture(session, machine, file === '-' ? undefined : file, force)),
    )
}

function capture(
  session: Session,
  machine: string,
  file: string | undefined,
  force: boolean,
): Promise<number> {
  const { stdout, cwd } = session.context
  const isJson = session.globals.output === 'json'
  if (file === undefined && !isJson && stdout.isTTY === true) {
    throw new ServiceError('USAGE', 'a pcap file is no text for a terminal', {
      hint: `name a file (pilotlight capture ${machine} boot.pcap), or pipe it: | tshark -r -`,
    })
  }
  return session.withService(async ({ operations: { boots, fleet } }) => {
    const { pcap, ...about } = await machineCapture({ boots, fleet }, machine)
    const bytes = Buffer.from(pcap, 'base64')
    if (file === undefined) {
      if (isJson) session.print({ json: { ...about, pcap }, text: () => '' })
      else stdout.write(bytes)
      return exitCode.ok
    }
    const path = resolve(cwd, file)
    saveCapture(path, bytes, { mayReplace: force })
    const { packets, oldest, newest, dropped } = about
    const span =
      oldest === undefined || newest === undefined ? '' : `, ${formatTime(oldest)} to ${formatTime(newest)}`
    const lost = dropped === 0 ? '' : `; ${count(dropped, 'older packet')} made room`
    session.print({
      json: { ...about, file: path, sizeBytes: bytes.length },
      text: () => `${path}: ${count(packets, 'packet')}${span}, ${formatBytes(bytes.length)}${lost}\n`,
    })
    return exitCode.ok
  })
}
