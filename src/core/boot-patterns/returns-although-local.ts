import { durationText } from '../boot-attempts/amounts.ts'
import type { AttemptFacts } from '../boot-attempts/attempt-facts.ts'
import type { BootPattern, EarlierBoot, PatternContext } from './pattern.ts'

const fewestReturns = 3
const withinMs = 10 * 60_000

/**
 * Firmware that takes the end of a network boot for a failure begins it again, for ever. Its other network entries,
 * which it tries on its way to the disk, are no return.
 */
export const returnsAlthoughLocal: BootPattern = {
  info: {
    code: 'returns-although-local',
    title: 'Comes back although sent to its disk',
    text: 'The machine is told to boot from its disk and asks again, three times within ten minutes.',
    remedy:
      'Its firmware does not go on to the disk. Put the disk before the network in its boot order, or set another localBoot for the host: dhcp-silent (it is not answered at all), http-404, or "exit 1" for UEFI and sanboot for BIOS.',
    cases: [122, 123, 166],
  },
  match(facts, context) {
    if (facts.decision?.kind !== 'local') return undefined
    const before = sameReturns(facts, context)
    const oldest = before.at(-1)
    if (before.length + 1 < fewestReturns || oldest === undefined) return undefined
    return {
      text: `It was sent to its disk ${before.length + 1} times within ${durationText(facts.decision.at - oldest.startedAt)} and came back.`,
      at: oldest.startedAt,
    }
  },
}

function sameReturns(facts: AttemptFacts, { before, mac }: PatternContext): readonly EarlierBoot[] {
  const { via } = facts.journey
  const own = before.filter((boot) => boot.mac === mac && boot.via === via)
  const end = own.findIndex((boot) => boot.outcome !== 'local' || facts.startedAt - boot.startedAt > withinMs)
  return end < 0 ? own : own.slice(0, end)
}
