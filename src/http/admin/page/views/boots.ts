import { attemptOutcomes, attemptStates } from '../../../../core/boot-attempt.ts'
import { bootPatternCodes } from '../../../../core/boot-pattern.ts'
import type { Page } from '../../fleet-operations.ts'
import type { BootQuery, BootSummary } from '../../schemas/boots.ts'
import { pathWith } from '../page-links.ts'
import { given, lineOf, wordOf, wrongWords } from '../read-form.ts'
import { shownBootState } from '../state-words.ts'
import { bootLine } from './boot-parts.ts'
import { choice } from './fleet.ts'

const limit = 50

export function readBootQuery(query: unknown): BootQuery {
  return {
    limit,
    ...given({
      after: lineOf(query, 'after', 300),
      host: lineOf(query, 'host', 63),
      mac: lineOf(query, 'mac', 32),
      state: wordOf(query, 'state', attemptStates),
      outcome: wordOf(query, 'outcome', attemptOutcomes),
      pattern: wordOf(query, 'pattern', bootPatternCodes),
    }),
  }
}

/** What was meant as a filter of boots and is none. */
export function bootQueryProblem(query: unknown): string | undefined {
  return wrongWords(query, { state: attemptStates, outcome: attemptOutcomes, pattern: bootPatternCodes })
}

/** The boots that are kept, newest first. */
export function bootsView({ items, total, next }: Page<BootSummary>, query: BootQuery, now: number): object {
  const { host, mac, state, outcome, pattern } = query
  const filters = { host, mac, state, outcome, pattern }
  return {
    boots: items.map((boot) => bootLine(boot, now)),
    total,
    next: next === undefined ? undefined : pathWith('/boots', { ...filters, after: next }),
    isFiltered: Object.values(filters).some((value) => value !== undefined) || query.after !== undefined,
    filters: {
      host: host ?? '',
      mac: mac ?? '',
      choices: [
        choice('State', 'state', 'any state', attemptStates, state, (word) =>
          word === 'over' ? 'Over' : shownBootState({ state: word }).word,
        ),
        choice(
          'Outcome',
          'outcome',
          'any outcome',
          attemptOutcomes,
          outcome,
          (word) => shownBootState({ state: 'over', outcome: word }).word,
        ),
        choice('Pattern', 'pattern', 'any or none', bootPatternCodes, pattern),
      ],
    },
  }
}
