import { expect, test } from 'vitest'
import { createPacketTally } from '../../src/dhcp/packet-tally.ts'
import { createTroubleTally } from '../../src/dhcp/trouble-tally.ts'
import { createMetrics } from '../../src/telemetry/create-metrics.ts'
import { createRequestTally } from '../../src/tftp/request-tally.ts'

function observed() {
  const metrics = createMetrics({ version: '1.2.3', clock: { now: () => 0 }, withProcess: false })
  const packets = createPacketTally()
  const requests = createRequestTally()
  const pool = { subnet: '192.0.2.0/24', size: 100, leased: 3, offered: 2, declined: 1 }
  metrics.observeDhcp(() => ({
    ...packets.counts(),
    troubles: createTroubleTally().counts(),
    pools: [pool],
  }))
  metrics.observeTftp(() => ({ ...requests.counts(), activeTransfers: 7 }))
  const samples = async (name: string) =>
    (await metrics.text()).split('\n').filter((line) => line.startsWith(name))
  return { metrics, packets, requests, samples }
}

test('series of DHCP and TFTP stand at zero before the first packet', async () => {
  const { samples } = observed()
  const counters = [...(await samples('pilotlight_dhcp_')), ...(await samples('pilotlight_tftp_'))].filter(
    (line) => /_total[{ ]/.test(line),
  )
  expect(counters.length).toBeGreaterThan(50)
  for (const line of counters) expect(line).toMatch(/ 0$/)
  expect(counters).toContain('pilotlight_dhcp_packets_total{direction="in",type="discover"} 0')
  expect(counters).toContain('pilotlight_dhcp_packets_total{direction="out",type="offer"} 0')
  expect(counters).toContain('pilotlight_dhcp_ignored_total{reason="not-a-boot-client"} 0')
  expect(counters).toContain('pilotlight_dhcp_troubles_total{trouble="pool-exhausted"} 0')
  expect(counters).toContain('pilotlight_tftp_transfers_total{outcome="served"} 0')
})

test('only what can be has a series: clients send no offer, and we send no discover', async () => {
  const { samples } = observed()
  const names = (await samples('pilotlight_dhcp_packets_total')).map((line) => /\{(.*)\}/.exec(line)?.[1])
  expect(names).toEqual([
    ...['discover', 'request', 'decline', 'release', 'inform', 'other'].map(
      (type) => `direction="in",type="${type}"`,
    ),
    ...['offer', 'ack', 'nak'].map((type) => `direction="out",type="${type}"`),
  ])
})

test('each scrape reads the figures of its moment', async () => {
  const { packets, samples } = observed()
  packets.noteReply(1, 'offer')
  packets.noteReply(3, 'refuse')
  packets.noteSilence(3, 'not-for-proxy')
  const text = [
    ...(await samples('pilotlight_dhcp_packets_total')),
    ...(await samples('pilotlight_dhcp_ignored_total')),
  ].filter((line) => !line.endsWith(' 0'))
  expect(text).toEqual([
    'pilotlight_dhcp_packets_total{direction="in",type="discover"} 1',
    'pilotlight_dhcp_packets_total{direction="in",type="request"} 2',
    'pilotlight_dhcp_packets_total{direction="out",type="offer"} 1',
    'pilotlight_dhcp_packets_total{direction="out",type="nak"} 1',
    'pilotlight_dhcp_ignored_total{reason="not-for-proxy"} 1',
  ])
  packets.noteReply(1, 'offer')
  expect(await samples('pilotlight_dhcp_packets_total{direction="in",type="discover"}')).toEqual([
    'pilotlight_dhcp_packets_total{direction="in",type="discover"} 2',
  ])
})

test('pools and transfers under way are gauges', async () => {
  const { samples } = observed()
  expect([
    ...(await samples('pilotlight_dhcp_pool_addresses')),
    ...(await samples('pilotlight_dhcp_leases')),
    ...(await samples('pilotlight_tftp_transfers ')),
  ]).toEqual([
    'pilotlight_dhcp_pool_addresses{subnet="192.0.2.0/24"} 100',
    'pilotlight_dhcp_leases{subnet="192.0.2.0/24",state="leased"} 3',
    'pilotlight_dhcp_leases{subnet="192.0.2.0/24",state="offered"} 2',
    'pilotlight_dhcp_leases{subnet="192.0.2.0/24",state="declined"} 1',
    'pilotlight_tftp_transfers 7',
  ])
})
