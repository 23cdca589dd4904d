import type { SampleFile, SampleRelease, SampleSet } from './sample-release.ts'

/** Where the sample upstream keeps a file; the shape of the real streams' URLs. */
export function samplePath(release: string, arch: string, file: string): string {
  return `/prod/streams/sample/builds/${release}/${arch}/${file}`
}

/** Where the sample upstream keeps a release's own document. */
export function sampleReleasePath(release: string): string {
  return `/prod/streams/sample/builds/${release}/release.json`
}

/** The stream document of a release, as a CoreOS stream would publish it. */
export function sampleStreamDocument(release: SampleRelease, baseUrl: string, lastModified: string): string {
  const architectures = Object.fromEntries(
    release.sets.map((set) => [
      set.arch,
      {
        artifacts: {
          metal: { release: release.release, formats: { pxe: pxeFormat(release, set, baseUrl) } },
        },
        images: {},
      },
    ]),
  )
  const metadata = { 'last-modified': lastModified, generator: 'pilotlight demo' }
  return `${JSON.stringify({ stream: 'sample', metadata, architectures }, null, 2)}\n`
}

/** The `release.json` of one release: `media`/`artifacts` instead of `artifacts`/`formats`. */
export function sampleReleaseDocument(release: SampleRelease, baseUrl: string): string {
  const architectures = Object.fromEntries(
    release.sets.map((set) => [
      set.arch,
      { media: { metal: { artifacts: { pxe: pxeFormat(release, set, baseUrl) } } } },
    ]),
  )
  return `${JSON.stringify({ release: release.release, stream: 'sample', metadata: {}, architectures }, null, 2)}\n`
}

/** The release index: the only place where a release that is no longer current can be found. */
export function sampleReleaseIndex(releases: readonly SampleRelease[], baseUrl: string): string {
  const entries = releases.map(({ release }) => ({
    version: release,
    metadata: `${baseUrl}${sampleReleasePath(release)}`,
  }))
  return `${JSON.stringify({ stream: 'sample', metadata: {}, releases: entries }, null, 2)}\n`
}

function pxeFormat({ release }: SampleRelease, set: SampleSet, baseUrl: string) {
  const artifact = ({ name, sha256 }: SampleFile) => {
    const location = `${baseUrl}${samplePath(release, set.arch, name)}`
    return { location, signature: `${location}.sig`, sha256 }
  }
  return {
    kernel: artifact(set.kernel),
    initramfs: artifact(set.initramfs),
    rootfs: artifact(set.rootfs),
  }
}
