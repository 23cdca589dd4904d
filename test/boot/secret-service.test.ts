import { describe, expect, it } from 'vitest'
import { createBootTokens } from '../../src/boot/boot-tokens.ts'
import { createHostMarks } from '../../src/boot/host-marks.ts'
import { createNewestBoots } from '../../src/boot/newest-boots.ts'
import { createSecretService, type IgnitionOfBoot } from '../../src/boot/secret-service.ts'
import type { BootDecision } from '../../src/core/boot-decision.ts'
import type { BootEvent, BootId } from '../../src/core/boot-event.ts'
import type { BootimageId } from '../../src/core/bootimage.ts'
import { decideBoot } from '../../src/core/decide-boot.ts'
import { ServiceError } from '../../src/core/errors.ts'
import type { TokenRefusal } from '../../src/core/token-refusal.ts'
import { makeBootimage } from '../fakes/bootimages.ts'
import { makeCatalog } from '../fakes/catalogs.ts'
import { makeClient, makeHost, makeInventory, nodeMac } from '../fakes/machines.ts'
import { createRecordingLog } from '../fakes/recording-log.ts'

const hour = 3_600_000
const baseUrl = 'http://192.0.2.10'
const address = '192.0.2.50'
const [first, second] = ['A', 'B'].map((letter) => `${letter.repeat(21)}A`) as [BootId, BootId]
const host = makeHost({ stream: 'fcos-stable', mode: 'live', ignition: { inline: '{}' } })
const inventory = makeInventory({ hosts: [host] })
const decision = decideBoot(makeClient(), {
  catalog: makeCatalog({ current: makeBootimage() }),
  inventory,
  now: 0,
})
const unknown = { ...decision, host: undefined } as BootDecision

function setUp({ bind = 'none' }: { readonly bind?: 'none' | 'address' } = {}) {
  const site = {
    now: 1_000_000 * hour,
    revokedBefore: 0,
    refused: [] as TokenRefusal[],
    fetched: [] as string[],
    events: [] as string[],
    render: ({ claims }: IgnitionOfBoot): string | undefined => `config for ${claims.purpose}`,
  }
  const told: BootEvent[] = []
  const log = createRecordingLog()
  const newestBoots = createNewestBoots()
  const service = createSecretService({
    tokens: createBootTokens(Buffer.alloc(32, 1)),
    settings: () => ({ lifeMs: 2 * hour, reportLifeMs: 24 * hour, bind }),
    marks: createHostMarks(() => inventory),
    newestBoots,
    answeredAt: () => address,
    revokedBefore: () => site.revokedBefore,
    renderIgnition: (boot) => site.render(boot),
    bootimageOf: () => 'fcos-stable/x86_64/1/0' as BootimageId,
    record: async () => 'recorded',
    onRefused: (refusal) => site.refused.push(refusal),
    onEvent(event) {
      told.push(event)
      site.events.push(event.type)
    },
    onFetched: ({ bootId }, from) => site.fetched.push(`${bootId} ${from}`),
    clock: { now: () => site.now },
    log,
  })
  const boot = (bootId: BootId, told: BootDecision = decision) => {
    newestBoots.note({ bootId, host: told.host?.id, mac: nodeMac, startedAt: site.now })
    return service.scriptToken('ignition', { decision: told, client: makeClient({ address }), bootId })
  }
  const fetch = (token: string, from = address) => service.ignition(token, { address: from, baseUrl })
  return { site, told, log, service, boot, fetch, newestBoots }
}

describe('a token that does not count', () => {
  it('is a step of the boot that it was made for, and of none where it was made up', () => {
    const site = setUp()
    const token = site.boot(first)
    site.site.now += 3 * hour
    site.fetch(token)
    site.service.ignition('made-up', { address, baseUrl })
    site.service.reporter(token, { address })
    expect(site.told.filter(({ type }) => type === 'token-refused')).toEqual([
      {
        type: 'token-refused',
        at: site.site.now,
        address,
        purpose: 'ignition',
        refusal: 'expired',
        bootId: first,
      },
      { type: 'token-refused', at: site.site.now, address, purpose: 'ignition', refusal: 'malformed' },
      {
        type: 'token-refused',
        at: site.site.now,
        address,
        purpose: 'report',
        refusal: 'other-purpose',
        bootId: first,
      },
    ])
  })
})

