import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningService, startRunningService, untilCurrent } from '../fakes/running-service.ts'
import { startUpstreamSite, type UpstreamSite } from '../fakes/upstream-site.ts'

const release = '44.20260707.3.1'
const mac = '52:54:00:00:00:01'
const [own, other] = ['127.0.0.2', '127.0.0.3']
const inline = '{"ignition":{"version":"3.0.0"}}'

describe('G12 bind: address, beside a DHCP server that is not ours', () => {
  let site: UpstreamSite
  let service: RunningService

  beforeAll(async () => {
    site = await startUpstreamSite({ releases: [release], current: release })
    service = await startRunningService({
      site,
      config: { boot: { http: { listen: '127.0.0.1:0' }, tokens: { bind: 'address' } } },
      hosts: [{ id: 'n01', macs: [mac], profile: 'worker', report: false, ignition: { inline } }],
    })
    await untilCurrent(service, release)
  })
  afterAll(async () => {
    await service?.remove()
    await site?.stop()
  })

  function getFrom(
    localAddress: string,
    path: string,
  ): Promise<{ readonly status: number; readonly body: string }> {
    return new Promise((resolve, reject) => {
      const asked = request(`${service.bootUrl}${path}`, { localAddress, agent: false }, (answer) => {
        let body = ''
        answer.setEncoding('utf8')
        answer.on('data', (text: string) => {
          body += text
        })
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }))
      })
      asked.on('error', reject)
      asked.end()
    })
  }

  it('G12 the first address has script and config; a second one gets neither, and the admin is told', async () => {
    const path = `/ipxe?mac=${mac}&arch=x86_64`
    const { body: script } = await getFrom(own, path)
    const url = new URL(/ignition\.config\.url=(\S+)/.exec(script)?.[1] ?? 'http://none/')
    expect(await getFrom(own, url.pathname)).toEqual({ status: 200, body: inline })
    const refused = await getFrom(other, path)
    expect(refused.status).toBe(200)
    expect(refused.body).toContain('# Pilotlight: hold')
    expect(refused.body).toContain(`and ${own} is booting as this host since`)
    expect(refused.body).not.toMatch(/\/ignition\/|\/artifacts\//)
    expect((await getFrom(other, `/pxelinux.cfg/01-${mac.replaceAll(':', '-')}`)).body).toContain('hold')
    expect((await getFrom(other, url.pathname)).status).toBe(404)
    expect((await getFrom(own, url.pathname)).status).toBe(200)
    const log = JSON.stringify(service.log())
    expect(log).toContain('a script with secrets was refused')
    expect(log).toContain(other)
    expect(service.log()).toContainEqual(
      expect.objectContaining({ msg: 'a boot token was refused', refusal: 'other-address', host: 'n01' }),
    )
    const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text()
    expect(metrics).toMatch(
      /pilotlight_boot_decisions_total\{kind="hold",reason="address-of-another-boot"\} 2/,
    )
  })
})
