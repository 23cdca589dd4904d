import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { makeSampleLoader } from '../../dist/runtime/demo/sample-loader.js'
import { firstAddress, lastAddress, serverAddress, subnet } from './wires.mjs'

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
export const loaderBytes = 1 << 20

/** A loader of 1 MiB, as it is served by everybody here. */
export function writeLoader(directory) {
  const { name, bytes } = makeSampleLoader()
  const folder = join(directory, 'loaders')
  mkdirSync(folder, { recursive: true })
  const whole = Buffer.concat([bytes, randomBytes(loaderBytes - bytes.length)])
  writeFileSync(join(folder, name), whole)
  return { folder, name, bytes: whole }
}

/** `proxy`, `server` or no DHCP; always TFTP. `more` goes over the configuration. */
export function pilotlight({ directory, loader, dhcp, more = {} }) {
  const configFile = join(directory, `pilotlight-${dhcp ?? 'tftp'}.yaml`)
  const subnets = [
    {
      subnet,
      ranges: [`${firstAddress}-${lastAddress}`],
      routers: [serverAddress],
      dns: [serverAddress],
      leaseTime: '1h',
    },
  ]
  const settings = { proxy: { mode: 'proxy' }, server: { mode: 'server', subnets } }[dhcp]
  const { boot, ...rest } = {
    dataDir: join(directory, `data-${dhcp ?? 'tftp'}`),
    streams: {},
    profiles: { worker: { mode: 'local' } },
    unknown: { profile: 'worker' },
    ...more,
  }
  const config = {
    version: 1,
    boot: {
      tftp: {},
      loaders: { directories: [loader.folder] },
      ...(settings && { dhcp: { ...settings, interface: 'eth0' } }),
      ...boot,
    },
    ...rest,
  }
  writeFileSync(configFile, stringify(config))
  const argv = [process.execPath, program, 'serve', '--config', configFile]
  return { name: 'pilotlight', argv, isReady: (text) => text.includes('Next, in another terminal') }
}

export function dnsmasq({ directory, loader, dhcp }) {
  const argv = ['dnsmasq', '--conf-file=/dev/null', '--keep-in-foreground', '--port=0', '--user=root']
  argv.push('--interface=eth0', '--bind-interfaces', `--pid-file=${directory}/dnsmasq-${dhcp}.pid`)
  argv.push('--log-facility=/dev/null', '--quiet-dhcp', '--no-ping', '--dhcp-lease-max=100000')
  argv.push(`--dhcp-leasefile=${directory}/dnsmasq-${dhcp}.leases`)
  const network = subnet.split('/')[0]
  if (dhcp === 'proxy') argv.push(`--dhcp-range=${network},proxy,255.255.240.0`, '--pxe-prompt=boot,0')
  if (dhcp === 'proxy')
    for (const kind of ['X86-64_EFI', 'BC_EFI']) argv.push(`--pxe-service=${kind},boot,${loader.name}`)
  if (dhcp === 'server')
    argv.push(`--dhcp-range=${firstAddress},${lastAddress},255.255.240.0,1h`, '--dhcp-authoritative')
  if (dhcp !== undefined) argv.push(`--dhcp-boot=${loader.name},,${serverAddress}`)
  else argv.push('--enable-tftp', `--tftp-root=${loader.folder}`, '--tftp-max=2000')
  return { name: 'dnsmasq', argv }
}

export function iscDhcpd({ directory, loader }) {
  const conf = join(directory, 'dhcpd.conf')
  const leases = join(directory, 'dhcpd.leases')
  writeFileSync(leases, '')
  writeFileSync(
    conf,
    `authoritative; ping-check false; default-lease-time 3600; max-lease-time 3600;
next-server ${serverAddress}; filename "${loader.name}"; option routers ${serverAddress};
subnet ${subnet.split('/')[0]} netmask 255.255.240.0 { range ${firstAddress} ${lastAddress}; }
`,
  )
  const argv = ['dhcpd', '-4', '-f', '-q', '-cf', conf, '-lf', leases, '--no-pid', 'eth0']
  return { name: 'ISC dhcpd', argv }
}

export function tftpdHpa({ loader }) {
  const argv = ['in.tftpd', '-L', '-u', 'root', '-s', loader.folder, '-a', `${serverAddress}:69`]
  return { name: 'tftpd-hpa', argv }
}

/** Those that are installed; the others are named once. */
export function installed(servers) {
  const missing = servers.filter(({ argv: [command] }) => !isInstalled(command))
  if (missing.length > 0)
    console.log(`not installed, so not compared with: ${missing.map(({ name }) => name).join(', ')}`)
  return servers.filter((server) => !missing.includes(server))
}

function isInstalled(command) {
  return spawnSync('sh', ['-c', `command -v ${command}`]).status === 0
}

/** Starts a server at its end of a wire. The command line becomes the server, so its process is the child. */
export async function startOn(wire, { name, argv, isReady }, directory) {
  const [command, ...words] = wire.server(argv)
  const logFile = join(directory, `${name}-${process.hrtime.bigint()}.log`)
  writeFileSync(logFile, '')
  const child = spawn(
    'sh',
    ['-c', 'log=$1; shift; exec "$@" >"$log" 2>&1', 'sh', logFile, command, ...words],
    {
      stdio: 'ignore',
    },
  )
  const exited = once(child, 'exit')
  const until = performance.now() + 30_000
  while (isReady !== undefined && !isReady(readFileSync(logFile, 'utf8'))) {
    if (child.exitCode !== null || performance.now() > until)
      throw new Error(`${name} does not start:\n${readFileSync(logFile, 'utf8')}`)
    await sleep(20)
  }
  // Those that do not say when they are ready.
  if (isReady === undefined) await sleep(1_500)
  if (child.exitCode !== null) throw new Error(`${name} ended:\n${readFileSync(logFile, 'utf8')}`)
  return {
    name,
    pid: child.pid,
    wire,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGTERM')
      await exited
    },
  }
}
