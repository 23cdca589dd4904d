import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { eventually } from '../fakes/service-process.ts'
import { createLab, type Lab, labProblem, type Namespace } from './namespaces.ts'
import { bootStep, startLabService, wireUp } from './service-lab.ts'

const problem = labProblem()
if (problem) console.log(`metrics and log lines of a boot are not looked at: ${problem}`)

let lab: Lab
let directory: string
beforeEach(() => {
  if (problem) return
  lab = createLab()
  directory = mkdtempSync(join(tmpdir(), 'pilotlight-signals-'))
})
afterEach(async () => {
  if (problem) return
  await lab.stop()
  rmSync(directory, { recursive: true, force: true })
})

const proxy = { dhcp: { mode: 'proxy', interface: 'eth0' } }
const machine = '52:54:00:00:00:01'

async function serve(config?: object) {
  const [server, client] = wireUp(lab, 's', 'c') as [Namespace, Namespace]
  server.run('ip', 'addr', 'add', '192.0.2.10/24', 'dev', 'eth0')
  client.run('ip', 'addr', 'add', '192.0.2.55/24', 'dev', 'eth0')
  const service = await startLabService(server, { directory, boot: proxy, ...(config && { config }) })
  /** Counters that are not at zero. */
  const figures = () => {
    const read = `fetch('http://127.0.0.1:8081/metrics').then(async (answer) => console.log(await answer.text()))`
    return server
      .run(process.execPath, '-e', read)
      .split('\n')
      .filter((line) => /^pilotlight_(dhcp|tftp|boot_steps)\w*_total/.test(line) && !line.endsWith(' 0'))
  }
  const lines = () =>
    service.process
      .errors()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  return { server, client, figures, lines }
}

const discover = { do: 'discover', device: 'eth0', forMs: 1_000, isFirstEnough: true }

describe.skipIf(problem !== undefined)('a boot at the built service', () => {
  it('is counted and told step by step: offer, loader, decision', async () => {
    const { client, figures, lines } = await serve()
    // The service's own look at a loader, as a machine that asks for the size alone.
    const selfTest = ['pilotlight_tftp_transfers_total{outcome="aborted"} 1']
    expect(
      await eventually(
        async () => figures(),
        (found) => found.length > 0,
      ),
    ).toEqual(selfTest)
    bootStep(client, discover)
    bootStep(client, { do: 'tftp', address: '192.0.2.10', name: 'snponly.efi' })
    bootStep(client, { do: 'tftp', address: '192.0.2.10', name: 'missing.efi' })
    bootStep(client, { do: 'http', url: `http://192.0.2.10/ipxe?mac=${machine}&arch=x86_64&platform=efi` })

    const counted = await eventually(
      async () => figures(),
      (found) => found.length >= 9,
    )
    expect(counted.map((line) => line.replace(/(bytes_total) \d+/, '$1 N'))).toEqual([
      'pilotlight_boot_steps_total{step="dhcp"} 1',
      'pilotlight_boot_steps_total{step="tftp"} 1',
      'pilotlight_boot_steps_total{step="decision"} 1',
      'pilotlight_dhcp_packets_total{direction="in",type="discover"} 1',
      'pilotlight_dhcp_packets_total{direction="out",type="offer"} 1',
      'pilotlight_tftp_transfers_total{outcome="served"} 1',
      ...selfTest,
      'pilotlight_tftp_transfers_total{outcome="not-served"} 1',
      'pilotlight_tftp_sent_bytes_total N',
    ])
    const told = await eventually(
      async () => lines(),
      (found) => found.some(({ msg }) => msg === 'boot decided'),
    )
    expect(told).toContainEqual(
      expect.objectContaining({
        level: 'info',
        msg: 'DHCP offer sent',
        mac: machine,
        target: 'snponly.efi',
        decision: 'local',
        reason: 'mode-local',
      }),
    )
    expect(told).toContainEqual(
      expect.objectContaining({
        level: 'info',
        msg: 'tftp file served',
        client: '192.0.2.55',
        file: 'snponly.efi',
        repeatedBlocks: 0,
        durationMs: expect.any(Number),
      }),
    )
  })

  it('has its offers from memory, whatever upstream does (case 59)', async () => {
    // Nobody has this address: connections to it hang.
    const source = { url: 'http://192.0.2.99/streams/stable.json' }
    const { client } = await serve({
      streams: { stable: { source, signatures: 'off' } },
      profiles: { worker: { stream: 'stable', mode: 'live' } },
    })
    for (let times = 0; times < 5; times++) {
      const offers = bootStep<readonly { bootFile: string }[]>(client, { ...discover, forMs: 1_000 })
      expect(offers.map(({ bootFile }) => bootFile)).toEqual(['snponly.efi'])
    }
  })

  it('is of IPv4: sockets for DHCPv6 and TFTP over IPv6 are not opened (case 49)', async () => {
    const { server } = await serve()
    const ports = server
      .run('cat', '/proc/net/udp6')
      .split('\n')
      .slice(1)
      .flatMap((line) => /^\s*\d+: [0-9A-F]+:([0-9A-F]{4})/.exec(line)?.[1] ?? [])
      .map((hex) => Number.parseInt(hex, 16))
    expect(ports.filter((port) => [67, 69, 546, 547, 4011].includes(port))).toEqual([])
  })

  it('that lets every offer pass is told once; one that goes on by HTTP is not', async () => {
    const { client, figures } = await serve()
    const trouble = 'pilotlight_dhcp_troubles_total{trouble="offers-unanswered"} 1'
    const again = (mac: string, xid: number) => bootStep(client, { ...discover, mac, xid })
    for (let times = 0; times < 3; times++) again(machine, 7)
    bootStep(client, { do: 'http', url: `http://192.0.2.10/ipxe?mac=${machine}&arch=x86_64&platform=efi` })
    again(machine, 7)
    expect(figures()).not.toContain(trouble)
    for (let times = 0; times < 4; times++) again('52:54:00:00:00:02', 8)
    expect(figures()).toContain(trouble)
  })
})
