import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { sampleStreamDocument } from '../../src/runtime/demo/sample-documents.ts'
import type { SampleRelease } from '../../src/runtime/demo/sample-release.ts'
import {
  type RunningService,
  startRunningService,
  unknownMac,
  untilCurrent,
} from '../fakes/running-service.ts'
import { eventually } from '../fakes/service-process.ts'
import { startUpstreamSite, streamPath, type UpstreamSite } from '../fakes/upstream-site.ts'

const older = '44.20260601.3.0'
const newer = '44.20260622.3.0'
const program = resolve(import.meta.dirname, '../../dist/main.js')
let site: UpstreamSite
let service: RunningService

afterEach(async () => {
  await service?.remove()
  await site?.stop()
})

/** The document of the newer release, its x86_64 kernel without a digest. */
function brokenDocument(): string {
  const release = site.releases.find((candidate) => candidate.release === newer) as SampleRelease
  const document = JSON.parse(sampleStreamDocument(release, site.origin, '2026-07-08T12:00:00Z'))
  document.architectures.x86_64.artifacts.metal.formats.pxe.kernel.sha256 = 'not a digest'
  return JSON.stringify(document)
}

const where = 'artifacts.metal.formats.pxe.kernel.sha256'

interface Ran {
  readonly code: number
  readonly stdout: string
}

function pilotlight(...args: readonly string[]): Promise<Ran> {
  const argv = [program, ...args, '--config', service.configFile]
  return new Promise((done) => {
    execFile(process.execPath, argv, (error, stdout) =>
      done({ code: error === null ? 0 : Number(error.code), stdout }),
    )
  })
}

async function refusedTotal(reason: string): Promise<number> {
  const text = await (await fetch(`${service.adminUrl}/metrics`)).text()
  const line = new RegExp(`^pilotlight_stream_refused_total\\{reason="${reason}"\\} (\\d+)$`, 'm').exec(text)
  return Number(line?.[1])
}

describe('a document of which one architecture cannot be used', () => {
  it('G10 is told by sync with its reason and exit code 1, by log, metric, streams, readiness and explain', async () => {
    site = await startUpstreamSite({ releases: [older, newer] })
    service = await startRunningService({ site })
    await untilCurrent(service, older)
    expect(await refusedTotal('partial')).toBe(0)
    site.publish(streamPath, brokenDocument())

    const { code, stdout } = await pilotlight('sync', '--output', 'json')
    expect(code).toBe(1)
    const [stream] = JSON.parse(stdout).streams
    expect(stream.notes).toEqual([{ arch: 'x86_64', kind: 'refused', text: expect.stringContaining(where) }])
    const reason: string = stream.notes[0].text
    const table = await pilotlight('sync')
    expect(table.code).toBe(1)
    expect(table.stdout).toMatch(/x86_64\s+refused\s+\S/)

    expect(await refusedTotal('partial')).toBeGreaterThan(0)
    expect((await service.streams())[0]?.architectures[0]).toMatchObject({ current: older, problem: reason })
    expect(service.log()).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        msg: 'stream change not followed',
        change: 'partial',
        reason,
      }),
    )
    const { ready, parts } = await service.readiness()
    expect(ready).toBe(true)
    expect(parts.find(({ part }) => part === 'stream:sample')?.reason).toContain(reason)
    const explained = await service.explain({ mac: unknownMac, arch: 'x86_64' })
    expect(explained).toMatchObject({ decision: 'live', release: older })
    expect(explained.reasons.map(({ text }) => text).join()).toContain(reason)
  })

  it('is not told with the failure of an older target, and the target keeps its own', async () => {
    site = await startUpstreamSite({ releases: [older, newer] })
    const rootfs = site.pathOf(older, 'rootfs')
    site.publish(rootfs, undefined)
    service = await startRunningService({ site })
    await eventually(
      () => service.streams(),
      ([stream]) => stream?.architectures[0]?.target?.state === 'failed',
    )
    site.publish(streamPath, brokenDocument())
    const { code, stdout } = await pilotlight('sync')
    expect(code).toBe(1)
    const lines = stdout.split('\n')
    expect(lines.find((line) => line.includes('refused'))).not.toContain(rootfs)
    const { parts } = await service.readiness()
    const reason = parts.find(({ part }) => part === 'stream:sample')?.reason ?? ''
    expect(reason.indexOf(where)).toBeLessThan(reason.indexOf(`${older} could not be fetched`))
    expect(reason).toContain(where)
    const script = await service.script(unknownMac)
    expect(script).toContain(`bootimage ${older} of sample could not be fetched`)
    expect(script).toContain('the x86_64 part of the document of sample cannot be used')
  })

  it('G11 on a first run makes machines wait, because the next document may mend it; then they boot', async () => {
    site = await startUpstreamSite({ releases: [older, newer] })
    site.publish(streamPath, brokenDocument())
    service = await startRunningService({ site })
    const script = await eventually(
      () => service.script(unknownMac),
      (text) => text.includes('cannot be used'),
    )
    expect(script).toContain('# Pilotlight: wait sample')
    site.moveTo(newer)
    await service.sync()
    expect(await service.current()).toBe(newer)
    expect((await pilotlight('sync')).code).toBe(0)
  })
})
