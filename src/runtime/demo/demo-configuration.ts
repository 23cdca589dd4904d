import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { SampleLoader } from './sample-loader.ts'
import type { SampleUpstream } from './sample-upstream.ts'

export const pinnedMac = '52:54:00:00:00:02'

/** Writes the demo's configuration, as an admin would, and tells where. Everything listens on loopback. */
export async function writeDemoConfiguration(options: {
  readonly directory: string
  readonly upstream: SampleUpstream
  readonly bootPort: number
  readonly adminPort: number
  readonly pinnedRelease: string
  readonly loader: SampleLoader
  /** Where DHCP answers; absent: neither DHCP nor TFTP. */
  readonly dhcpInterface?: string
}): Promise<string> {
  const { directory, upstream, bootPort, adminPort, pinnedRelease, loader, dhcpInterface } = options
  const loaders = join(directory, 'loaders')
  await mkdir(loaders, { recursive: true })
  await writeFile(join(loaders, loader.name), loader.bytes)
  await mkdir(join(directory, 'hosts.d'), { recursive: true })
  await writeFile(join(directory, 'sample-key.asc'), upstream.publicKey)
  const hosts = {
    version: 1,
    hosts: [
      {
        id: 'pinned-node',
        macs: [pinnedMac],
        profile: 'worker',
        pin: { release: pinnedRelease, reason: 'the demo pins it' },
      },
    ],
  }
  await writeFile(join(directory, 'hosts.d', 'demo.yaml'), stringify(hosts))
  const config = {
    version: 1,
    dataDir: join(directory, 'data'),
    boot: {
      http: { listen: `127.0.0.1:${bootPort}` },
      loaders: { directories: ['loaders'] },
      ...(dhcpInterface === undefined
        ? {}
        : { tftp: { listen: '127.0.0.1:0' }, dhcp: { mode: 'proxy', interface: dhcpInterface } }),
    },
    admin: { listen: `127.0.0.1:${adminPort}` },
    streams: {
      sample: {
        source: { url: upstream.streamUrl, releaseIndex: upstream.releaseIndexUrl },
        architectures: ['x86_64', 'aarch64'],
        refresh: '1h',
        signatures: 'required',
        keys: ['sample-key.asc'],
      },
    },
    profiles: {
      worker: { stream: 'sample', mode: 'live', kernelArguments: ['console=tty0', 'console=ttyS0,115200n8'] },
    },
    unknown: { profile: 'worker' },
    hosts: { directory: 'hosts.d' },
  }
  const file = join(directory, 'pilotlight.yaml')
  await writeFile(file, stringify(config))
  return file
}
