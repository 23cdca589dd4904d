import { type Finding, findingsOf } from './finding.ts'

/** One part of the running service, as `/readyz` tells it. */
export interface PartFacts {
  readonly part: string
  readonly ready: boolean
  readonly reason?: string
}

export type ServiceFacts =
  | {
      readonly state: 'running'
      /** Absent when nobody wrote it down. */
      readonly pid?: number
      readonly parts: readonly PartFacts[]
      /** Streams that hand out a bootimage for each of their architectures. */
      readonly servedStreams: readonly string[]
    }
  | { readonly state: 'stopped' }
  /** Its control socket belongs to another user. */
  | { readonly state: 'denied' }
  /** It has a control socket and does not answer there. */
  | { readonly state: 'silent'; readonly reason: string }

const { ok, note, warning, problem } = findingsOf('service')
const seeLog = 'see the log of the service: journalctl -u pilotlight'

/** Whether a service runs on the data directory, and what it says of itself. */
export function checkService(service: ServiceFacts, dataDir: string): readonly Finding[] {
  switch (service.state) {
    case 'stopped':
      return [
        note(
          `no service runs on ${dataDir}; what only a running one shows is left out`,
          'start it with: pilotlight serve, or systemctl start pilotlight',
        ),
      ]
    case 'denied':
      return [
        warning(
          `${dataDir} belongs to another user; whether a service runs there, and what it says, is left out`,
          'run this as that user, for example: sudo -u pilotlight pilotlight doctor',
        ),
      ]
    case 'silent':
      return [problem(`the service on ${dataDir} does not answer: ${service.reason}`, seeLog)]
    case 'running':
      return runningService(service)
  }
}

function runningService({ pid, parts }: Extract<ServiceFacts, { state: 'running' }>): readonly Finding[] {
  const who = pid === undefined ? 'the service runs' : `the service runs as process ${pid}`
  const limping = parts
    // What its self-test finds is found here anew, line by line.
    .filter(({ part, ready, reason }) => ready && reason !== undefined && part !== 'self-test')
    .map(({ part, reason }) => warning(`${part}: ${reason}`, seeLog))
  const unready = parts
    .filter(({ ready }) => !ready)
    .map(({ part, reason }) =>
      problem(`${part} is not ready${reason === undefined ? '' : `: ${reason}`}`, seeLog),
    )
  return [ok(unready.length === 0 ? `${who}, and is ready` : who), ...unready, ...limping]
}
