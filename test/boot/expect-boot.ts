import { expect } from 'vitest'
import { type BootReport, saidAtHome, sentDigests, wordOf } from './boot-report.ts'
import { type BootSite, streamName } from './boot-site.ts'
import { type PayloadRelease, roles } from './payload.ts'

/**
 * The machine booted this release and nothing else: the digests of kernel and initramfs as they went over the wire,
 * and of the root file system as the node fetched it, are those of the release.
 */
export function expectRelease(report: BootReport, { release, digests }: PayloadRelease): void {
  expect(report.problem).toBeNull()
  expect(wordOf(saidAtHome(report, 'marker'), 'release')).toBe(release)
  expect(report.capture_lost).toBe(0)
  for (const role of ['kernel', 'initramfs'] as const)
    expect([role, ...sentDigests(report, digests[role])]).toEqual([role, digests[role]])
  const rootfs = saidAtHome(report, 'fetched rootfs')
  expect(wordOf(rootfs, 'sha256')).toBe(digests.rootfs)
  expect(wordOf(rootfs, 'head')).toBe(wordOf(rootfs, 'bytes'))
}

/** The same, and the service's own list of what it serves says so too. */
export function expectBoot(site: BootSite, report: BootReport, made: PayloadRelease): void {
  expectRelease(report, made)
  const current = site
    .bootimages()
    .filter(({ stream, roles }) => stream === streamName && roles.includes('current'))
  expect(current.map(({ release }) => release)).toEqual([made.release])
  const served = Object.fromEntries(current[0]?.artifacts.map(({ role, sha256 }) => [role, sha256]) ?? [])
  expect(served).toEqual(Object.fromEntries(roles.map((role) => [role, made.digests[role]])))
}
