import type { BootDecision } from '../core/boot-decision.ts'
import type { BootEvent, BootId } from '../core/boot-event.ts'
import type { BootClient } from '../core/client.ts'
import type { Clock } from '../core/clock.ts'
import { isServiceError } from '../core/errors.ts'
import type { NodeReport } from '../core/fleet.ts'
import type { Log } from '../core/log.ts'
import type { TokenRefusal } from '../core/token-refusal.ts'
import type { ScriptToken } from '../render/renderer.ts'
import type { BootTokens, TokenClaims, TokenPurpose, TokenSubject } from './boot-tokens.ts'
import type { HostMarks } from './host-marks.ts'
import type { NewestBoots } from './newest-boots.ts'
import { sameLineOften } from './same-line-often.ts'

/** A boot that is answered with a script. */
export interface AnsweredBoot {
  readonly decision: BootDecision
  readonly client: BootClient
  readonly bootId: BootId
}

export interface IgnitionQuestion {
  readonly address: string
  /** For URLs in the config; without a slash at the end. */
  readonly baseUrl: string
  /** Leaves no trace; for HEAD. */
  readonly isProbe?: boolean
}

export type IgnitionAnswer =
  | { readonly kind: 'config'; readonly text: string }
  | { readonly kind: 'refused' }
  /** The token is good and the config cannot be made; the log says why. */
  | { readonly kind: 'failed' }

/** Who may report. */
export type Reporter = Pick<NodeReport, 'bootId' | 'host' | 'mac' | 'bootimage'> & {
  /** When its token was issued (ms since the epoch): its boot is no younger. */
  readonly issuedAt: number
}

/** What belongs to one machine alone: its Ignition config and its report (G12). Everything from memory. */
export interface SecretService {
  /** For a script that carries one; leaves no trace. */
  scriptToken(purpose: ScriptToken, boot: AnsweredBoot): string
  ignition(token: string, asked: IgnitionQuestion): IgnitionAnswer
  /** `undefined`: nobody that may report. */
  reporter(token: string, asked: { readonly address: string }): Reporter | undefined
  /**
   * Durable once it is resolved. `known`: the same boot has said so before.
   * @throws ServiceError STATE_UNAVAILABLE
   */
  record(report: NodeReport, issuedAt: number): Promise<'recorded' | 'known'>
}

/** Of a boot whose token is good. */
export interface IgnitionOfBoot {
  readonly claims: TokenClaims
  readonly baseUrl: string
  readonly reportToken: string
}

export interface SecretServiceOptions {
  readonly tokens: BootTokens
  readonly settings: () => {
    readonly lifeMs: number
    readonly reportLifeMs: number
    readonly bind: 'none' | 'address'
  }
  readonly marks: HostMarks
  readonly newestBoots: Pick<NewestBoots, 'isSuperseded' | 'hasEnded'>
  /** Where a machine was answered with its script, where that is known. */
  readonly answeredAt: (subject: TokenSubject) => string | undefined
  /** Tokens of the host that are older do not count (ms since the epoch). */
  readonly revokedBefore: (host: string) => number | undefined
  /**
   * The config for one boot; `undefined` when it has none any more.
   * @throws ServiceError when it cannot be made
   */
  readonly renderIgnition: (boot: IgnitionOfBoot) => string | undefined
  readonly bootimageOf: (bootId: BootId) => NodeReport['bootimage']
  readonly record: SecretService['record']
  readonly onRefused: (refusal: TokenRefusal) => void
  /** A machine fetched its config: its boot goes on. */
  readonly onFetched: (claims: TokenClaims, address: string) => void
  /** Must not throw and must not block. */
  readonly onEvent: (event: BootEvent) => void
  readonly clock: Clock
  readonly log: Log
}

type Opened =
  | { readonly kind: 'good'; readonly claims: TokenClaims }
  | { readonly kind: 'refused'; readonly refusal: TokenRefusal; readonly claims?: TokenClaims }

