import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { get } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from '../fakes/command-line.ts'
import { type RunningService, startRunningService, untilCurrent } from '../fakes/running-service.ts'
import { eventually } from '../fakes/service-process.ts'
import { startUpstreamSite, type UpstreamSite } from '../fakes/upstream-site.ts'

const release = '44.20260707.3.1'
const [filed, plain, installing, url, unknown, bare, oldVersion] = [1, 2, 3, 4, 5, 6, 7].map(
  (number) => `52:54:00:00:00:0${number}`,
) as [string, string, string, string, string, string, string]
const config = JSON.stringify({
  ignition: { version: '3.4.0' },
  storage: { files: [{ path: '/etc/site', mode: 420, contents: { source: 'data:,{{ labels.site }}' } }] },
})
const serverUrl = 'https://api-int.example:22623/config/worker'
const hosts = [
  {
    id: 'filed',
    macs: [filed],
    labels: { site: 'edge' },
    profile: 'worker',
    ignition: { file: 'filed.ign' },
  },
  {
    id: 'plain',
    macs: [plain],
    profile: 'worker',
    report: false,
    ignition: { inline: '{"ignition":{"version":"3.0.0"}}' },
  },
  {
    id: 'installing',
    macs: [installing],
    labels: { site: 'x' },
    profile: 'worker',
    mode: 'install',
    install: { device: '/dev/sda' },
    ignition: { file: 'filed.ign' },
  },
  {
    id: 'old-version',
    macs: [oldVersion],
    profile: 'worker',
    ignition: { inline: '{"ignition":{"version":"2.2.0"}}' },
  },
  { id: 'url', macs: [url], profile: 'worker', ignition: { url: serverUrl } },
  { id: 'bare', macs: [bare], profile: 'worker', report: true, ignition: { url: serverUrl } },
]

interface Ignition {
  readonly ignition: {
    readonly version: string
    readonly config?: { readonly merge?: readonly { readonly source: string }[] }
  }
  readonly storage?: {
    readonly files: readonly {
      readonly path: string
      readonly mode: number
      readonly contents: { readonly source: string }
    }[]
  }
  readonly systemd?: {
    readonly units: readonly {
      readonly name: string
      readonly contents?: string
      readonly dropins?: readonly { readonly contents: string }[]
    }[]
  }
}

const decoded = (source = '') => Buffer.from(source.replace('data:;base64,', ''), 'base64').toString()
const pathIn = (script: string, key: string) =>
  new URL(new RegExp(`\\b${key.replaceAll('.', '\\.')}=(\\S+)`).exec(script)?.[1] ?? 'http://none/').pathname
const liveKey = 'ignition.config.url'
const fileOf = (document: Ignition, path: string) =>
  decoded(document.storage?.files.find((file) => file.path === path)?.contents.source)

