import type { Timers } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { Finding } from '../../doctor/finding.ts'
import type { PartReadiness } from '../../http/admin/operations.ts'

/** Looks by itself at what machines will be told to fetch, so that an admin hears of it before a machine does. */
export interface SelfTest {
  /** Looks soon, because something is not what it was: the configuration, the loaders, a bootimage. */
  check(): void
  /** For `/readyz`; absent while nothing has been looked at. */
  part(): PartReadiness | undefined
  stop(): Promise<void>
}

export interface SelfTestOptions {
  readonly look: () => Promise<readonly Finding[]>
  /** Something is wrong and may have been mended: a package was installed. */
  readonly lookForMending: () => void
  readonly timers: Timers
  readonly log: Log
}

/** Several causes at once, as a start has, are one look. */
const gatherMs = 200
const mendingEveryMs = 60_000

/**
 * Says each finding once when it comes and once when it is gone. What is missing for one kind of firmware does not make
 * the service unready: all other machines boot, and taking it out of use would stop those as well.
 */
export function createSelfTest({ look, lookForMending, timers, log }: SelfTestOptions): SelfTest {
  let told = new Map<string, Finding>()
  let hasLooked = false
  let isStopped = false
  let cancelCheck: (() => void) | undefined
  let cancelMending: (() => void) | undefined
  let looking: Promise<void> | undefined

  async function run(): Promise<void> {
    try {
      const findings = await look()
      tell(findings.filter(({ severity }) => severity === 'problem' || severity === 'warning'))
      hasLooked = true
    } catch (error) {
      log.warn({ err: error }, 'self-test could not look')
    }
  }

  function tell(findings: readonly Finding[]): void {
    const found = new Map(findings.map((finding) => [finding.what, finding]))
    for (const [what, { todo }] of found) {
      if (!told.has(what)) log.warn({ what, todo }, 'self-test found something that machines will miss')
    }
    for (const [what] of told) {
      if (!found.has(what)) log.info({ what }, 'self-test finds this mended')
    }
    told = found
    cancelMending?.()
    cancelMending = found.size === 0 || isStopped ? undefined : timers.after(mendingEveryMs, mend)
  }

  function mend(): void {
    cancelMending = undefined
    lookForMending()
    check()
  }

  function check(): void {
    if (isStopped || cancelCheck !== undefined) return
    cancelCheck = timers.after(gatherMs, () => {
      looking = (looking ?? Promise.resolve()).then(() => {
        cancelCheck = undefined
        return isStopped ? undefined : run()
      })
    })
  }

  return {
    check,
    part() {
      if (!hasLooked) return undefined
      const reasons = [...told.values()].map(({ what, todo }) =>
        todo === undefined ? what : `${what} (${todo})`,
      )
      return {
        part: 'self-test',
        ready: true,
        ...(reasons.length === 0 ? {} : { reason: reasons.join('; ') }),
      }
    },
    async stop() {
      isStopped = true
      cancelCheck?.()
      cancelMending?.()
      await looking
    },
  }
}
