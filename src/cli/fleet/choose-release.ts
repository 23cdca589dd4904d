import { ServiceError } from '../../core/errors.ts'
import type { FleetOperations } from '../../http/admin/fleet-operations.ts'
import type { PinnableRelease, SetPin } from '../../http/admin/schemas/fleet.ts'
import { renderTable } from '../output/table.ts'
import type { Session } from '../session.ts'
import { targetText } from './target.ts'

/** A list that fits a screen; the rest is there by name. */
const mostChoices = 20

/**
 * Before anything is opened: whether a person can be asked.
 * @throws ServiceError USAGE
 */
export function checkAskable({ context: { stdin }, globals }: Session): void {
  if (stdin.isTTY && globals.output !== 'json') return
  throw new ServiceError('USAGE', 'to which release? nothing says so, and nobody can be asked', {
    field: 'release',
    hint: 'name it, or "current"; pilotlight bootimages lists what is known',
  })
}

/**
 * Asks a person which release. Answered by the number in the list or by the release itself.
 * @throws ServiceError USAGE when there is nothing to choose, and when no answer comes
 */
export async function chooseRelease(
  session: Session,
  fleet: Pick<FleetOperations, 'pinnable'>,
  { target, arch, stream }: Pick<SetPin, 'target' | 'arch' | 'stream'>,
): Promise<string> {
  const { stderr } = session.context
  const pinnable = await fleet.pinnable({
    ...(target.kind === 'host' && { host: target.name }),
    ...(stream !== undefined && { stream }),
  })
  const options = grouped(pinnable.filter((option) => arch === undefined || option.arch === arch))
  if (options.length === 0) {
    throw new ServiceError('USAGE', `no release is known that ${targetText(target)} could be pinned to`, {
      field: 'release',
      hint: 'pilotlight sync reads the streams; pilotlight import takes an old document',
    })
  }
  const shown = options.slice(0, mostChoices)
  stderr.write(choicesText(shown, options.length))
  return answered(session, shown, options)
}

interface Choice {
  readonly stream: string
  readonly release: string
  readonly architectures: readonly string[]
  readonly isCurrent: boolean
  readonly note: string
}

/** One line for a release, whatever the number of its architectures. */
function grouped(pinnable: readonly PinnableRelease[]): readonly Choice[] {
  const byRelease = new Map<string, PinnableRelease[]>()
  for (const option of pinnable) {
    const key = `${option.stream}\n${option.release}`
    byRelease.set(key, [...(byRelease.get(key) ?? []), option])
  }
  return [...byRelease.values()].map((same) => ({
    stream: same[0]?.stream ?? '',
    release: same[0]?.release ?? '',
    architectures: same.map(({ arch }) => arch),
    isCurrent: same.some(({ isCurrent }) => isCurrent),
    note: [
      ...new Set(same.map(({ state, text }) => (text === undefined ? state : `${state}, ${text}`))),
    ].join('; '),
  }))
}

function choicesText(choices: readonly Choice[], total: number): string {
  const table = renderTable(
    [
      { title: '', align: 'right' },
      { title: 'RELEASE' },
      { title: 'STREAM' },
      { title: 'ARCH' },
      { title: '' },
    ],
    choices.map(({ release, stream, architectures, isCurrent, note }, index) => [
      String(index + 1),
      release,
      stream,
      architectures.join(' '),
      isCurrent ? `${note}, current` : note,
    ]),
    { color: false },
  )
  return total > choices.length ? `${table}${total - choices.length} more can be named\n` : table
}

async function answered(
  { context, say }: Session,
  shown: readonly Choice[],
  all: readonly Choice[],
): Promise<string> {
  for (;;) {
    const answer = await context.stdin.ask(`Which one? (1-${shown.length}, or a release; empty: none) `)
    const text = answer?.trim() ?? ''
    if (text === '') throw new ServiceError('USAGE', 'no release was chosen, nothing was changed')
    const byNumber = /^\d{1,3}$/.test(text) ? shown[Number(text) - 1] : undefined
    const choice = byNumber ?? all.find(({ release }) => release === text)
    if (choice !== undefined) return choice.release
    say(`${text} is none of them`)
  }
}
