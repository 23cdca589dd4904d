import type { Command } from 'commander'
import type { LoadedConfig } from '../../config/load-config.ts'
import { problemText } from '../../config/problem.ts'
import type { Service } from '../../runtime/service.ts'
import { createLog, type ServiceLog } from '../../telemetry/create-log.ts'
import { examples, type RunCommand } from '../command.ts'
import { systemConfigFile } from '../find-config-file.ts'
import { shellWord } from '../program-name.ts'
import { banner } from '../serve/banner.ts'
import { watchUpstream } from '../serve/watch-upstream.ts'
import { type Session, wantsColor } from '../session.ts'
import { addSettingOptions } from '../settings.ts'

export function addServe(program: Command, run: RunCommand): void {
  addSettingOptions(program.command('serve'))
    .description('run the service: follow streams, keep verified copies, serve machines that network-boot')
    .addHelpText(
      'after',
      `\nSIGTERM and SIGINT stop it, SIGHUP reads the configuration again.\nExits with 0 when it was stopped, 69 when a port cannot be had, 75 when another service has the data directory,\n77 when a permission is missing, 78 when the configuration has a mistake.\n${examples(
        'pilotlight serve',
        'pilotlight serve --config /etc/pilotlight/pilotlight.yaml',
        'pilotlight serve --data-dir /srv/pilotlight --boot-http-listen :8080',
      )}`,
    )
    .action((settings: object) => run(serve, settings))
}

/** Stays until the process is told to stop. */
async function serve(session: Session): Promise<number> {
  const { runtime, env, stderr, sleep, programName } = session.context
  const loaded = session.loadConfig()
  for (const warning of loaded.warnings) session.say(`warning: ${problemText(warning)}`)
  const { level, format } = loaded.config.log
  const destination = session.context.logDestination ?? stderr
  const log = createLog({ level, format, destination, color: wantsColor(env, stderr) })
  const reload = () => {
    const next = session.loadConfig()
    log.setLevel(next.config.log.level)
    return next
  }
  const ended = new AbortController()
  try {
    return await runtime.keepRunning(
      async () => {
        const service = await runtime.startService({ loaded, log, reload })
        stderr.write(bannerOf(session, loaded, service, await hasTokens(service)))
        void watchUpstream({
          operations: service.operations,
          sleep,
          signal: ended.signal,
          demoCommand: `${programName} demo`,
          say: session.say,
        })
        return service
      },
      (service) => reloadOnHangup(service, log),
    )
  } finally {
    ended.abort()
  }
}

async function reloadOnHangup({ operations }: Service, log: ServiceLog): Promise<void> {
  try {
    // The reload itself tells what it took or refused.
    log.info(await operations.reload(), 'configuration read again on SIGHUP')
  } catch (error) {
    log.error({ err: error }, 'configuration could not be read again on SIGHUP')
  }
}

/** Options with which a command finds this service from any directory. The usual file is found without. */
function commandOptions({ configFile }: Session, { config, origins }: LoadedConfig): readonly string[] {
  const isInFile = configFile !== undefined && origins.get('dataDir')?.kind === 'file'
  return [
    ...(configFile === undefined || configFile === systemConfigFile
      ? []
      : [`--config ${shellWord(configFile)}`]),
    ...(isInFile ? [] : [`--data-dir ${shellWord(config.dataDir)}`]),
  ]
}

/** A store that does not answer is no reason to say that there are none. */
async function hasTokens({ operations }: Service): Promise<boolean> {
  const tokens = await operations.fleet.listTokens().catch(() => undefined)
  return tokens?.every(({ revokedAt }) => revokedAt !== undefined) !== true
}

function bannerOf(session: Session, loaded: LoadedConfig, service: Service, hasTokens: boolean): string {
  const { context, configFile } = session
  const { config, inventory } = loaded
  const { unknown } = inventory
  return banner({
    version: context.version,
    programName: context.programName,
    commandOptions: commandOptions(session, loaded),
    bootUrl: service.bootUrl,
    adminUrl: service.adminUrl,
    dataDir: config.dataDir,
    ...(configFile !== undefined && { configFile }),
    streams: [...config.streams.values()],
    hasTokens,
    unknown: unknown.kind === 'ignore' ? 'machines are ignored' : `machines get profile ${unknown.profile}`,
  })
}
