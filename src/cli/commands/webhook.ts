import type { Command } from 'commander'
import { shown } from '../boots/boot-words.ts'
import { examples, type RunCommand } from '../command.ts'
import { exitCode } from '../exit-codes.ts'
import { formatAge } from '../output/format.ts'
import { type Column, renderTable } from '../output/table.ts'

const columns: readonly Column[] = [
  { title: 'WEBHOOK' },
  { title: 'STATE' },
  { title: 'WAITING', align: 'right' },
  { title: 'REFUSED', align: 'right' },
  { title: 'DROPPED', align: 'right' },
  { title: 'DELIVERED' },
  { title: 'EVENTS', canShrink: true },
  { title: 'PROBLEM', canShrink: true },
]

export function addWebhook(program: Command, run: RunCommand): void {
  const webhook = program
    .command('webhook')
    .description('see how well the receivers of webhooks are reached, and send one a test')
    .addHelpText('after', examples('pilotlight webhook list', 'pilotlight webhook test ops'))
  addList(webhook, run)
  addTest(webhook, run)
}

function addList(webhook: Command, run: RunCommand): void {
  webhook
    .command('list')
    .description('list the webhooks of the running service: what waits, what was lost, and why')
    .addHelpText('after', examples('pilotlight webhook list', 'pilotlight webhook list --output json'))
    .action(() =>
      run((session) =>
        session.withService(async ({ operations }) => {
          const webhooks = await operations.webhooks()
          const now = session.context.now()
          const rows = webhooks.map(
            ({ name, state, waiting, refused, dropped, lastDeliveredAt, events, problem = '' }) => [
              name,
              state,
              String(waiting),
              String(refused),
              String(dropped),
              formatAge(lastDeliveredAt, now),
              events.join(', '),
              shown(problem),
            ],
          )
          session.print({ json: { webhooks }, text: (style) => renderTable(columns, rows, style) })
          return exitCode.ok
        }),
      ),
    )
}

function addTest(webhook: Command, run: RunCommand): void {
  webhook
    .command('test')
    .description('send one message of type "test" to a webhook now, and tell what came of it')
    .argument('<name>', 'as webhooks: names it in the configuration')
    .addHelpText(
      'after',
      `\nExits with 0 when the receiver took it, 1 when it did not, 2 when no webhook has that name.\n${examples(
        'pilotlight webhook test ops',
      )}`,
    )
    .action((name: string) =>
      run((session) =>
        session.withService(async ({ operations }) => {
          const { isDelivered, status, problem } = await operations.testWebhook(name)
          const answer =
            status === undefined ? `no answer: ${shown(problem ?? 'unknown')}` : `answered ${status}`
          session.print({
            json: {
              name,
              isDelivered,
              ...(status !== undefined && { status }),
              ...(problem !== undefined && { problem }),
            },
            text: () => `${shown(name)}: ${isDelivered ? 'delivered' : 'not delivered'}, ${answer}\n`,
          })
          return isDelivered ? exitCode.ok : exitCode.failed
        }),
      ),
    )
}
