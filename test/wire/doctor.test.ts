import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Finding } from '../../src/doctor/finding.ts'
import { makeSampleLoader } from '../../src/runtime/demo/sample-loader.ts'
import { runCommand } from '../fakes/command-line.ts'
import { freeTcpPort, freeUdpPort } from '../fakes/free-port.ts'
import { type RunningService, startRunningService, untilCurrent } from '../fakes/running-service.ts'
import { startUpstreamSite, type UpstreamSite } from '../fakes/upstream-site.ts'

const release = '44.20260622.3.0'

let folder: string
let site: UpstreamSite
let service: RunningService
let boot: number
let tftp: number

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pilotlight-doctor-'))
  const loader = makeSampleLoader()
  await writeFile(join(folder, loader.name), loader.bytes)
  // A jump, and what iPXE says when it looks for its ROM: enough to be taken for a boot program of a BIOS.
  await writeFile(join(folder, 'undionly.kpxe'), Buffer.from('\xeb\x10PXE->EB: made up', 'latin1'))
  site = await startUpstreamSite({ releases: [release] })
  boot = await freeTcpPort()
  tftp = await freeUdpPort()
  service = await startRunningService({
    site,
    config: {
      boot: {
        http: { listen: `127.0.0.1:${boot}` },
        tftp: { listen: `127.0.0.1:${tftp}` },
        loaders: { directories: [folder] },
      },
    },
  })
  await untilCurrent(service, release)
})
afterEach(async () => {
  await service.remove()
  await site.stop()
  await rm(folder, { recursive: true })
})

async function examine(): Promise<{
  readonly code: number
  readonly healthy: boolean
  of(check: string): string[]
}> {
  const { code, stdout, stderr } = await runCommand(
    ...['doctor', '--config', service.configFile, '--output', 'json'],
  )
  expect(stderr).toBe('')
  const { healthy, findings } = JSON.parse(stdout) as { healthy: boolean; findings: Finding[] }
  return {
    code,
    healthy,
    of: (wanted) =>
      findings.filter(({ check }) => check === wanted).map(({ severity, what }) => `${severity}: ${what}`),
  }
}

describe('the doctor of the built program', () => {
  it('beside a running service finds its ports, fetches all it hands out, and is content', async () => {
    const { code, healthy, of } = await examine()
    const pid = service.process().child.pid
    expect(of('service')).toEqual([`ok: the service runs as process ${pid}, and is ready`])
    expect(of('ports').slice(0, 1)).toEqual([`ok: TCP 127.0.0.1:${boot} (boot): ours`])
    expect(of('ports').slice(2)).toEqual([`ok: UDP 127.0.0.1:${tftp} (TFTP): ours`])
    expect(of('loaders')).toEqual([
      `ok: BIOS: undionly.kpxe, ipxe (${folder}/undionly.kpxe)`,
      `ok: UEFI x64: snponly.efi, ipxe 0.0.0+demo (${folder}/snponly.efi)`,
    ])
    const fetched = of('fetch').join('\n')
    expect(fetched).toMatch(/^ok: TFTP 127\.0\.0\.1: .*undionly\.kpxe.*snponly\.efi/m)
    expect(fetched).toContain(`http://127.0.0.1:${boot}/loaders/snponly.efi`)
    expect(fetched).toContain(`http://127.0.0.1:${boot}/boot.ipxe`)
    expect(fetched).not.toMatch(/^(warning|problem)/m)
    expect(of('upstream')).toEqual([expect.stringContaining(`says ${release}`)])
    expect(of('clock')).toEqual(['ok: the clock agrees with upstream servers'])
    expect(of('data')[0]).toMatch(/^ok/)
    expect(of('boots')).toEqual(['ok: no machine shows one of the 15 known ways in which boots go wrong'])
    expect({ code, healthy }).toEqual({ code: 0, healthy: true })
  })

  it('G4 takes an upstream that is gone for a warning while all is served, and for a problem without a service', async () => {
    await site.goAway()
    const beside = await examine()
    expect(beside.of('upstream')).toEqual([expect.stringMatching(/^warning: sample: .*cannot be read/)])
    expect(beside.code).toBe(0)

    await service.kill('SIGTERM')
    const alone = await examine()
    expect(alone.of('service')).toEqual([expect.stringMatching(/^note: no service runs/)])
    expect(alone.of('ports').slice(2)).toEqual([`ok: UDP 127.0.0.1:${tftp} (TFTP): free`])
    expect(alone.of('fetch')).toEqual([])
    expect(alone.of('upstream')).toEqual([expect.stringMatching(/^problem: sample/)])
    expect({ code: alone.code, healthy: alone.healthy }).toEqual({ code: 1, healthy: false })
  })
})