describe('G12 secrets to their owner (field case 159)', () => {
  let site: UpstreamSite
  let service: RunningService
  const shown: string[] = []

  beforeAll(async () => {
    site = await startUpstreamSite({ releases: [release], current: release })
    service = await startRunningService({
      site,
      config: { hosts: undefined, log: { format: 'json', level: 'debug' } },
    })
    await service.write('hosts.d/filed.ign', config)
    await service.write('hosts.d/hosts.yaml', JSON.stringify({ version: 1, hosts }))
    await service.writeConfig({ hosts: { directory: 'hosts.d' } })
    await untilCurrent(service, release)
    await eventually(
      () => service.script(filed),
      (script) => script.includes('/ignition/'),
    )
  })
  afterAll(async () => {
    await service?.remove()
    await site?.stop()
  })

  async function fetchJson(path: string): Promise<Ignition> {
    shown.push(path)
    const { status, headers, body } = await service.get(path)
    expect(status, body.toString()).toBe(200)
    expect(headers.get('Content-Type')).toBe('application/vnd.coreos.ignition+json')
    expect(headers.get('Cache-Control')).toBe('no-store')
    expect(Number(headers.get('Content-Length'))).toBe(body.length)
    return JSON.parse(body.toString()) as Ignition
  }
  async function post(
    path: string,
    body: string,
  ): Promise<{ status: number; text: string; retryAfter: string | null }> {
    shown.push(path)
    const answer = await fetch(`${service.bootUrl}${path}`, { method: 'POST', body })
    return { status: answer.status, text: await answer.text(), retryAfter: answer.headers.get('retry-after') }
  }
  const reportPath = (document: Ignition) => new URL(fileOf(document, '/etc/pilotlight/report-url')).pathname

  it('G12 a live boot gets its config by a token of that boot, with a unit around it that reports', async () => {
    const script = await service.script(filed)
    expect(script).toMatch(
      / ignition\.firstboot ignition\.platform\.id=metal ignition\.config\.url=http:\S+\/ignition\/[\w-]{64} ?/,
    )
    const document = await fetchJson(pathIn(script, liveKey))
    expect(document.ignition.version).toBe('3.0.0')
    const own = JSON.parse(decoded(document.ignition.config?.merge?.[0]?.source)) as Ignition
    expect(own.storage?.files[0]).toMatchObject({ path: '/etc/site', contents: { source: 'data:,edge' } })
    expect(document.storage?.files.map(({ path, mode }) => `${path} ${mode.toString(8)}`)).toEqual([
      '/etc/pilotlight/report-url 600',
      '/usr/local/bin/pilotlight-report 755',
    ])
    expect(document.systemd?.units[0]?.contents).toContain('pilotlight-report booted\n')
    expect((await service.get(pathIn(await service.script(plain), liveKey))).body.toString()).toBe(
      '{"ignition":{"version":"3.0.0"}}',
    )
  })

  it('G12 an older boot, another purpose, a flipped bit, a guess: one answer for all of them', async () => {
    const first = pathIn(await service.script(filed), liveKey)
    const second = pathIn(await service.script(filed), liveKey)
    const report = reportPath(await fetchJson(second))
    const flipped = `${second.slice(0, -1)}${second.endsWith('A') ? 'B' : 'A'}`
    const bad = [
      first,
      report.replace('/report/', '/ignition/'),
      flipped,
      `/ignition/${'A'.repeat(64)}`,
      '/ignition/x',
    ]
    const bodies = new Set<string>()
    for (const path of bad) {
      shown.push(path)
      const { status, headers, body } = await service.get(path)
      bodies.add(`${status} ${headers.get('Content-Type')} ${body.toString()}`)
    }
    expect([...bodies]).toEqual([expect.stringMatching(/^404 text\/plain/)])
    expect((await service.get(second)).status).toBe(200)
  })

  it('G12 G7 tokens count after a kill of the service, and none is in what it wrote', async () => {
    const path = pathIn(await service.script(filed), liveKey)
    const before = await service.get(path)
    await service.restart()
    const after = await service.get(path)
    expect(after.status).toBe(200)
    expect(after.body.length).toBe(before.body.length)
    shown.push(path)
    // In whatever spelling and to whatever end.
    const [, , token = ''] = path.split('/')
    for (const odd of [
      `//ignition//${token}`,
      `/ignition/${token}/x`,
      `/Ignition/${token}`,
      `/x/${token}`,
      `/%69gnition/${token}`,
      `/report/${token}`,
      `/ignition/${token}%00`,
      `/ignition/${'A'.repeat(64)}`,
    ]) {
      await service.get(odd).catch(() => undefined)
    }
    await fetch(`${service.bootUrl}${path}`, { method: 'DELETE' })
    await eventually(
      async () => JSON.stringify(service.log()),
      (log) => log.includes('boot token was refused'),
    )
    const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text()
    expect(metrics).toMatch(/pilotlight_boot_tokens_refused_total\{reason="forged"\} [1-9]/)
    const written = JSON.stringify(service.log()) + service.process().output() + metrics
    for (const secret of shown.filter(({ length }) => length > 64))
      expect(written).not.toContain(secret.split('/').at(-1)?.slice(0, 40))
    expect(written).not.toContain(token.slice(8, 40))
  })

  it('an install carries both: the config of the disk, and one for the live system that installs', async () => {
    const script = await service.script(installing)
    const disk = await fetchJson(pathIn(script, 'coreos.inst.ignition_url'))
    expect(disk.systemd?.units[0]?.contents).toContain('pilotlight-report installed booted\n')
    const live = await fetchJson(pathIn(script, liveKey))
    expect(live.ignition.config).toBeUndefined()
    expect(live.systemd?.units[0]).toMatchObject({
      name: 'coreos-installer.service',
      dropins: [expect.objectContaining({ name: '50-pilotlight-report.conf' })],
    })
    const told = await post(reportPath(live), '{"status":"installed","osVersion":"44"}')
    expect(told.status).toBe(200)
    // It has restarted and asks the network first (field case 154): its disk, and no second installation.
    expect(await service.script(installing)).toContain('# Pilotlight: local')
    // What was installed may say so still, although the machine was sent to its disk meanwhile.
    expect(await post(reportPath(disk), '{"status":"booted"}')).toMatchObject({ status: 200 })
  })

  it('G12 what an admin takes back is over at once, and a host that is held gets nothing', async () => {
    const before = pathIn(await service.script(filed), liveKey)
    const run = (...argv: readonly string[]) => runCommand(...argv, '--config', service.configFile)
    const revoked = await run('token', 'revoke-boot', 'filed', '--reason', 'its console was filmed')
    expect(revoked, revoked.stderr).toMatchObject({ code: 0 })
    expect((await service.get(before)).status).toBe(404)
    const after = pathIn(await service.script(filed), liveKey)
    expect((await service.get(after)).status).toBe(200)
    const held = await run('hold', 'filed', '--reason', 'looked at')
    expect(held, held.stderr).toMatchObject({ code: 0 })
    expect((await service.get(after)).status).toBe(404)
    await run('release', 'filed')
    expect((await service.get(after)).status).toBe(200)
  })

  it('a URL of an admin goes out as it is, and into our config where the machine is to report', async () => {
    expect(await service.script(url)).toContain(` ignition.config.url=${serverUrl}`)
    expect(await service.script(unknown)).not.toContain('ignition')
    const document = await fetchJson(pathIn(await service.script(bare), liveKey))
    expect(document.ignition.config?.merge).toEqual([{ source: serverUrl }])
  })

  it('HEAD tells the length of what GET gets and mints nothing; render shows a stand-in', async () => {
    const answer = await fetch(`${service.bootUrl}/ipxe?mac=${filed}&arch=x86_64`, { method: 'HEAD' })
    const script = await service.script(filed)
    expect(Number(answer.headers.get('content-length'))).toBe(script.length)
    const path = pathIn(script, liveKey)
    const head = await fetch(`${service.bootUrl}${path}`, { method: 'HEAD' })
    expect(head.status).toBe(200)
    expect(Number(head.headers.get('content-length'))).toBe((await service.get(path)).body.length)
  })

  it('reports are taken once, from who may, in time', async () => {
    const path = reportPath(await fetchJson(pathIn(await service.script(filed), liveKey)))
    const digest = createHash('sha256').update('x').digest('hex')
    const good = JSON.stringify({
      status: 'booted',
      osVersion: '44.1',
      kernelCommandLineSha256: digest,
      machineId: 'a'.repeat(32),
      more: [1],
    })
    expect(await post(path, good)).toMatchObject({ status: 200, text: 'The report is recorded.\n' })
    expect(await post(path, good)).toMatchObject({ status: 200, text: 'This report is known.\n' })
    const told = service.log().filter(({ msg }) => msg === 'machine reported')
    expect(told.at(-1)).toMatchObject({ host: 'filed', status: 'booted', osVersion: '44.1' })
    expect(await post(path, '{"status":"happy"}')).toMatchObject({
      status: 400,
      text: 'This report cannot be taken: status is not one of booted, installed, failed.\n',
    })
    expect((await post(path, `{"status":"failed","message":"${'x'.repeat(20_000)}"}`)).status).toBe(413)
    expect((await post(path, 'x'.repeat(200_000))).status).toBe(413)
    expect((await post(`/report/${'A'.repeat(64)}`, good)).status).toBe(404)
    expect((await service.get(path)).status).toBe(405)
    expect((await post('/ipxe', good)).status).toBe(405)
  })

  it('a config that changed is served as it is now; one that cannot be filled in is told in the log, with the label', async () => {
    const path = pathIn(await service.script(filed), liveKey)
    await service.write('hosts.d/filed.ign', config.replace('/etc/site', '/etc/other'))
    await eventually(
      async () => decoded((await fetchJson(path)).ignition.config?.merge?.[0]?.source),
      (text) => text.includes('/etc/other'),
    )
    await service.write('hosts.d/filed.ign', config.replace('labels.site', 'labels.rack'))
    await eventually(
      () => service.get(path),
      ({ status }) => status === 503,
    )
    const answer = await service.get(path)
    expect(answer.headers.get('Retry-After')).toBe('10')
    expect(JSON.stringify(service.log())).toMatch(/filed\.ign cannot be filled in: .*labels\.rack/)
    await service.write('hosts.d/filed.ign', config)
    await eventually(
      () => service.get(path),
      ({ status }) => status === 200,
    )
  })

  it('a config of a version that the release does not read is told in the log', async () => {
    const document = await fetchJson(pathIn(await service.script(oldVersion), liveKey))
    expect(document.ignition.version).toBe('2.2.0')
    const [line] = service.log().filter(({ msg }) => msg.startsWith('this release does not read'))
    expect(line).toMatchObject({ level: 'warn', host: 'old-version', version: '2.2.0', needed: '3.x' })
  })

  it('the files of the snippet are those that are shipped', async () => {
    const document = await fetchJson(pathIn(await service.script(filed), liveKey))
    const shipped = join(import.meta.dirname, '../../templates/ignition/pilotlight-report')
    expect(fileOf(document, '/usr/local/bin/pilotlight-report')).toBe(await readFile(shipped, 'utf8'))
  })
})

