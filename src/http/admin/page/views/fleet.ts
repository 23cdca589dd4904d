import {
  type MachinePage,
  type MachineQuery,
  type MachineRow,
  type MachineState,
  machineStates,
} from '../../schemas/boots.ts'
import { pathWith, subjectPath } from '../page-links.ts'
import { given, lineOf, numberOf, wordOf, wrongWords } from '../read-form.ts'
import type { RowWriter } from '../row-writer.ts'
import { shownProgress } from '../shown-progress.ts'
import { shownSince } from '../shown-time.ts'
import { shownMachineState, shownRowState } from '../state-words.ts'

export const rowsOfPage = 100
const sorts = ['state', 'host', 'seen'] as const
const sortWords = { state: 'What needs you first', host: 'Name', seen: 'Seen last' } as const

/** What an admin looks for, out of the URL; what cannot be meant is left out. */
export function readFleetQuery(query: unknown): MachineQuery {
  return given({
    page: numberOf(query, 'page', 100_000),
    search: lineOf(query, 'search'),
    state: wordOf(query, 'state', machineStates),
    stream: lineOf(query, 'stream', 63),
    release: lineOf(query, 'release', 128),
    group: lineOf(query, 'group', 63),
    sort: wordOf(query, 'sort', sorts),
  })
}

/** What was meant as a filter of the fleet and is none. */
export function fleetProblem(query: unknown): string | undefined {
  return wrongWords(query, { state: machineStates, sort: sorts })
}

/** The fleet: what needs a person on top, one row a machine. */
export function fleetView(machines: MachinePage, query: MachineQuery, now: number, write: RowWriter): object {
  const { search, state, stream, release, group, sort, page = 1 } = query
  const filters = { search, state, stream, release, group, sort }
  const isFiltered = [search, state, stream, release, group].some((value) => value !== undefined)
  const from = (page - 1) * rowsOfPage
  const to = from + machines.items.length
  const link = (changes: object) => pathWith('/', { ...filters, ...changes })
  return {
    ...headOf(machines, query),
    isEmpty: isEmptyFleet(machines, query),
    isFiltered,
    rowsHtml: write(rowsOf(machines, now)),
    filters: {
      search: search ?? '',
      choices: [
        choice('State', 'state', 'any state', machineStates, state, (word) => shownMachineState(word).word),
        choice('Stream', 'stream', 'any stream', machines.streams, stream),
        choice('Release', 'release', 'any release', machines.releases, release),
        choice('Group', 'group', 'any group', machines.groups, group),
        {
          ...choice('Order', 'sort', sortWords.state, sorts.slice(1), sort, (word) => sortWords[word]),
        },
      ].filter(({ options }) => options.length > 0),
    },
    pager: {
      from: machines.items.length === 0 ? 0 : from + 1,
      to,
      total: machines.total,
      before: page > 1 ? link({ page: page === 2 ? undefined : page - 1 }) : undefined,
      after: to < machines.total && machines.items.length > 0 ? link({ page: page + 1 }) : undefined,
    },
  }
}

/** Whether there is no machine at all: then the page says how one comes. */
export function isEmptyFleet({ counts, total }: MachinePage, query: MachineQuery): boolean {
  const { search, state, stream, release, group } = query
  const isFiltered = [search, state, stream, release, group].some((value) => value !== undefined)
  return total === 0 && !isFiltered && Object.values(counts).every((count) => count === 0)
}

/** Rows that changed, and what stands above the table: what the live part of the page swaps. */
export function rowsView(machines: MachinePage, query: MachineQuery, now: number, write: RowWriter): object {
  return { ...headOf(machines, query), rowsHtml: write(rowsOf(machines, now)) }
}

function headOf({ counts, needs }: MachinePage, query: MachineQuery): object {
  const { search, stream, release, group, sort, state: current } = query
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const link = (state?: MachineState) => pathWith('/', { search, state, stream, release, group, sort })
  const shown = machineStates.filter((state) => (counts[state] ?? 0) > 0 || state === current)
  return {
    needs: needsText(needs, all),
    counts: [
      {
        word: all === 1 ? 'machine' : 'machines',
        count: all,
        href: link(),
        tone: 'all',
        isCurrent: current === undefined,
      },
      ...shown.map((state) => ({
        ...shownMachineState(state),
        count: counts[state] ?? 0,
        href: link(state),
        isCurrent: state === current,
      })),
    ],
  }
}

function needsText(needs: number, all: number): string {
  if (all === 0) return ''
  if (needs === 0) return 'Nothing needs you.'
  return needs === 1 ? '1 machine needs you.' : `${needs} machines need you.`
}

function rowsOf({ items, streams }: MachinePage, now: number): readonly object[] {
  // Where all follow the same stream, nobody needs to read its name in each row.
  return items.map((row) => ({ ...machineRow(row, now), showsStream: streams.length > 1 }))
}

function machineRow(row: MachineRow, now: number): object {
  const { key, host, mac, state, step, transfer, stream, release, pin, lastSeenAt, diagnosis, flags } = row
  const isMoving = transfer !== undefined && !transfer.isDone && (state === 'running' || state === 'stuck')
  return {
    key,
    href: subjectPath(row) ?? '/',
    name: host ?? mac ?? key,
    mac,
    state: shownRowState(row),
    step,
    isTold: step === undefined || step === diagnosis?.text,
    progress: isMoving
      ? shownProgress({
          label: `${transfer.role} of ${host ?? mac ?? key}`,
          what: transfer.role,
          done: transfer.sentBytes,
          total: transfer.totalBytes,
          bytesPerSecond: transfer.bytesPerSecond,
        })
      : undefined,
    stream,
    release,
    pin,
    seenAt: lastSeenAt,
    seen: lastSeenAt === undefined ? undefined : shownSince(lastSeenAt, now),
    diagnosis,
    flags,
  }
}

/** A list to choose from in a form. */
export function choice<Word extends string>(
  word: string,
  name: string,
  all: string,
  values: readonly Word[],
  chosen: string | undefined,
  shown: (value: Word) => string = (value) => value,
) {
  const isListed = chosen === undefined || values.some((value) => value === chosen)
  const options = values.map((value) => ({
    value: value as string,
    word: shown(value),
    isChosen: value === chosen,
  }))
  // A filter that nothing has any more is still the one in force.
  return {
    word,
    name,
    all,
    options: isListed ? options : [...options, { value: chosen, word: chosen, isChosen: true }],
  }
}
