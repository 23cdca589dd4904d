import type { KeptAttempt } from './kept-attempt.ts'

/** A machine that nobody heard ask DHCP is known by its address until it names its card, within this time. */
const namesItselfMs = 5 * 60_000
const mostGuesses = 5_000

/** Boots of which the address is known and not the card, and those whose card was only guessed by their address. */
export interface UnnamedBoots {
  at(address: string): KeptAttempt | undefined
  /** One that goes on, as far as that can be said. */
  freshAt(address: string, at: number): KeptAttempt | undefined
  put(address: string, attempt: KeptAttempt): void
  drop(attempt: KeptAttempt): void
  guess(address: string, attempt: KeptAttempt): void
  /** What was guessed at this address, once. */
  takeGuess(address: string, at: number): KeptAttempt | undefined
  all(): Iterable<KeptAttempt>
}

export function createUnnamedBoots(): UnnamedBoots {
  const byAddress = new Map<string, KeptAttempt>()
  const guesses = new Map<string, KeptAttempt>()

  function isFresh({ lastAt }: KeptAttempt, at: number): boolean {
    return at - lastAt <= namesItselfMs
  }

  return {
    at: (address) => byAddress.get(address),
    freshAt(address, at) {
      const attempt = byAddress.get(address)
      return attempt !== undefined && isFresh(attempt, at) ? attempt : undefined
    },
    put(address, attempt) {
      attempt.address = address
      byAddress.set(address, attempt)
    },
    drop(attempt) {
      const { address } = attempt
      attempt.address = undefined
      if (address !== undefined && byAddress.get(address) === attempt) byAddress.delete(address)
    },
    guess(address, attempt) {
      guesses.delete(address)
      guesses.set(address, attempt)
      const [oldest] = guesses.keys()
      if (guesses.size > mostGuesses && oldest !== undefined) guesses.delete(oldest)
    },
    takeGuess(address, at) {
      const attempt = guesses.get(address)
      if (attempt === undefined) return undefined
      guesses.delete(address)
      const isOpen = attempt.mac === undefined && attempt.outcome === undefined
      return isOpen && isFresh(attempt, at) ? attempt : undefined
    },
    all: () => byAddress.values(),
  }
}
