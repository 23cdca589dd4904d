import { randomBytes } from 'node:crypto'
import type { AddressGuard } from '../boot/address-guard.ts'
import { createBootTokens, type TokenSubject } from '../boot/boot-tokens.ts'
import { createHostMarks } from '../boot/host-marks.ts'
import { createSecretService, type SecretService } from '../boot/secret-service.ts'
import type { BootEvent } from '../core/boot-event.ts'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { TokenRefusal } from '../core/token-refusal.ts'
import type { Engine } from './engine.ts'
import { createRenderIgnition, readReportFiles } from './render-ignition.ts'
import { shippedTemplates } from './shipped-templates.ts'

export interface StartSecretsOptions {
  readonly engine: Engine
  readonly guard: Pick<AddressGuard, 'goesOn' | 'addressOf'>
  /** Keeps a machine's report. */
  readonly record: SecretService['record']
  readonly onRefused: (refusal: TokenRefusal) => void
  readonly onEvent: (event: BootEvent) => void
  readonly clock: Clock
  readonly log: Log
}

export interface StartedSecrets extends SecretService {
  /** A backup was restored: its key counts, and with it the tokens that were handed out with it. */
  readKey(): Promise<void>
}

const keyBytes = 32

/**
 * What belongs to one machine alone, over a running engine. The key of its tokens is made once and stays, so that they
 * count after a restart.
 * @throws ServiceError STATE_UNAVAILABLE, TEMPLATE_INVALID
 */
export async function startSecrets(options: StartSecretsOptions): Promise<StartedSecrets> {
  const { engine, guard, record, onRefused, onEvent, clock, log } = options
  const readTokens = async () =>
    createBootTokens(await engine.storage.store.secretKey('boot-tokens', () => randomBytes(keyBytes)))
  let tokens = await readTokens()
  const inventory = () => engine.fleet.inventory()
  const marks = createHostMarks(inventory)
  // A hundred thousand hosts are some 100 ms: before the first machine asks.
  marks.hostsOf(0)
  const service = createSecretService({
    tokens: { mint: (claims) => tokens.mint(claims), open: (text, question) => tokens.open(text, question) },
    settings: () => engine.loaded().config.boot.tokens,
    marks,
    newestBoots: engine.newestBoots,
    answeredAt: (subject) => guard.addressOf(machineKey(subject)),
    revokedBefore: (host) => engine.fleet.revokedBefore(host),
    renderIgnition: createRenderIgnition({
      inventory,
      texts: () => engine.loaded().ignition,
      leases: engine.leases,
      reportFiles: readReportFiles(shippedTemplates),
      clock,
      log,
    }),
    bootimageOf: (bootId) => engine.leases.attemptOf(bootId)?.bootimage,
    record,
    onRefused,
    onEvent,
    onFetched({ subject, bootId }, address) {
      engine.leases.touch(bootId, clock.now())
      guard.goesOn(machineKey(subject), address)
    },
    clock,
    log,
  })
  return {
    ...service,
    async readKey() {
      tokens = await readTokens()
    },
  }
}

function machineKey(subject: TokenSubject): string {
  if (subject.kind === 'host') return subject.id
  return subject.kind === 'mac' ? subject.mac : ''
}
