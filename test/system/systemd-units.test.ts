import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { eventually } from '../fakes/service-process.ts'
import {
  createLab,
  hasCommand,
  type Lab,
  type LineProcess,
  labProblem,
  type Namespace,
} from './namespaces.ts'

const repository = resolve(import.meta.dirname, '../..')
const units = join(repository, 'deploy/systemd')
const dist = join(repository, 'dist')

/** Why no systemd can be started here; `undefined` when one can. */
function sandboxProblem(): string | undefined {
  const lab = labProblem()
  if (lab !== undefined) return lab
  if (!hasCommand('/lib/systemd/systemd')) return 'needs systemd'
  const overlay =
    'mount -t tmpfs t /tmp && mkdir /tmp/u /tmp/w /tmp/r && mount -t overlay o -o lowerdir=/,upperdir=/tmp/u,workdir=/tmp/w /tmp/r'
  const tried = spawnSync('unshare', ['--mount', '--pid', '--cgroup', '--fork', 'sh', '-c', overlay])
  return tried.status === 0 ? undefined : 'file systems cannot be laid over each other here'
}

const problem = sandboxProblem()
if (problem) console.log(`the units of deploy/systemd are not tried under systemd: ${problem}`)
const canVerify = hasCommand('systemd-analyze')
if (!canVerify) console.log('the units of deploy/systemd are not verified: systemd-analyze is not installed')

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'pilotlight-units-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

describe.skipIf(!canVerify)('to systemd-analyze, the units', () => {
  /** The program that the service starts is not installed on this machine. */
  function copyOfUnits(): readonly string[] {
    cpSync(units, directory, { recursive: true })
    const service = join(directory, 'pilotlight.service')
    writeFileSync(service, readFileSync(service, 'utf8').replace(/^ExecStart=.*/m, 'ExecStart=/bin/true'))
    cpSync(join(directory, 'pilotlight-dhcp@.socket'), join(directory, 'pilotlight-dhcp@eth1.socket'))
    return readdirSync(directory)
      .filter((name) => /\.(service|socket)$/.test(name) && !name.includes('@.'))
      .map((name) => join(directory, name))
  }

  it('have no mistakes', () => {
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...copyOfUnits()], {
      encoding: 'utf8',
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })

  it('leave a service little to do harm with', () => {
    copyOfUnits()
    const service = join(directory, 'pilotlight.service')
    const said = execFileSync('systemd-analyze', ['security', '--offline=yes', service], { encoding: 'utf8' })
    expect(Number(/exposure level for \S+: ([\d.]+)/.exec(said)?.[1])).toBeLessThan(2)
  })
})

interface Sandbox {
  readonly client: Namespace
  run(...command: readonly string[]): string
  /** Ends with this status; the program of the installed place. */
  pilotlight(...argv: readonly string[]): { readonly status: number | null; readonly stdout: string }
  ask<T>(step: object): T
}

const configuration = `version: 1
dataDir: /var/lib/pilotlight
boot: { tftp: {}, dhcp: { mode: proxy, interface: eth1 }, loaders: { directories: [/etc/pilotlight/loaders] } }
streams: {}
unknown: { profile: worker }
profiles: { worker: { mode: local } }
`

