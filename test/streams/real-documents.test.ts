import { describe, expect, it } from 'vitest'
import type { ParseHints } from '../../src/streams/metadata.ts'
import { parseDocument } from '../../src/streams/parse-document.ts'
import { resolveBootimages } from '../../src/streams/resolve.ts'
import { haveRealDocuments, readRealDocument, realDocumentNames } from '../fixtures/streams/real-documents.ts'

/** What each real document resolves to: format, label, then `arch release kind` of every bootimage. */
const expected: Readonly<Record<string, readonly string[]>> = {
  'configmap/4.10-coreos-bootimages.yaml': [
    'configmap rhcos-4.10',
    'aarch64 410.84.202111111403-0 live',
    'ppc64le 410.84.202111111404-0 live',
    's390x 410.84.202111111403-0 live',
    'x86_64 410.84.202111111322-0 live',
  ],
  'configmap/4.8-coreos-bootimages.yaml': [
    'configmap rhcos-4.8',
    'ppc64le 48.84.202104261624-0 live',
    's390x 48.84.202104271619-0 live',
    'x86_64 48.84.202104271417-0 live',
  ],
  'configmap/derived-4.22-coreos-bootimages.yaml': [
    'configmap rhcos-4.21',
    'aarch64 9.8.20260428-0 live',
    'ppc64le 9.8.20260428-0 live',
    's390x 9.8.20260428-0 live',
    'x86_64 9.8.20260428-0 live',
  ],
  'cosa-meta/fcos-31.20200310.20.0-meta.json': ['cosa-meta -', 'x86_64 31.20200310.20.0 live'],
  'fcos/release-index/sample.json': ['release-index testing: 2 releases, 30.20190801.0 to 30.20190905.0'],
  'fcos/release-index/stable-fixture.json': [
    'release-index stable: 26 releases, 31.20200108.3.0 to 33.20201214.3.1',
  ],
  'fcos/release/33.20201201.3.0-fixture.json': ['release stable', 'x86_64 33.20201201.3.0 live'],
  'fcos/release/sample.json': ['release testing', 'x86_64 30.20190801.0 live'],
  'fcos/stream-sample/fcos-stream-fixture.json': ['stream stable', 'x86_64 33.20201201.3.0 live'],
  'fcos/stream-sample/sample.json': ['stream stable', 'x86_64 33.20210412.3.0 live'],
  'fcos/streams/next-20230317-37.20230303.1.0-rolled-back.json': [
    'stream next',
    'aarch64 37.20230303.1.0 live',
    's390x 37.20230303.1.0 live',
    'x86_64 37.20230303.1.0 live',
  ],
  'fcos/streams/next-newest.json': [
    'stream next',
    'aarch64 44.20260720.1.1 live',
    'ppc64le 44.20260720.1.1 live',
    's390x 44.20260720.1.1 live',
    'x86_64 44.20260720.1.1 live',
  ],
  'fcos/streams/stable-20200111-31.20200108.3.0-first-stable.json': [
    'stream stable',
    'x86_64 31.20200108.3.0 live without rootfs',
  ],
  'fcos/streams/stable-20200812-32.20200726.3.1-first-rootfs.json': [
    'stream stable',
    'x86_64 32.20200726.3.1 live',
  ],
  'fcos/streams/stable-20210907-34.20210821.3.0-aarch64.json': [
    'stream stable',
    'aarch64 34.20210821.3.0 live',
    'x86_64 34.20210821.3.0 live',
  ],
  'fcos/streams/stable-20220706-36.20220618.3.1-s390x.json': [
    'stream stable',
    'aarch64 36.20220618.3.1 live',
    's390x 36.20220618.3.1 live',
    'x86_64 36.20220618.3.1 live',
  ],
  'fcos/streams/stable-20250429-42-new-kernel-name.json': [
    'stream stable',
    'aarch64 42.20250410.3.1 live',
    'ppc64le 42.20250410.3.1 live',
    's390x 42.20250410.3.1 live',
    'x86_64 42.20250410.3.1 live',
  ],
  'fcos/streams/stable-newest.json': [
    'stream stable',
    'aarch64 44.20260707.3.1 live',
    'ppc64le 44.20260707.3.1 live',
    's390x 44.20260707.3.1 live',
    'x86_64 44.20260707.3.1 live',
  ],
  'fcos/streams/testing-20190715-30.20190715.0-oldest.json': [
    'stream testing',
    'x86_64 30.20190715.0 legacy-installer metal',
  ],
  'fcos/streams/testing-20191016-30.20191014.0-both-pxe.json': [
    'stream testing',
    'x86_64 30.20191014.0 live without rootfs',
  ],
  'fcos/streams/testing-newest.json': [
    'stream testing',
    'aarch64 44.20260720.2.1 live',
    'ppc64le 44.20260720.2.1 live',
    's390x 44.20260720.2.1 live',
    'x86_64 44.20260720.2.1 live',
  ],
  'fcos/updates/next-20230321-deadend.json': ['refused: : found rollout metadata (updates)'],
  'fcos/updates/next-newest.json': ['refused: : found rollout metadata (updates)'],
  'fcos/updates/stable-20200519-no-rollouts.json': ['refused: releases: found none'],
  'fcos/updates/stable-20211123-barrier-and-rollout.json': ['refused: : found rollout metadata (updates)'],
  'fcos/updates/stable-newest.json': ['refused: : found rollout metadata (updates)'],
  'fcos/updates/testing-newest.json': ['refused: : found rollout metadata (updates)'],
  'related/assisted-service-default_os_images.json': ['refused: : found an array'],
  'rhcos/legacy/4.1-rhcos.json': [
    'rhcos -',
    'x86_64 410.8.20190520.0 legacy-installer metal-bios metal-uefi',
  ],
  'rhcos/legacy/4.2-rhcos-amd64.json': [
    'rhcos -',
    'x86_64 42.80.20191002.0 legacy-installer metal-bios metal-uefi',
  ],
  'rhcos/legacy/4.3-rhcos-amd64.json': ['rhcos -', 'x86_64 43.82.202008010953.0 legacy-installer metal'],
  'rhcos/legacy/4.4-rhcos-amd64.json': ['rhcos -', 'x86_64 44.82.202008011133-0 legacy-installer metal'],
  'rhcos/legacy/4.5-rhcos-amd64.json': ['rhcos -', 'x86_64 45.82.202008010929-0 legacy-installer metal'],
  'rhcos/legacy/4.5-rhcos-s390x.json': ['rhcos -', 's390x 45.82.202006240257-0 legacy-installer metal dasd'],
  'rhcos/legacy/4.6-rhcos-amd64.json': ['rhcos -', 'x86_64 46.82.202109242004-0 live'],
  'rhcos/legacy/4.6-rhcos-s390x.json': ['rhcos -', 's390x 46.82.202109180304-0 live'],
  'rhcos/legacy/4.7-rhcos-amd64.json': ['rhcos -', 'x86_64 47.84.202109241831-0 live'],
  'rhcos/legacy/4.7-rhcos-ppc64le.json': ['rhcos -', 'ppc64le 47.84.202109242011-0 live'],
  'rhcos/legacy/4.8-rhcos-aarch64.json': ['rhcos -', 'aarch64 48.84.202106171757-0 live'],
  'rhcos/legacy/4.8-rhcos-amd64.json': ['rhcos -', 'x86_64 48.84.202109241901-0 live'],
  'rhcos/not-a-stream/marketplace-coreos-rhel-9.json': [
    'refused: : found architectures at top level (marketplace data?)',
  ],
  'rhcos/stream/4.10-release.json': [
    'stream rhcos-4.10',
    'aarch64 410.84.202210040011-0 live',
    'ppc64le 410.84.202210040023-0 live',
    's390x 410.84.202210040017-0 live',
    'x86_64 410.84.202210040010-0 live',
  ],
  'rhcos/stream/4.11-release.json': [
    'stream rhcos-4.11',
    'aarch64 411.86.202308081056-0 live',
    'ppc64le 411.86.202308081056-0 live',
    's390x 411.86.202308081056-0 live',
    'x86_64 411.86.202308081056-0 live',
  ],
  'rhcos/stream/4.12-release.json': [
    'stream rhcos-4.12',
    'aarch64 412.86.202402272018-0 live',
    'ppc64le 412.86.202402272018-0 live',
    's390x 412.86.202402272018-0 live',
    'x86_64 412.86.202402272018-0 live',
  ],
  'rhcos/stream/4.14-master.json': [
    'stream rhcos-4.14',
    'aarch64 414.92.202304131328-0 live',
    'ppc64le 414.92.202304131328-0 live',
    's390x 414.92.202304131328-0 live',
    'x86_64 414.92.202304131328-0 live',
  ],
  'rhcos/stream/4.16-release.json': [
    'stream rhcos-4.16',
    'aarch64 416.94.202501270445-0 live',
    'ppc64le 416.94.202501270445-0 live',
    's390x 416.94.202501270445-0 live',
    'x86_64 416.94.202501270445-0 live',
  ],
  'rhcos/stream/4.17-release.json': [
    'stream rhcos-4.17',
    'aarch64 417.94.202501301529-0 live',
    'ppc64le 417.94.202501301529-0 live',
    's390x 417.94.202501301529-0 live',
    'x86_64 417.94.202501301529-0 live',
  ],
  'rhcos/stream/4.18-release.json': [
    'stream rhcos-4.18',
    'aarch64 418.94.202501221327-0 live',
    'ppc64le 418.94.202501221327-0 live',
    's390x 418.94.202501221327-0 live',
    'x86_64 418.94.202501221327-0 live',
  ],
  'rhcos/stream/4.19-master-20250122.json': [
    'stream rhcos-4.19',
    'aarch64 9.6.20250121-0 live',
    'ppc64le 9.6.20250121-0 live',
    's390x 9.6.20250121-0 live',
    'x86_64 9.6.20250121-0 live',
  ],
  'rhcos/stream/4.21-release.json': [
    'stream rhcos-4.21',
    'aarch64 9.6.20251212-1 live',
    'ppc64le 9.6.20251212-1 live',
    's390x 9.6.20251212-1 live',
    'x86_64 9.6.20251212-1 live',
  ],
  'rhcos/stream/4.22-rhel-10-newest.json': [
    'stream rhcos-4.22',
    'aarch64 10.2.20260423-0 live',
    'ppc64le 10.2.20260423-0 live',
    's390x 10.2.20260423-0 live',
    'x86_64 10.2.20260423-0 live',
  ],
  'rhcos/stream/4.22-rhel-9-newest.json': [
    'stream rhcos-4.21',
    'aarch64 9.8.20260428-0 live',
    'ppc64le 9.8.20260428-0 live',
    's390x 9.8.20260428-0 live',
    'x86_64 9.8.20260428-0 live',
  ],
  'rhcos/stream/4.8-first-20210324.json': [
    'stream rhcos-4.8',
    'ppc64le 47.83.202102091015-0 live',
    's390x 47.83.202102090311-0 live',
    'x86_64 48.83.202103221318-0 live',
  ],
  'rhcos/stream/4.8-release.json': [
    'stream rhcos-4.8',
    'aarch64 48.84.202106171757-0 live',
    'ppc64le 48.84.202109242319-0 live',
    's390x 48.84.202109242104-0 live',
    'x86_64 48.84.202109241901-0 live',
  ],
  'rhcos/stream/4.9-release.json': [
    'stream rhcos-4.9',
    'aarch64 49.84.202207192128-0 live',
    'ppc64le 49.84.202207212012-0 live',
    's390x 49.84.202207192141-0 live',
    'x86_64 49.84.202207192205-0 live',
  ],
  'schema/cosa-meta-v1-schema.json': [
    'refused: : found an object with definitions, $schema, $id, type, title, required, optional, additionalProperties, …',
  ],
  'schema/fcos-release-index-schema.json': [
    'refused: : found an object with definitions, $schema, type, title, description, required, properties',
  ],
  'schema/fcos-updates-schema.json': [
    'refused: : found an object with definitions, $schema, type, title, description, required, properties',
  ],
  'scos/stream/c10s-newest.json': [
    'stream c10s',
    'aarch64 10.0.20251103-0 live',
    'ppc64le 10.0.20251103-0 live',
    's390x 10.0.20251103-0 live',
    'x86_64 10.0.20251103-0 live',
  ],
  'scos/stream/c9s-20250226.json': [
    'stream c9s',
    'aarch64 9.0.20250222-0 live',
    'ppc64le 9.0.20250222-0 live',
    's390x 9.0.20250222-0 live',
    'x86_64 9.0.20250222-0 live',
  ],
}