describe('the config of one boot', () => {
  it('is over when its machine was sent to its disk, and the report of what was installed is not', () => {
    const { boot, fetch, service, site, newestBoots } = setUp()
    const token = boot(first)
    let reportToken = ''
    site.render = (of) => {
      reportToken = of.reportToken
      return '{}'
    }
    expect(fetch(token).kind).toBe('config')
    newestBoots.end({ host: 'n01' }, site.now + 1)
    expect(fetch(token).kind).toBe('refused')
    expect(site.refused).toEqual(['superseded'])
    expect(service.reporter(reportToken, { address })).toMatchObject({ host: 'n01' })
  })

  it('is fetched as often as it takes, while its life lasts', () => {
    const { site, boot, fetch } = setUp()
    const token = boot(first)
    for (const at of [0, 1, hour, 2 * hour - 1]) {
      site.now = 1_000_000 * hour + at
      expect(fetch(token)).toEqual({ kind: 'config', text: 'config for live' })
    }
    site.now = 1_000_002 * hour
    expect(fetch(token)).toEqual({ kind: 'refused' })
    expect(site.refused).toEqual(['expired'])
    expect(site.fetched).toHaveLength(4)
    expect(site.events).toEqual([...Array(4).fill('ignition-sent'), 'token-refused'])
    expect(site.fetched[0]).toBe(`${first} ${address}`)
  })

  it('G12 is not fetched with the token of an older boot of the same host', () => {
    const { site, boot, fetch } = setUp()
    const old = boot(first)
    const token = boot(second)
    expect(fetch(old).kind).toBe('refused')
    expect(fetch(token).kind).toBe('config')
    expect(site.refused).toEqual(['superseded'])
  })

  it('G12 is not fetched with a token that an admin has revoked; a newer one counts', () => {
    const { site, boot, fetch } = setUp()
    const old = boot(first)
    site.now += 1
    site.revokedBefore = site.now
    expect(fetch(old).kind).toBe('refused')
    expect(fetch(boot(first)).kind).toBe('config')
    expect(site.refused).toEqual(['revoked'])
  })

  it('of an unknown machine is by its MAC', () => {
    const { boot, fetch, service } = setUp()
    expect(fetch(boot(first, unknown)).kind).toBe('config')
    const nobody = service.scriptToken('ignition', {
      decision: unknown,
      client: makeClient({ macs: [] }),
      bootId: first,
    })
    expect(fetch(nobody).kind).toBe('config')
  })

  it('G12 with bind: address is fetched from where its script went alone', () => {
    const { site, log, boot, fetch } = setUp({ bind: 'address' })
    const token = boot(first)
    expect(fetch(token, '192.0.2.51').kind).toBe('refused')
    expect(fetch(token).kind).toBe('config')
    expect(site.refused).toEqual(['other-address'])
    expect(log.lines[0]).toMatchObject({ level: 'warn', fields: { host: 'n01', address: '192.0.2.51' } })
  })

  it('that is gone is refused as if it had never been, and told in the log', () => {
    const { site, log, boot, fetch } = setUp()
    site.render = () => undefined
    expect(fetch(boot(first))).toEqual({ kind: 'refused' })
    expect(log.lines[0]).toMatchObject({ fields: { refusal: 'nothing-to-fetch', host: 'n01' } })
  })

  it('that cannot be made is told once a minute, with why, and the machine asks again', () => {
    const { site, log, boot, fetch } = setUp()
    site.render = () => {
      throw new ServiceError('TEMPLATE_RENDER_FAILED', 'undefined variable: labels.rack')
    }
    const token = boot(first)
    for (let time = 0; time < 10; time += 1) expect(fetch(token)).toEqual({ kind: 'failed' })
    expect(log.lines).toHaveLength(1)
    expect(log.lines[0]).toMatchObject({
      level: 'error',
      fields: { host: 'n01', error: 'undefined variable: labels.rack' },
    })
  })
})

describe('who reports', () => {
  it('is the boot whose token it is, with the bootimage that it was given', () => {
    const { site, boot, fetch, service } = setUp()
    let reportToken = ''
    site.render = (told) => {
      reportToken = told.reportToken
      return ''
    }
    const token = boot(first)
    fetch(token)
    expect(service.reporter(reportToken, { address: '192.0.2.99' })).toEqual({
      bootId: first,
      issuedAt: site.now,
      host: 'n01',
      bootimage: 'fcos-stable/x86_64/1/0',
    })
    site.now += 23 * hour
    expect(service.reporter(reportToken, { address })).toBeDefined()
    expect(service.reporter(token, { address })).toBeUndefined()
    expect(fetch(reportToken).kind).toBe('refused')
    site.now += hour
    expect(service.reporter(reportToken, { address })).toBeUndefined()
  })
})

describe('guesses', () => {
  it('G12 a thousand a second are all refused, counted, and one line a minute that says how many', () => {
    const { site, log, fetch } = setUp()
    for (let second_ = 0; second_ < 3; second_ += 1) {
      for (let guess = 0; guess < 1000; guess += 1) {
        expect(fetch(Buffer.alloc(48, `${second_} ${guess}`).toString('base64url')).kind).toBe('refused')
      }
      site.now += 1000
    }
    expect(site.refused).toHaveLength(3000)
    expect(log.lines.map(({ message }) => message)).toEqual(['a boot token was refused'])
    site.now += 60_000
    fetch('x')
    expect(log.lines).toHaveLength(2)
    expect(log.lines[1]).toMatchObject({ level: 'warn', fields: { refusal: 'malformed', more: 2999 } })
    expect(JSON.stringify(log.lines)).not.toMatch(/[\w-]{40}/)
  })
})
