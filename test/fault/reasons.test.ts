import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type LogLine,
  type RunningService,
  startRunningService,
  unknownMac,
  untilCurrent,
} from '../fakes/running-service.ts'
import { eventually } from '../fakes/service-process.ts'
import { startUpstreamSite, type UpstreamSite } from '../fakes/upstream-site.ts'

const older = '44.20260601.3.0'
const newer = '44.20260622.3.0'
let site: UpstreamSite
let service: RunningService

const macOf = (index: number) => `52:54:00:00:01:${String(index).padStart(2, '0')}`
const worker = { profile: 'worker' }

/** One machine for each way to be answered, and how its script begins. */
const machines: readonly (readonly [id: string, settings: object, header: RegExp, query?: string])[] = [
  ['follows', worker, /^live sample 44\.20260622\.3\.0 x86_64$/],
  [
    'pinned',
    { ...worker, pin: { release: older, reason: 'a test' } },
    /^live sample 44\.20260601\.3\.0 x86_64$/,
  ],
  ['lost-pin', { ...worker, pin: { release: '43.1.2.3' } }, /^wait sample 43\.1\.2\.3 x86_64$/],
  ['held', { ...worker, mode: 'hold', holdReason: 'broken fan, ask the site' }, /^hold/],
  ['held-without-a-word', { ...worker, mode: 'hold' }, /^hold/],
  ['local', { ...worker, mode: 'local' }, /^local/],
  [
    'install',
    { ...worker, mode: 'install', install: { device: '/dev/sda' } },
    /^install sample 44\.20260622\.3\.0 x86_64$/,
  ],
  ['other-arch', worker, /^hold/, 'arch=arm64&platform=efi'],
  ['no-arch', worker, /^hold/, 'platform=efi'],
  ['no-mode', { stream: 'sample' }, /^hold/],
  ['no-stream', { mode: 'live' }, /^hold/],
]

beforeAll(async () => {
  site = await startUpstreamSite({ releases: [older, newer], current: newer })
  service = await startRunningService({
    site,
    hosts: machines.map(([id, settings], index) => ({ id, macs: [macOf(index)], ...settings })),
  })
  await untilCurrent(service, newer)
  await eventually(
    () => service.script(macOf(1)),
    (script) => script.includes('Pilotlight: live'),
  )
})
afterAll(async () => {
  await service?.remove()
  await site?.stop()
})

const reasonsIn = (script: string) => [...script.matchAll(/^# Reason: (.*)$/gm)].map(([, text]) => text)
const bootIdIn = (script: string) => /^# Host: .*, boot (\S+)$/m.exec(script)?.[1]
const headerOf = (script: string) => /^# Pilotlight: (.*)$/m.exec(script)?.[1]

async function logLineOf(bootId: string | undefined): Promise<LogLine | undefined> {
  return eventually(
    async () => service.log().find((line) => line.msg === 'boot decided' && line.bootId === bootId),
    (line) => line !== undefined,
  )
}

/** What every script must be, whatever it says (G11; field cases 115, 117, 128). */
function expectComplete(script: string): void {
  expect(script.startsWith('#!ipxe\n')).toBe(true)
  expect(script.endsWith('\n')).toBe(true)
  expect(script).not.toMatch(/[^\x20-\x7e\n]|\{\{|\{%|undefined|\[object/)
  const labels = [...script.matchAll(/^:(\S+)$/gm)].map(([, label]) => label)
  for (const [, target] of script.matchAll(/\bgoto (\S+)/g)) expect(labels).toContain(target)
}

const numbered = machines.map(([id, , header, query], index) => ({
  id,
  header,
  query: query ?? 'arch=x86_64&platform=efi',
  mac: macOf(index),
}))

describe.each(numbered)('machine $id', ({ id, header, query, mac }) => {
  it('G10 script, log line, explain and API say the same, word for word', async () => {
    const script = await service.script(mac, query)
    expect(headerOf(script)).toMatch(header)
    const told = reasonsIn(script)
    expect(told.length).toBeGreaterThan(0)

    const line = await logLineOf(bootIdIn(script))
    expect(line?.reasons).toEqual(told)
    expect(line).toMatchObject({ host: id, mac, kind: headerOf(script)?.split(' ')[0] })

    // An admin who tells no architecture means the usual one; a machine that tells none is refused.
    const arch = new URLSearchParams(query).get('arch')
    if (arch === null) return
    const explained = await service.explain({ mac, arch, platform: 'efi' })
    expect(explained.decision).toBe(headerOf(script)?.split(' ')[0])
    expect(explained.reasons.map(({ text }) => text)).toEqual(told)
    expect(explained.reasons[0]?.code).toBe(line?.reason)
  })

  it('G11 its answer is a complete script with status 200, on the console too', async () => {
    const { status, headers, body } = await service.get(`/ipxe?mac=${mac}&${query}`)
    const script = body.toString()
    expect([status, headers.get('Content-Type')]).toEqual([200, 'text/plain; charset=utf-8'])
    expectComplete(script)
    const [kind] = headerOf(script)?.split(' ') ?? []
    if (kind === 'hold' || kind === 'wait') {
      for (const text of reasonsIn(script)) expect(script).toContain(`\necho Reason: ${text}\n`)
    }
    // A wait never ends; a hold shows its reason for ten minutes and then leaves network boot.
    if (kind === 'wait') {
      expect(script).toMatch(/^chain --replace http:\S+\/boot\.ipxe \|\| goto retry$/m)
      expect(script).not.toMatch(/^(exit|boot|kernel|sanboot)\b/m)
    }
    if (kind === 'hold') {
      expect(script).toMatch(/^sleep 600 \|\|$/m)
      expect(script.trimEnd()).toMatch(/\nexit 1$/)
      expect(script).not.toMatch(/^(kernel|boot)\b/m)
    }
  })
})

describe('machines that nobody described', () => {
  it('G10 G11 are told so, in the script and in explain alike', async () => {
    const script = await service.script(unknownMac)
    expectComplete(script)
    expect(reasonsIn(script)).toContain('no host has this MAC, UUID or serial')
    const explained = await service.explain({ mac: unknownMac, arch: 'x86_64', platform: 'efi' })
    expect(explained.reasons.map(({ text }) => text)).toEqual(reasonsIn(script))
  })

  it('G10 explain leaves no trace: no boot, no lease, no line', async () => {
    const mac = '52:54:00:00:02:01'
    await service.explain({ mac, arch: 'x86_64' })
    await service.get(`/ipxe?mac=${mac}`)
    await eventually(
      async () => service.log().filter((line) => line.mac === mac).length,
      (count) => count === 1,
    )
  })
})

describe('an admin who asks', () => {
  it('explain for no machine is told what it needs, with status 400', async () => {
    await expect(service.api('/api/v1/explain')).rejects.toThrow(
      /answered 400: .*"code":"USAGE".*"hint":"give one of mac, uuid, serial, host"/,
    )
  })

  it('G10 the line of a decision says which machine it was, by all that it told', async () => {
    const mac = '52:54:00:00:03:01'
    const uuid = '4c4c4544-0051-3010-8052-b4c04f4e3132'
    await service.get(`/ipxe?mac=${mac}&uuid=${uuid}&serial=SN-77&arch=arm64&platform=efi`)
    const [line] = await eventually(
      async () => service.log().filter((entry) => entry.mac === mac),
      (lines) => lines.length > 0,
    )
    expect(line).toMatchObject({ msg: 'boot decided', mac, uuid, serial: 'SN-77', arch: 'aarch64' })
  })
})
