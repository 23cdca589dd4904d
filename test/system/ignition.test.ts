import { execFile, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningService, startRunningService, untilCurrent } from '../fakes/running-service.ts'
import { startUpstreamSite, type UpstreamSite } from '../fakes/upstream-site.ts'

/** Where Debian's package has it; it is no program for users. */
const program = '/usr/lib/dracut/modules.d/30ignition/ignition'
const hasIgnition = existsSync(program) && process.getuid?.() === 0
if (!hasIgnition) {
  process.stderr.write(
    'test/system/ignition.test.ts: it needs root and the package ignition, it is skipped\n',
  )
}

const release = '44.20260601.3.0'
const [liveMac, installMac] = ['52:54:00:00:00:01', '52:54:00:00:00:02']
const ignition = {
  inline: JSON.stringify({
    ignition: { version: '3.3.0' },
    storage: {
      files: [
        { path: '/etc/name', mode: 0o600, overwrite: true, contents: { source: 'data:,{{ host_name }}' } },
      ],
    },
  }),
}
const machine = { profile: 'worker', ignition }
const hosts = [
  { id: 'live', macs: [liveMac], ...machine },
  { id: 'disk', macs: [installMac], mode: 'install', install: { device: '/dev/sda' }, ...machine },
]

describe.skipIf(!hasIgnition)('Ignition itself, with what the service gives it', () => {
  let directory: string
  let site: UpstreamSite
  let service: RunningService

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pilotlight-ignition-'))
    site = await startUpstreamSite({ releases: [release] })
    service = await startRunningService({ site, hosts })
    await untilCurrent(service, release)
  })
  afterAll(async () => {
    await service?.remove()
    await site?.stop()
    await rm(directory, { recursive: true, force: true })
  })

  /** Fetches the URL as the initramfs of a machine does and writes the files of the config below a folder. */
  async function ignite(name: string, url: string): Promise<string> {
    const root = join(directory, name)
    await mkdir(join(root, 'etc'), { recursive: true })
    const config = join(directory, `${name}.ign`)
    await writeFile(
      config,
      JSON.stringify({ ignition: { version: '3.0.0', config: { replace: { source: url } } } }),
    )
    for (const stage of ['fetch', 'files']) {
      const { status, stdout, stderr } = spawnSync(
        program,
        [
          ...['-platform', 'file', '-stage', stage, '-root', root, '-log-to-stdout'],
          ...[
            '-config-cache',
            join(directory, `${name}.cache`),
            '-state-file',
            join(directory, `${name}.state`),
          ],
          ...['-neednet', join(directory, `${name}.neednet`)],
        ],
        { env: { ...process.env, IGNITION_CONFIG_FILE: config }, encoding: 'utf8', timeout: 60_000 },
      )
      // When all is written it labels the files for SELinux, which this folder has no policy for.
      const isDone = status === 0 || /failed to handle relabeling/.test(stdout)
      if (!isDone) throw new Error(`ignition ${stage} ended with ${status}: ${stdout.slice(-2_000)}${stderr}`)
    }
    return root
  }

  const urlIn = (script: string, key: string) => new RegExp(`\\b${key}=(\\S+)`).exec(script)?.[1] ?? ''

  /** Runs the script of the snippet as its unit would, with the files of that folder. */
  async function report(root: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const script = await readFile(join(root, 'usr/local/bin/pilotlight-report'), 'utf8')
    const local = join(root, 'report')
    await writeFile(local, script.replace('/etc/pilotlight', join(root, 'etc/pilotlight')))
    return new Promise<{ readonly code: number; readonly text: string }>((resolve) => {
      execFile(
        'bash',
        [local, ...args],
        { env: { PATH: process.env.PATH, ...env } },
        (error, stdout, stderr) => {
          resolve({ code: error === null ? 0 : 1, text: `${stdout}${stderr}` })
        },
      )
    })
  }

  it('a live machine gets its own files and ours, and reports once', async () => {
    const root = await ignite('live', urlIn(await service.script(liveMac), 'ignition\\.config\\.url'))
    expect(await readFile(join(root, 'etc/name'), 'utf8')).toBe('live')
    const urlFile = join(root, 'etc/pilotlight/report-url')
    expect((await stat(urlFile)).mode & 0o777).toBe(0o600)
    expect((await stat(join(root, 'usr/local/bin/pilotlight-report'))).mode & 0o777).toBe(0o755)
    expect(await readFile(join(root, 'etc/systemd/system/pilotlight-report.service'), 'utf8')).toContain(
      'pilotlight-report booted\n',
    )
    expect(await report(root, ['booted'])).toEqual({ code: 0, text: 'reported: booted\n' })
    expect(existsSync(urlFile)).toBe(false)
    expect(await report(root, ['booted'])).toEqual({ code: 0, text: '' })
  })

  it('an installed one says installed, and the live system that installs says so before it restarts, or what failed', async () => {
    const script = await service.script(installMac)
    const disk = await ignite('disk', urlIn(script, 'coreos\\.inst\\.ignition_url'))
    expect(await readFile(join(disk, 'etc/name'), 'utf8')).toBe('disk')
    const installer = await ignite('installer', urlIn(script, 'ignition\\.config\\.url'))
    const dropin = 'etc/systemd/system/coreos-installer.service.d/50-pilotlight-report.conf'
    expect(await readFile(join(installer, dropin), 'utf8')).toContain('ExecStartPost=')
    expect(existsSync(join(installer, 'etc/name'))).toBe(false)
    expect(await report(installer, ['unless-success'], { SERVICE_RESULT: 'success' })).toEqual({
      code: 0,
      text: '',
    })
    const failure = { SERVICE_RESULT: 'exit-code', EXIT_STATUS: '1' }
    const urlFile = join(installer, 'etc/pilotlight/report-url')
    const url = await readFile(urlFile, 'utf8')
    expect(await report(installer, ['unless-success'], failure)).toEqual({
      code: 0,
      text: 'reported: failed\n',
    })
    await writeFile(urlFile, url)
    expect(await report(installer, ['installed'])).toEqual({ code: 0, text: 'reported: installed\n' })
    expect((await report(disk, ['installed', 'booted'])).text).toBe('reported: installed\nreported: booted\n')
  })

  it('a report that does not count any more ends without another try, one that nobody hears is tried again', async () => {
    const first = await ignite('old', urlIn(await service.script(liveMac), 'ignition\\.config\\.url'))
    await service.script(liveMac)
    const { code, text } = await report(first, ['booted'])
    expect({ code, text }).toEqual({
      code: 0,
      text: 'not reported: booted: the boot service answers 404; its log says more\n',
    })
    await writeFile(join(first, 'etc/pilotlight/report-url'), 'http://127.0.0.1:9/report/x\n')
    const shipped = join(first, 'usr/local/bin/pilotlight-report')
    const script = await readFile(shipped, 'utf8')
    await writeFile(shipped, script.replace('--retry 5', '--retry 0'))
    expect(await report(first, ['booted'])).toMatchObject({ code: 1 })
    expect(existsSync(join(first, 'etc/pilotlight/report-url'))).toBe(true)
  })
})
