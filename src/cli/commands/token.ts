import type { Command } from 'commander'
import { suggestion } from '../../config/suggest.ts'
import { ServiceError } from '../../core/errors.ts'
import { type ApiRole, apiRoles } from '../../core/fleet.ts'
import type { FleetOperations } from '../../http/admin/fleet-operations.ts'
import type { TokenSummary } from '../../http/admin/schemas/fleet.ts'
import { choiceOption, examples, type RunCommand } from '../command.ts'
import { exitCode } from '../exit-codes.ts'
import {
  addChangeOptions,
  addUntilOption,
  type ChangeFlags,
  changeOf,
  changeWithReason,
  dryRunMark,
  reasonField,
  sayDone,
} from '../fleet/change.ts'
import { formatTime } from '../output/format.ts'
import { type Column, renderTable } from '../output/table.ts'

const columns: readonly Column[] = [
  { title: 'ID' },
  { title: 'NAME' },
  { title: 'ROLE' },
  { title: 'CREATED', canShrink: true },
  { title: 'UNTIL' },
  { title: 'LAST USED' },
  { title: 'STATE' },
]

export function addToken(program: Command, run: RunCommand): void {
  const token = program
    .command('token')
    .description('make, list and revoke credentials of the API, and the tokens that booting machines carry')
    .helpCommand('help [command]', 'print help for a command')
    .addHelpText(
      'after',
      examples('pilotlight token create ops-laptop --role write', 'pilotlight token list'),
    )
  addCreate(token, run)
  addList(token, run)
  addRevoke(token, run)
  addRevokeBoot(token, run)
}

interface CreateOptions extends ChangeFlags {
  readonly role: ApiRole
  readonly until?: string
}

function addCreate(token: Command, run: RunCommand): void {
  addUntilOption(addChangeOptions(token.command('create')), 'when it ends (default: in 90 days)')
    .description('make a credential for the API; its secret is printed once, alone, to stdout')
    .argument('<name>', 'who uses it')
    .addOption(choiceOption('--role <role>', 'read: ask. write: change as well', apiRoles).default('read'))
    .addHelpText(
      'after',
      `\nThe service keeps a hash alone: a secret that is lost is replaced by another.\n${examples(
        'pilotlight token create ops-laptop --role write > ~/.pilotlight-token',
        'curl -H "Authorization: Bearer $(cat ~/.pilotlight-token)" http://127.0.0.1:8081/api/v1/hosts',
      )}`,
    )
    .action((name: string, options: CreateOptions) =>
      run((session) =>
        session.withOperations(
          async ({ fleet }) => {
            const { role, until, dryRun } = options
            const created = await fleet.createToken(
              { name, role, ...(until !== undefined && { until }), ...reasonField(options) },
              changeOf(session, options),
            )
            if (dryRun) {
              session.say(dryRunMark)
              session.print({ json: { token: created.token }, text: () => '' })
              return exitCode.ok
            }
            const { id, expiresAt } = created.token
            session.say(
              `token ${name} (${id}) may ${role}${expiresAt === undefined ? '' : ` until ${formatTime(expiresAt)}`}; its secret is shown this once:`,
            )
            session.print({ json: created, text: () => `${created.secret}\n` })
            return exitCode.ok
          },
          { mayCreate: !options.dryRun },
        ),
      ),
    )
}

function addList(token: Command, run: RunCommand): void {
  token
    .command('list')
    .description('list the credentials of the API, without their secrets')
    .addHelpText('after', examples('pilotlight token list'))
    .action(() =>
      run((session) =>
        session.withOperations(async ({ fleet }) => {
          const tokens = await fleet.listTokens()
          const now = session.context.now()
          session.print({
            json: { tokens },
            text: (style) =>
              renderTable(
                columns,
                tokens.map((entry) => rowOf(entry, now)),
                style,
              ),
          })
          return exitCode.ok
        }),
      ),
    )
}

function rowOf(token: TokenSummary, now: number): string[] {
  const { id, name, role, createdAt, createdBy, expiresAt, lastUsedAt } = token
  return [
    id,
    name,
    role,
    `${formatTime(createdAt)} by ${createdBy}`,
    expiresAt === undefined ? '-' : formatTime(expiresAt),
    lastUsedAt === undefined ? 'not since the start' : formatTime(lastUsedAt),
    stateOf(token, now),
  ]
}

function stateOf({ revokedAt, expiresAt }: TokenSummary, now: number): string {
  if (revokedAt !== undefined) return `revoked ${formatTime(revokedAt)}`
  return expiresAt !== undefined && Date.parse(expiresAt) <= now ? 'over' : 'counts'
}

function addRevoke(token: Command, run: RunCommand): void {
  addChangeOptions(token.command('revoke'))
    .description('let a credential not count any more, from this moment on')
    .argument('<token>', 'its id, or its name where only one has it')
    .addHelpText('after', examples('pilotlight token revoke ops-laptop --reason "laptop was stolen"'))
    .action((text: string, options: ChangeFlags) =>
      run((session) =>
        session.withOperations(async ({ fleet }) => {
          const found = await findToken(fleet, text)
          await fleet.revokeToken(found.id, changeWithReason(session, options))
          sayDone(session, options, `token ${found.name} (${found.id}) does not count any more`)
          return exitCode.ok
        }),
      ),
    )
}

/** @throws ServiceError NOT_FOUND, USAGE when several have that name */
async function findToken(fleet: Pick<FleetOperations, 'listTokens'>, text: string): Promise<TokenSummary> {
  const tokens = await fleet.listTokens()
  const byId = tokens.find(({ id }) => id === text)
  const counting = tokens.filter(({ revokedAt }) => revokedAt === undefined)
  const named = counting.filter(({ name }) => name === text)
  const [first, second] = byId === undefined ? named : [byId]
  if (first === undefined) {
    throw new ServiceError('NOT_FOUND', `there is no token ${text} that counts`, {
      hint:
        suggestion(
          text,
          counting.flatMap(({ id, name }) => [name, id]),
        ) ?? 'pilotlight token list has them',
    })
  }
  if (second === undefined) return first
  throw new ServiceError('USAGE', `${named.length} tokens are called ${text}`, {
    hint: `say which by its id: ${named.map(({ id }) => id).join(', ')}`,
  })
}

function addRevokeBoot(token: Command, run: RunCommand): void {
  addChangeOptions(token.command('revoke-boot'))
    .description(
      'let the tokens that a host got in its boot scripts not count any more: no Ignition, no report',
    )
    .argument('<host>', 'id of the host')
    .addHelpText(
      'after',
      `\nIts next boot gets new ones.\n${examples('pilotlight token revoke-boot rack1-n01 --reason "script was leaked"')}`,
    )
    .action((host: string, options: ChangeFlags) =>
      run((session) =>
        session.withOperations(async ({ fleet }) => {
          await fleet.revokeBootTokens({ host, ...reasonField(options) }, changeOf(session, options))
          sayDone(
            session,
            options,
            `boot tokens of host ${host} that were handed out until now do not count any more`,
          )
          return exitCode.ok
        }),
      ),
    )
}