export function createSecretService(options: SecretServiceOptions): SecretService {
  const { tokens, settings, marks, newestBoots, revokedBefore, clock, log } = options
  const refusals = sameLineOften(clock)
  const failures = sameLineOften(clock)

  function open(token: string, purposes: readonly TokenPurpose[], address: string): Opened {
    const { hostsOf } = marks
    const { answeredAt } = options
    const opened = tokens.open(token, { purposes, address, now: clock.now(), hostsOf, answeredAt })
    if (opened.kind === 'refused') {
      const { fault, claims } = opened
      return { kind: 'refused', refusal: fault, ...(claims === undefined ? {} : { claims }) }
    }
    const { claims } = opened
    const { subject, bootId, issuedAt } = claims
    if (subject.kind === 'host' && issuedAt < (revokedBefore(subject.id) ?? 0)) {
      return { kind: 'refused', refusal: 'revoked', claims }
    }
    const machine = machineOf(subject)
    const hasEnded = claims.purpose !== 'report' && newestBoots.hasEnded(machine, issuedAt)
    if (hasEnded || newestBoots.isSuperseded(machine, bootId, issuedAt)) {
      return { kind: 'refused', refusal: 'superseded', claims }
    }
    return opened
  }

  /** Once a minute, however many were shown: what was guessed is one matter, what was ours another. */
  function tellRefusal(
    opened: Extract<Opened, { kind: 'refused' }>,
    purpose: 'ignition' | 'report',
    address: string,
  ): void {
    const { refusal, claims } = opened
    options.onRefused(refusal)
    options.onEvent({
      type: 'token-refused',
      at: clock.now(),
      address,
      purpose,
      refusal,
      bootId: claims?.bootId,
    })
    const more = refusals.count(claims === undefined ? 'forged' : `${refusal} ${textOf(claims.subject)}`)
    if (more === undefined) return
    const whose = claims === undefined ? {} : { ...machineOf(claims.subject), bootId: claims.bootId }
    log.warn({ refusal, address, ...whose, more }, 'a boot token was refused')
  }

  function granted(
    token: string,
    purposes: readonly TokenPurpose[],
    address: string,
  ): TokenClaims | undefined {
    const opened = open(token, purposes, address)
    if (opened.kind === 'good') return opened.claims
    tellRefusal(opened, purposes.includes('report') ? 'report' : 'ignition', address)
    return undefined
  }

  function noteFetch(claims: TokenClaims, address: string): void {
    const { purpose, subject, bootId } = claims
    options.onFetched(claims, address)
    const system = purpose === 'live' || purpose === 'installer' ? purpose : 'installed'
    const machine = { bootId, ...machineOf(subject), address }
    options.onEvent({ type: 'ignition-sent', at: clock.now(), ...machine, system })
  }

  return {
    scriptToken(purpose, { decision, client, bootId }) {
      const { lifeMs, bind } = settings()
      return tokens.mint({
        purpose: purpose === 'installer' ? purpose : systemOf(decision),
        subject: subjectOf(decision, client),
        bootId,
        issuedAt: clock.now(),
        lifeMs,
        ...(bind === 'address' && client.address !== undefined ? { address: client.address } : {}),
      })
    },
    ignition(token, { address, baseUrl, isProbe = false }) {
      const claims = granted(token, ['live', 'installed', 'legacy', 'installer'], address)
      if (claims === undefined) return { kind: 'refused' }
      const { subject, bootId } = claims
      const lifeMs = settings().reportLifeMs
      const reportToken = tokens.mint({ purpose: 'report', subject, bootId, issuedAt: clock.now(), lifeMs })
      try {
        const text = options.renderIgnition({ claims, baseUrl, reportToken })
        if (text === undefined) {
          tellRefusal({ kind: 'refused', refusal: 'nothing-to-fetch', claims }, 'ignition', address)
          return { kind: 'refused' }
        }
        if (!isProbe) noteFetch(claims, address)
        return { kind: 'config', text }
      } catch (error) {
        if (!isServiceError(error)) throw error
        const more = failures.count(`${error.code} ${textOf(subject)}`)
        if (more !== undefined) {
          const { code, message } = error
          log.error(
            { code, error: message, ...machineOf(subject), more },
            'Ignition config could not be made',
          )
        }
        return { kind: 'failed' }
      }
    },
    reporter(token, { address }) {
      const claims = granted(token, ['report'], address)
      if (claims === undefined) return undefined
      const { subject, bootId, issuedAt } = claims
      const bootimage = options.bootimageOf(bootId)
      return { bootId, issuedAt, ...machineOf(subject), ...(bootimage === undefined ? {} : { bootimage }) }
    },
    async record(report, issuedAt) {
      const outcome = await options.record(report, issuedAt)
      const { bootId, host, mac, address, at, status, osVersion, message } = report
      const isKnown = outcome === 'known'
      const machine = { bootId, host, mac, address }
      options.onEvent({ type: 'reported', at, ...machine, status, osVersion, message, isKnown })
      return outcome
    },
  }
}

/** What will read the config. */
function systemOf(decision: BootDecision): TokenPurpose {
  if (decision.kind !== 'install') return 'live'
  return decision.bootimage.kind === 'legacy-installer' ? 'legacy' : 'installed'
}

/** A host by its id, so that it stays the same machine when it gets another network card. */
function subjectOf({ host }: BootDecision, { macs: [mac] }: BootClient): TokenSubject {
  if (host !== undefined) return { kind: 'host', id: host.id }
  return mac === undefined ? { kind: 'nobody' } : { kind: 'mac', mac }
}

function machineOf(subject: TokenSubject): Pick<NodeReport, 'host' | 'mac'> {
  if (subject.kind === 'host') return { host: subject.id }
  return subject.kind === 'mac' ? { mac: subject.mac } : {}
}

function textOf(subject: TokenSubject): string {
  return subject.kind === 'host' ? subject.id : subject.kind === 'mac' ? subject.mac : ''
}

/** Where there is no store of secrets: nothing is handed out and nothing is taken. */
export const noSecrets: SecretService = {
  scriptToken: () => '_'.repeat(64),
  ignition: () => ({ kind: 'refused' }),
  reporter: () => undefined,
  record: () => Promise.reject(new TypeError('unreachable: nobody may report')),
}
