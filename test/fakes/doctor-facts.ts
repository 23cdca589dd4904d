import type { Sha256 } from '../../src/core/digest.ts'
import type { LoaderCatalogue, ServedLoader } from '../../src/core/loader.ts'
import type { OfferFacts } from '../../src/doctor/check-dhcp.ts'
import type { ServiceFacts } from '../../src/doctor/check-service.ts'
import type { DoctorFacts } from '../../src/doctor/diagnose.ts'

type Running = Extract<ServiceFacts, { readonly state: 'running' }>

export function runningService(changes: Partial<Running> = {}): Running {
  const parts = ['boot-http', 'tftp', 'dhcp', 'state'].map((part) => ({ part, ready: true }))
  return { state: 'running', pid: 4242, parts, servedStreams: ['fcos-stable'], ...changes }
}

export function servedLoader(name: string, changes: Partial<ServedLoader> = {}): ServedLoader {
  return {
    name,
    path: `/usr/lib/ipxe/${name}`,
    sizeBytes: 1_000_000,
    modifiedAt: 0,
    sha256: 'a'.repeat(64) as Sha256,
    kind: 'ipxe',
    version: '1.21.1',
    features: { http: true, https: true, vlan: true },
    ...changes,
  }
}

export function loaderCatalogue(loaders: readonly ServedLoader[]): LoaderCatalogue {
  return {
    loaders: new Map(loaders.map((loader) => [loader.name, loader])),
    sets: new Map(),
    refused: [],
    missing: [{ name: 'undionly.kpxe', platform: 'bios', remedy: 'apt install ipxe' }],
  }
}

/** What the DHCP server of a site answers that knows nothing of booting. */
export const dnsmasqOffer: OfferFacts = { server: '192.0.2.1', address: '192.0.2.101', isOurs: false }

/** A machine on which all is well, and a service that runs on it. */
export function healthyFacts(changes: Partial<DoctorFacts> = {}): DoctorFacts {
  const holders = [{ pid: 4242, program: 'node' }]
  const ours = { bind: 'taken', holders } as const
  return {
    service: runningService(),
    patterns: [
      {
        code: 'loader-loop',
        title: 'the loader starts itself again and again',
        remedy: 'Give iPXE the script, and the firmware the loader.',
        machines: [],
        diagnoses: [],
        count: 0,
      },
    ],
    ports: [
      { purpose: 'boot', protocol: 'tcp', host: '0.0.0.0', port: 80, ...ours },
      { purpose: 'admin', protocol: 'tcp', host: '127.0.0.1', port: 8081, ...ours },
      { purpose: 'TFTP', protocol: 'udp', host: '0.0.0.0', port: 69, ...ours },
      { purpose: 'DHCP', protocol: 'udp', port: 67, interface: 'eth1', ...ours },
      { purpose: 'proxyDHCP', protocol: 'udp', port: 4011, interface: 'eth1', ...ours },
    ],
    rights: {
      uid: 990,
      mayOpenLowPorts: false,
      firstOpenPort: 1024,
      canBindToDevice: true,
      service: { uid: 990, capabilities: [] },
    },
    addresses: {
      interfaces: [{ name: 'eth1', exists: true, isUp: true, hasLink: true, addresses: ['192.0.2.10'] }],
      ownAddresses: ['127.0.0.1', '192.0.2.10'],
    },
    wires: [
      {
        interface: 'eth1',
        outcome: {
          kind: 'asked',
          offers: [
            dnsmasqOffer,
            { server: '192.0.2.10', nextServer: '192.0.2.10', bootFile: 'snponly.efi', isOurs: true },
          ],
        },
      },
    ],
    loaders: {
      catalogue: loaderCatalogue([servedLoader('snponly.efi'), servedLoader('undionly.kpxe')]),
      firstLoaders: { bios: 'undionly.kpxe', 'efi-x64': 'snponly.efi' },
      chosen: [],
    },
    fetches: [
      {
        via: 'tftp',
        target: 'snponly.efi',
        address: '192.0.2.10',
        outcome: { kind: 'fetched', sizeBytes: 1_000_000, milliseconds: 20 },
      },
      {
        via: 'http',
        target: 'http://192.0.2.10/boot.ipxe',
        address: '192.0.2.10',
        outcome: { kind: 'fetched', sizeBytes: 1300, milliseconds: 2 },
      },
    ],
    upstreams: [
      {
        stream: 'fcos-stable',
        source: 'https://builds.example/streams/stable.json',
        outcome: { kind: 'read', milliseconds: 120, missing: [], releases: ['44.20261101.3.0'] },
      },
    ],
    disk: { path: '/var/lib/pilotlight', freeBytes: 80 * 2 ** 30, reserveBytes: 256 * 2 ** 20 },
    clock: { now: Date.parse('2026-11-29T12:00:00Z'), serverTimes: [Date.parse('2026-11-29T12:00:01Z')] },
    dataDirectory: {
      path: '/var/lib/pilotlight',
      kind: 'directory',
      uid: 990,
      mode: 0o700,
      isWritable: true,
      ownUid: 990,
    },
    ...changes,
  }
}
