import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import type { Service } from '../service.ts'
import type { DemoWire } from './demo-wire.ts'
import type { SampleLoader } from './sample-loader.ts'
import type { SampleFile, SampleRelease, SampleSet } from './sample-release.ts'
import type { SampleUpstream } from './sample-upstream.ts'
import { bootSimulatedNode, type NodeBoot, type NodeFetch } from './simulated-node.ts'
import type { Story } from './story.ts'

export interface DemoStage {
  readonly story: Story
  readonly service: Service
  readonly upstream: SampleUpstream
  /** Oldest first: pinned, followed at first, moved to. */
  readonly releases: readonly SampleRelease[]
  readonly loader: SampleLoader
  /** Absent where the loopback cannot carry DHCP. */
  readonly wire?: DemoWire
}

export type Arch = SampleSet['arch']

/** A node boots from the service: the usual one, unless another MAC is given. */
export function boot(
  { service }: DemoStage,
  arch: Arch,
  options: {
    readonly mac?: string
    readonly baseUrl?: string
    readonly onFetched?: (fetch: NodeFetch) => Promise<void>
  } = {},
): Promise<NodeBoot> {
  return bootSimulatedNode({
    baseUrl: options.baseUrl ?? service.bootUrl,
    mac: options.mac ?? '52:54:00:00:00:01',
    buildArch: arch === 'aarch64' ? 'arm64' : 'x86_64',
    platform: 'efi',
    sleep: () => new Promise((resolve) => setTimeout(resolve, 100)),
    ...(options.onFetched === undefined ? {} : { onFetched: options.onFetched }),
  })
}

export function showFetches(story: Story, { fetches }: NodeBoot): void {
  for (const { what, sizeBytes, sha256, milliseconds } of fetches) {
    const size = sizeBytes < 10_000 ? `${sizeBytes} bytes` : `${(sizeBytes / 2 ** 20).toFixed(1)} MiB`
    story.tell(
      `${what.padEnd(7)} ${size.padStart(10)} in ${milliseconds.toFixed(0)} ms, sha256 ${sha256.slice(0, 16)}…`,
    )
  }
}

/** Whether kernel, initramfs and rootfs that the node hashed are those of that release and nothing else. */
export function isOf({ fetches }: NodeBoot, release: SampleRelease, arch: Arch): boolean {
  const set = release.sets.find((candidate) => candidate.arch === arch)
  if (set === undefined) return false
  const fetched = (what: NodeFetch['what']) =>
    fetches.filter((fetch) => fetch.what === what).map(({ sha256 }) => sha256)
  const isOne = (found: readonly string[], file: SampleFile) => found.length === 1 && found[0] === file.sha256
  const kernel = fetched('kernel')
  const isKernel =
    arch === 'aarch64'
      ? kernel.length === 1 && kernel[0] === digestOf(gunzipSync(set.kernel.bytes))
      : isOne(kernel, set.kernel)
  return isKernel && isOne(fetched('initrd'), set.initramfs) && isOne(fetched('rootfs'), set.rootfs)
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
