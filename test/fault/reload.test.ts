import { unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { type RunningService, startRunningService, untilCurrent } from '../fakes/running-service.ts'
import { eventually } from '../fakes/service-process.ts'
import { startUpstreamSite, type UpstreamSite } from '../fakes/upstream-site.ts'

const release = '44.20260601.3.0'
const mac = '52:54:00:00:00:02'
let site: UpstreamSite
let service: RunningService

beforeAll(async () => {
  site = await startUpstreamSite({ releases: [release] })
  service = await startRunningService({ site, hosts: [{ id: 'n02', macs: [mac], profile: 'worker' }] })
  await untilCurrent(service, release)
})
afterAll(async () => {
  await service?.remove()
  await site?.stop()
})

function writeHosts(settings: object): Promise<void> {
  const hosts = [{ id: 'n02', macs: [mac], profile: 'worker', ...settings }]
  return service.write('hosts.d/hosts.yaml', stringify({ version: 1, hosts }))
}

const untilScript = (words: string) =>
  eventually(
    () => service.script(mac),
    (script) => script.includes(words),
  )

async function configPart() {
  const { parts, status } = await service.readiness()
  return { status, ...parts.find(({ part }) => part === 'config') }
}

/** What a bad edit must leave: what was in force, the mistake with its place in the log and in `/readyz`. */
async function expectRefused(place: RegExp): Promise<void> {
  const part = await eventually(configPart, ({ reason }) => reason !== undefined && place.test(reason))
  expect(part).toMatchObject({ status: 200, ready: true })
  expect(part.reason).toMatch(/^the last good one is in force: /)
  await eventually(
    async () => service.log(),
    (lines) =>
      lines.some(
        ({ level, msg, error }) =>
          level === 'error' &&
          msg === 'configuration not taken, the old one stays' &&
          place.test(String(error)),
      ),
  )
}

describe('the configuration changes while the service runs', () => {
  it('field case 151: a saved change counts for the next request, without a signal or a restart', async () => {
    await writeHosts({ mode: 'local' })
    await untilScript('Pilotlight: local')
    await writeHosts({ kernelArguments: ['console=ttyS7'] })
    expect(await untilScript('console=ttyS7')).toContain('Pilotlight: live')
    const explained = await service.explain({ mac, arch: 'x86_64' })
    const { origin } = explained.values.find(({ field }) => field === 'kernelArguments') ?? {}
    expect(origin).toMatch(/^host n02 \(\S*hosts\.yaml:\d+\)$/)
  })

  it('a file that is added or removed counts too', async () => {
    const other = '52:54:00:00:00:03'
    const hosts = [{ id: 'n03', macs: [other], profile: 'worker', mode: 'hold', holdReason: 'new here' }]
    await service.write('hosts.d/more.yaml', stringify({ version: 1, hosts }))
    await eventually(
      () => service.script(other),
      (script) => script.includes('held by an admin: new here'),
    )
    await unlink(join(service.directory, 'hosts.d/more.yaml'))
    await eventually(
      () => service.script(other),
      (script) => script.includes('Pilotlight: live'),
    )
  })

  it('SIGHUP takes it over at once and says so', async () => {
    await writeHosts({})
    await service.writeConfig({
      profiles: { worker: { stream: 'sample', mode: 'live', kernelArguments: ['quiet'] } },
    })
    service.hangUp()
    await untilScript(' quiet')
    await eventually(
      async () => service.log().map(({ msg }) => msg),
      (messages) =>
        messages.includes('configuration read again on SIGHUP') && messages.includes('configuration taken'),
    )
  })

  it('a change that needs a restart is taken as far as it can be, and named', async () => {
    await service.writeConfig({ admin: { listen: '127.0.0.1:1' } })
    service.hangUp()
    await eventually(
      async () => service.log(),
      (lines) =>
        lines.some(
          ({ msg, needsRestart }) => msg === 'configuration taken' && String(needsRestart).includes('admin'),
        ),
    )
    expect(await configPart()).toMatchObject({
      status: 200,
      ready: true,
      reason: 'restart the service to take over admin.listen',
    })
    // Whatever comes in between: it is the running service that the file is compared with.
    await service.writeConfig({ admin: { listen: '127.0.0.1:1' }, log: { level: 'warn' } })
    service.hangUp()
    await service.writeConfig({})
    service.hangUp()
    expect(await eventually(configPart, ({ reason }) => reason === undefined)).toMatchObject({ ready: true })
  })
})

describe('a bad edit keeps the old configuration and says file:line:column', () => {
  const mistakes: readonly (readonly [string, string, string, RegExp])[] = [
    ['no YAML', 'pilotlight.yaml', 'version: 1\nstreams: {sample: [}\n', /pilotlight\.yaml:2:\d+/],
    [
      'an unknown key',
      'pilotlight.yaml',
      'version: 1\nboot:\n  adress: 192.0.2.10\n',
      /pilotlight\.yaml:3:3\b.*adress/,
    ],
    [
      'a wrong type in a hosts file',
      'hosts.d/hosts.yaml',
      'version: 1\nhosts:\n  - id: 7\n',
      /hosts\.yaml:3:9\b/,
    ],
    [
      'a profile that does not exist',
      'hosts.d/hosts.yaml',
      `version: 1\nhosts:\n  - { id: n02, macs: ['${mac}'], profile: wroker }\n`,
      /hosts\.yaml:3:\d+.*wroker/,
    ],
  ]

  it.each(mistakes)('%s, noticed by itself', async (_, path, text, place) => {
    await writeHosts({ kernelArguments: ['good=1'] })
    await service.writeConfig({})
    service.hangUp()
    await untilScript('good=1')
    await service.write(path, text)
    await expectRefused(place)
    expect(await service.script(mac)).toContain('good=1')
  })

  it('on SIGHUP, and the good one after it is taken', async () => {
    await writeHosts({ kernelArguments: ['good=2'] })
    await service.writeConfig({ unknwon: 'ignore' })
    service.hangUp()
    await expectRefused(/pilotlight\.yaml:\d+:1\b.*unknwon/)
    expect((await service.explain({ mac, arch: 'x86_64' })).decision).toBe('live')

    await service.writeConfig({})
    service.hangUp()
    await untilScript('good=2')
    expect(await configPart()).toEqual({ status: 200, part: 'config', ready: true })
  })

  it('a configuration file that is gone keeps everything going', async () => {
    await unlink(service.configFile)
    service.hangUp()
    await expectRefused(/pilotlight\.yaml/)
    expect(await service.script(mac)).toContain('good=2')
    await service.writeConfig({})
    await eventually(configPart, ({ reason }) => reason === undefined)
  })

  it('a template that cannot be used leaves the scripts as they were', async () => {
    const before = await service.script(mac)
    await service.write('pilotlight.yaml', `${stringify({ version: 1 })}templates: { directory: nowhere }\n`)
    await expectRefused(/pilotlight\.yaml:2:\d+.*nowhere/)
    expect(withoutBootId(await service.script(mac))).toBe(withoutBootId(before))
  })
})

function withoutBootId(script: string): string {
  const id = /^# Host: .*, boot (\S+)$/m.exec(script)?.[1] ?? ''
  return script.replaceAll(id, '')
}
