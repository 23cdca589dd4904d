import { Command } from 'commander'
import { logLevels } from '../telemetry/create-log.ts'
import { type AddCommand, choiceOption, examples, type RunCommand } from './command.ts'
import { addAudit } from './commands/audit.ts'
import { addBackup } from './commands/backup.ts'
import { addBootimages } from './commands/bootimages.ts'
import { addBoots } from './commands/boots.ts'
import { addCapture } from './commands/capture.ts'
import { addConfig } from './commands/config.ts'
import { addDemo } from './commands/demo.ts'
import { addDoctor } from './commands/doctor.ts'
import { addExplain } from './commands/explain.ts'
import { addGc } from './commands/gc.ts'
import { addHelp } from './commands/help.ts'
import { addHost } from './commands/host.ts'
import { addImport } from './commands/import.ts'
import { addInstall } from './commands/install.ts'
import { addInstalls } from './commands/installs.ts'
import { addLoaders } from './commands/loaders.ts'
import { addHold, addLive, addLocal, addRelease } from './commands/modes.ts'
import { addPatterns } from './commands/patterns.ts'
import { addPin } from './commands/pin.ts'
import { addPins } from './commands/pins.ts'
import { addGroup, addProfile } from './commands/records.ts'
import { addRender } from './commands/render.ts'
import { addReports } from './commands/reports.ts'
import { addRestore } from './commands/restore.ts'
import { addServe } from './commands/serve.ts'
import { addStreams } from './commands/streams.ts'
import { addSync } from './commands/sync.ts'
import { addToken } from './commands/token.ts'
import { addUnpin } from './commands/unpin.ts'
import { addVerify } from './commands/verify.ts'
import { addVersion } from './commands/version.ts'
import { addWatch } from './commands/watch.ts'
import { addWebhook } from './commands/webhook.ts'
import type { CliContext } from './context.ts'
import { outputFormats } from './session.ts'

/** In the order in which an admin meets them, below the headings of the help. */
const commandGroups: readonly (readonly [heading: string, commands: readonly AddCommand[]])[] = [
  ['Service:', [addServe, addDemo, addDoctor, addConfig]],
  ['Streams and files:', [addStreams, addBootimages, addLoaders, addSync, addImport, addVerify, addGc]],
  ['Machines:', [addHost, addGroup, addProfile, addExplain, addRender]],
  ['What a machine does:', [addBoots, addWatch, addPatterns, addCapture, addReports]],
  [
    'What a machine boots:',
    [addPin, addUnpin, addPins, addInstall, addInstalls, addLocal, addLive, addHold, addRelease],
  ],
  ['Administration:', [addToken, addAudit, addWebhook, addBackup, addRestore, addVersion, addHelp]],
]

const afterHelp = `
Without --config, ./pilotlight.yaml is read, else /etc/pilotlight/pilotlight.yaml, else defaults hold.
Settings come from flags, then PILOTLIGHT_… variables, then the file, then defaults.
Results go to stdout, everything else to stderr. PILOTLIGHT_DEBUG=1 adds the stack to an error.

With --output json an error is the last line on stderr: {"error":{"code":…,"message":…,"hint":…,"exitCode":…}}.

Exit codes: 0 ok, 1 failed or differs, 2 usage, 69 upstream or service unavailable, 75 try again, 77 permission,
78 configuration.
${examples('pilotlight serve --config /etc/pilotlight/pilotlight.yaml', 'pilotlight explain --mac 52:54:00:ab:cd:ef', 'pilotlight streams --output json')}`

/** The command tree; `run` gives each command its session. Nothing here reads or writes anything but help. */
export function createProgram(
  { stdout, stderr, version }: Pick<CliContext, 'stdout' | 'stderr' | 'version'>,
  { isJson }: { readonly isJson: boolean },
  run: RunCommand,
): Command {
  const program = new Command('pilotlight')
    .description('Bare-metal network boot that follows CoreOS streams and serves verified bootimages.')
    .option('-c, --config <file>', 'configuration file')
    .option('--data-dir <directory>', 'data directory, instead of the configured one')
    .addOption(
      choiceOption('-o, --output <format>', 'how results are printed', outputFormats).default('table'),
    )
    .addOption(choiceOption('--log-level <level>', 'how much is logged', logLevels))
    .version(`pilotlight ${version}`, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand(false)
    .addHelpText('after', afterHelp)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      // Told by whoever runs the program, as data.
      writeErr: (text) => isJson || stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, 'pilotlight: ')),
      getOutHelpWidth: () => helpWidth(stdout.columns),
      getErrHelpWidth: () => helpWidth(stderr.columns),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .showHelpAfterError('(pilotlight --help lists what there is)')
    .exitOverride()
  for (const [heading, commands] of commandGroups) {
    program.commandsGroup(heading)
    for (const add of commands) add(program, run)
  }
  return program
}

function helpWidth(columns: number | undefined): number {
  return Math.min(Math.max(columns ?? 100, 60), 120)
}