describe.skipIf(problem !== undefined)('under systemd, the units', () => {
  let lab: Lab
  let system: LineProcess | undefined

  beforeEach(() => {
    lab = createLab()
  })
  afterEach(async () => {
    await lab.stop()
  })

  async function startSystem(): Promise<Sandbox> {
    const server = lab.namespace('s')
    const client = lab.namespace('c')
    lab.cable(server, 'eth1', client, 'eth0')
    server.run('ip', 'addr', 'add', '192.0.2.10/24', 'dev', 'eth1')
    client.run('ip', 'addr', 'add', '192.0.2.20/24', 'dev', 'eth0')
    const file = join(directory, 'pilotlight.yaml')
    writeFileSync(file, configuration)
    const started = server.start([
      ...['unshare', '--mount', '--pid', '--uts', '--ipc', '--cgroup', '--fork', '--kill-child'],
      ...[join(import.meta.dirname, 'systemd-sandbox'), repository, process.execPath, file],
    ])
    system = started
    const enter = async (): Promise<readonly string[]> => {
      const children = readFileSync(`/proc/${started.pid}/task/${started.pid}/children`, 'utf8').trim()
      const [child = ''] = children.split(' ')
      if (readFileSync(`/proc/${child}/comm`, 'utf8').trim() !== 'systemd') throw new Error(started.errors())
      return ['nsenter', '-t', child, '-m', '-p', '-n', '-u', '-i', '-r']
    }
    const inside = await eventually(enter, () => true)
    const call = (command: readonly string[]) =>
      spawnSync(inside[0] ?? '', [...inside.slice(1), ...command], { encoding: 'utf8' })
    const run = (...command: readonly string[]): string => {
      const { status, stdout, stderr } = call(command)
      if (status !== 0) {
        const journal = call(['journalctl', '--no-pager', '-n', '20']).stdout
        throw new Error(`${command.join(' ')} ended with ${status}: ${stdout}${stderr}${journal}`)
      }
      return stdout.trim()
    }
    await eventually(
      async () => run('systemctl', 'list-jobs'),
      (jobs) => jobs.includes('No jobs'),
    )
    run('systemd-sysusers')
    run('systemd-tmpfiles', '--create', 'pilotlight.conf')
    return {
      client,
      run,
      pilotlight: (...argv) =>
        call([
          'node',
          '/opt/pilotlight/dist/main.js',
          ...argv,
          '--config',
          '/etc/pilotlight/pilotlight.yaml',
        ]),
      ask: (step) =>
        JSON.parse(
          client.run('node', join(import.meta.dirname, 'boot-client.mjs'), dist, JSON.stringify(step)),
        ),
    }
  }

  const sockets = ['pilotlight-http.socket', 'pilotlight-tftp.socket', 'pilotlight-dhcp@eth1.socket']
  const discover = { do: 'discover', device: 'eth0', forMs: 20_000, isFirstEnough: true }

  /** What a machine on the wire gets: an offer, its loader, its script. */
  function expectBoot({ ask }: Sandbox): void {
    expect(ask(discover)).toMatchObject([
      { from: '192.0.2.10', server: '192.0.2.10', nextServer: '192.0.2.10', bootFile: 'snponly.efi' },
    ])
    expect(ask({ do: 'tftp', address: '192.0.2.10', name: 'autoexec.ipxe' })).toMatchObject({
      kind: 'fetched',
    })
    const script = ask<{ text: string }>({ do: 'http', url: 'http://192.0.2.10/boot.ipxe' })
    expect(script).toMatchObject({ status: 200, text: expect.stringMatching(/^#!ipxe\n/) })
  }

  function rightsOf({ run }: Sandbox): string {
    const pid = run('systemctl', 'show', '-p', 'MainPID', '--value', 'pilotlight')
    return run('cat', `/proc/${pid}/status`)
  }

  it('open the sockets; the service boots a machine without any right', async () => {
    const sandbox = await startSystem()
    const { run, pilotlight } = sandbox
    run('systemctl', 'enable', '--now', ...sockets)
    run('systemctl', 'start', 'pilotlight')
    expectBoot(sandbox)

    const status = rightsOf(sandbox)
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'])
      expect(status).toMatch(new RegExp(`^${set}:\\s+0+$`, 'm'))
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m)
    expect(status).not.toMatch(/^Uid:\s+0\s/m)
    expect(run('stat', '-c', '%U %a', '/var/lib/pilotlight', '/etc/pilotlight')).toBe(
      'pilotlight 700\nroot 750',
    )

    const said = pilotlight('doctor').stdout
    expect(said).toMatch(/rights +ok +the service runs as user \d+ with no capability/)
    for (const port of ['TCP 0.0.0.0:80', 'UDP 0.0.0.0:69', 'UDP 67 on eth1', 'UDP 4011 on eth1'])
      expect(said).toMatch(new RegExp(`ports +ok +${port.replaceAll('.', '\\.')} \\(\\w+\\): ours`))
    expect(said).toContain('eth1: the service offers snponly.efi to UEFI x64')
  })

  it('keep a question that comes while the service is stopped, and start it for the answer', async () => {
    const sandbox = await startSystem()
    const { run } = sandbox
    run('systemctl', 'enable', '--now', ...sockets)
    expect(run('sh', '-c', 'systemctl is-active pilotlight || true')).toBe('inactive')
    expectBoot(sandbox)
    run('systemctl', 'reload', 'pilotlight')
    run('systemctl', 'restart', 'pilotlight')
    expectBoot(sandbox)
    run('systemctl', 'stop', 'pilotlight')
    expect(run('systemctl', 'show', '-p', 'Result', '--value', 'pilotlight')).toBe('success')
  })

  it('let DHCP hear one interface alone: without its name the socket refuses to start', async () => {
    const { run } = await startSystem()
    run('rm', '/etc/systemd/system/pilotlight-dhcp@eth1.socket.d/interface.conf')
    run('systemctl', 'daemon-reload')
    run('sh', '-c', 'systemctl start pilotlight-dhcp@eth1.socket || true')
    expect(run('systemctl', 'show', '-p', 'ActiveState', '--value', 'pilotlight-dhcp@eth1.socket')).toBe(
      'inactive',
    )
    expect(run('ss', '-Hulpn', 'sport', '=', ':67')).toBe('')
  })

  it('work without sockets, too, with NET_BIND_SERVICE alone, as their comment says', async () => {
    const sandbox = await startSystem()
    const { run } = sandbox
    const edits = [
      's/^Sockets=/#&/',
      's/^\\(CapabilityBoundingSet\\|AmbientCapabilities\\)=$/\\1=CAP_NET_BIND_SERVICE/',
      's/^PrivateUsers=/#&/',
    ]
    run('sed', '-i', ...edits.flatMap((edit) => ['-e', edit]), '/etc/systemd/system/pilotlight.service')
    run('systemctl', 'daemon-reload')
    run('systemctl', 'start', 'pilotlight')
    await eventually(
      async () => run('ss', '-Hulpn', 'sport', '=', ':67'),
      (open) => open.includes('node'),
    )
    expectBoot(sandbox)
    expect(rightsOf(sandbox)).toMatch(/^CapEff:\s+0000000000000400$/m)
  })

  it('end with the system', async () => {
    const { run } = await startSystem()
    run('systemctl', 'start', 'pilotlight')
    await system?.stop('SIGKILL')
    expect(await system?.exited).toBeNull()
  })
})
