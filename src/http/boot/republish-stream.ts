import { type CatalogStream, handedOut, type ReadyBootimage, type ServedFile } from '../../core/catalog.ts'
import { urlFileName } from '../../render/script-text.ts'
import { streamPlacesOf } from './stream-layout.ts'

interface RepublishedArtifact {
  readonly location: string
  readonly signature?: string
  readonly sha256: string
}

interface RepublishedPlatform {
  readonly release: string
  readonly formats: Record<string, Record<string, RepublishedArtifact>>
}

/** Stream metadata in the shape that CoreOS tools read (facts: stream metadata §2). */
export interface RepublishedStream {
  readonly stream: string
  readonly metadata: { readonly 'last-modified': string; readonly generator: string }
  readonly architectures: Record<string, { readonly artifacts: Record<string, RepublishedPlatform> }>
}

/**
 * What is current here as stream metadata, with every location pointing to our verified copy. Signatures appear only
 * where one is kept: tools take a signature that is named and missing for an attack. `undefined` while no
 * architecture has a bootimage that can be served.
 */
export function republishStream(stream: CatalogStream, baseUrl: string): RepublishedStream | undefined {
  const architectures: RepublishedStream['architectures'] = {}
  let newest = 0
  for (const entry of stream.byArch.values()) {
    const image = handedOut(entry)
    if (image === undefined) continue
    architectures[entry.arch] = { artifacts: artifactsOfImage(image, baseUrl) }
    newest = Math.max(newest, image.kernel.modifiedAt, image.initramfs.modifiedAt)
  }
  if (Object.keys(architectures).length === 0) return undefined
  const lastModified = new Date(stream.lastModified ?? newest)
  return {
    stream: stream.label ?? stream.name,
    metadata: {
      'last-modified': `${lastModified.toISOString().slice(0, 19)}Z`,
      generator: 'pilotlight',
    },
    architectures,
  }
}

function artifactsOfImage(image: ReadyBootimage, baseUrl: string): Record<string, RepublishedPlatform> {
  // Variants are the document's words: no prototype that one of them could name.
  const platforms: Record<string, RepublishedPlatform> = Object.create(null)
  for (const { platform, format, artifact, file } of streamPlacesOf(image)) {
    platforms[platform] ??= { release: image.bootimage.release, formats: {} }
    const { formats } = platforms[platform]
    formats[format] ??= {}
    formats[format][artifact] = republishFile(file, baseUrl)
  }
  return platforms
}

function republishFile(file: ServedFile, baseUrl: string): RepublishedArtifact {
  const location = `${baseUrl}/artifacts/${file.sha256}/${urlFileName(file.name)}`
  if (file.signaturePath === undefined) return { location, sha256: file.sha256 }
  return { location, signature: `${location}.sig`, sha256: file.sha256 }
}