describe('G12 bind: address, over a restart', () => {
  const [itsOwn, another] = ['127.0.0.5', '127.0.0.6']

  it('G12 the boot that goes on keeps its secrets, and another address waits', async () => {
    const site = await startUpstreamSite({ releases: [release], current: release })
    const service = await startRunningService({
      site,
      config: { boot: { http: { listen: '127.0.0.1:0' }, tokens: { bind: 'address' } } },
      hosts: hosts.filter(({ id }) => id === 'plain'),
    })
    try {
      await untilCurrent(service, release)
      const scriptAt = (localAddress: string) =>
        getFrom(localAddress, `${service.bootUrl}/ipxe?mac=${plain}&arch=x86_64&platform=efi`)
      const script = await eventually(
        () => scriptAt(itsOwn),
        ({ body }) => body.includes('/ignition/'),
      )
      expect((await scriptAt(another)).body).toContain('# Pilotlight: hold')
      await service.restart('SIGTERM')
      const refused = await scriptAt(another)
      expect(refused.body).toContain(`${itsOwn} is booting as this host since`)
      expect(refused.body).not.toContain('/ignition/')
      const path = pathIn(script.body, liveKey)
      expect((await getFrom(another, `${service.bootUrl}${path}`)).status).toBe(404)
      expect((await getFrom(itsOwn, `${service.bootUrl}${path}`)).status).toBe(200)
    } finally {
      await service.remove()
      await site.stop()
    }
  })
})

function getFrom(localAddress: string, address: string): Promise<{ status?: number; body: string }> {
  return new Promise((found, failed) => {
    get(address, { localAddress, agent: false }, async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk as Buffer)
      found({ status: response.statusCode, body: Buffer.concat(chunks).toString() })
    }).once('error', failed)
  })
}