function summary(name: string, hints: ParseHints): readonly string[] {
  const metadata = parseDocument(readRealDocument(name), hints)
  if (metadata.format === 'release-index') {
    const { label, releases } = metadata
    const span = `${releases[0]?.version} to ${releases.at(-1)?.version}`
    return [`release-index ${label}: ${releases.length} releases, ${span}`]
  }
  const { bootimages, problems } = resolveBootimages(metadata, 'some-stream')
  return [
    `${metadata.format} ${metadata.label ?? '-'}`,
    ...bootimages.map(({ arch, release, kind, rootfs, disks }) => {
      const lacksRootfs = kind === 'live' && rootfs === undefined ? ['without rootfs'] : []
      return [arch, release, kind, ...lacksRootfs, ...disks.map(({ variant }) => variant)].join(' ')
    }),
    ...problems.map(({ message }) => `problem: ${message}`),
  ]
}

function refusal(name: string): string {
  try {
    return `accepted: ${summary(name, {})}`
  } catch (error) {
    const { details } = error as { details: { field: string; found: string } }
    return `refused: ${details.field}: found ${details.found}`
  }
}

describe.skipIf(!haveRealDocuments)('real documents', () => {
  it('those that are not in the table are metadata or refused as none', () => {
    const others = realDocumentNames.filter((name) => !Object.hasOwn(expected, name))
    for (const name of others) expect(refusal(name)).toMatch(/^(?:accepted|refused): /)
    expect(realDocumentNames.length - others.length).toBe(Object.keys(expected).length)
  })

  it.each(Object.entries(expected))('%s', (name, rows) => {
    // The build record names files only; everything else needs no help.
    const hints = name.startsWith('cosa-meta/') ? { baseUrl: 'https://builds.example/' } : {}
    if (rows[0]?.startsWith('refused')) expect(refusal(name)).toBe(rows[0])
    else expect(summary(name, hints)).toEqual(rows)
  })

  it('the ConfigMap of 4.22 has two streams, each by its name', () => {
    const name = 'configmap/derived-4.22-coreos-bootimages.yaml'
    expect(summary(name, { configMapStream: 'rhel-9' })[1]).toBe('aarch64 9.8.20260428-0 live')
    expect(summary(name, { configMapStream: 'rhel-10' })[1]).toBe('aarch64 10.2.20260423-0 live')
  })

  it('every artifact of every document has an absolute location, a digest and a safe name', () => {
    let artifacts = 0
    for (const [name, rows] of Object.entries(expected)) {
      if (rows[0]?.startsWith('refused') || rows[0]?.startsWith('release-index')) continue
      const metadata = parseDocument(readRealDocument(name), { baseUrl: 'https://builds.example/' })
      if (metadata.format === 'release-index') continue
      for (const { kernel, initramfs, rootfs, disks } of resolveBootimages(metadata, 's').bootimages)
        for (const artifact of [kernel, initramfs, ...(rootfs === undefined ? [] : [rootfs]), ...disks]) {
          expect(artifact.location).toMatch(/^https:\/\//)
          expect(artifact.sha256).toMatch(/^[0-9a-f]{64}$/)
          expect(artifact.name).toBe(artifact.location.split('/').at(-1))
          artifacts++
        }
    }
    expect(artifacts).toBeGreaterThan(300)
  })
})
