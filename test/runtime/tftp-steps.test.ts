import { describe, expect, it } from 'vitest'
import type { CatalogSource } from '../../src/core/catalog.ts'
import { parseSha256 } from '../../src/core/digest.ts'
import { type LoaderCatalogue, noLoaders, type ServedLoader } from '../../src/core/loader.ts'
import { bootStepOfTftp } from '../../src/runtime/tftp-steps.ts'
import { createTftpSubject } from '../../src/runtime/tftp-subject.ts'
import { bootLogLine } from '../../src/telemetry/boot-log.ts'
import { createMetrics } from '../../src/telemetry/create-metrics.ts'
import type { TftpEvent } from '../../src/tftp/event.ts'
import type { TftpPath } from '../../src/tftp/file-name.ts'
import { classifyName } from '../../src/tftp/tftp-name.ts'
import { mac } from '../dhcp/support.ts'

const machine = mac('52:54:00:ab:cd:ef')
const client = { address: '192.0.2.55', port: 1025, localAddress: '192.0.2.10' }
const digest = 'ab'.repeat(32)
const sha256 = parseSha256(digest)
const loader = (kind: string, platform?: string) => ({ kind, platform }) as ServedLoader
const loaders: LoaderCatalogue = {
  ...noLoaders,
  loaders: new Map([
    ['snponly.efi', loader('ipxe', 'efi-x64')],
    ['snponly-arm64.efi', loader('ipxe', 'efi-arm64')],
    ['undionly.kpxe', loader('ipxe', 'bios')],
    ['bootcode.bin', loader('unknown')],
    ['fonts.pf2', loader('unknown')],
  ]),
}
const catalog = {
  current: () => ({ files: new Map([[sha256, { role: 'initramfs' }]]) }),
} as unknown as CatalogSource
const subjectOf = createTftpSubject({ catalog, loaders: { current: () => loaders } })
const step = (event: TftpEvent, seen = true) =>
  bootStepOfTftp(event, { subjectOf, macOf: () => (seen ? machine : undefined) })

const name = (path: string) => classifyName(path as TftpPath)
const started = (path: string): TftpEvent => ({
  type: 'started',
  at: 5,
  client,
  name: name(path),
  sizeBytes: 900,
})
const ended = (
  deliveredBytes: number,
  more: Partial<Extract<TftpEvent, { type: 'ended' }>> = {},
): TftpEvent => ({
  type: 'ended',
  at: 5,
  client,
  name: name('snponly.efi'),
  isSizeAsked: true,
  outcome: deliveredBytes === 0 ? 'aborted' : 'served',
  figures: {
    sizeBytes: 900,
    deliveredBytes,
    blockSize: 1468,
    windowSize: 4,
    repeatedBlocks: 0,
    durationMs: 12,
  },
  ...more,
})
const refused = (path: string, reason: 'not-served' | 'file-empty' | 'malformed'): TftpEvent => ({
  type: 'refused',
  at: 5,
  client,
  reason,
  code: 1,
  message: 'File not found',
  displayName: path,
  ...(path === '' ? {} : { name: name(path) }),
})

describe('a step of a boot by TFTP', () => {
  it('is a transfer that brought something, with the machine that DHCP saw at that address', () => {
    expect(step(ended(900))).toEqual({
      type: 'tftp-ended',
      at: 5,
      mac: machine,
      address: '192.0.2.55',
      file: 'snponly.efi',
      role: 'loader',
      loaderArch: 'x86_64',
      isWhole: true,
      sentBytes: 900,
      totalBytes: 900,
      durationMs: 12,
    })
  })

  it('is not a look at the size alone (case 60)', () => {
    expect(step(ended(0))).toBeUndefined()
    expect(step(ended(0, { clientError: { code: 8, message: 'User aborted the transfer' } }))).toBeUndefined()
  })

  it('is a client that gives up with words of its own', () => {
    const complaint = { code: 3, message: 'file is too large' }
    expect(step(ended(0, { clientError: complaint }))).toMatchObject({
      type: 'tftp-ended',
      isWhole: false,
      sentBytes: 0,
      clientError: 'file is too large',
    })
  })

  it('is a machine that DHCP knows and that does not hear the answer; an invented address is none', () => {
    expect(step(ended(0, { outcome: 'unanswered' }))).toMatchObject({ type: 'tftp-ended', isWhole: false })
    expect(step(ended(0, { outcome: 'unanswered' }), false)).toBeUndefined()
  })

  it('is the start of a file, and how far it has come', () => {
    expect(step(started('snponly.efi'))).toEqual({
      type: 'tftp-started',
      at: 5,
      mac: machine,
      address: '192.0.2.55',
      file: 'snponly.efi',
    })
    const progressed: TftpEvent = {
      type: 'progressed',
      at: 6,
      client,
      name: name(`artifacts/${digest}/initramfs.img`),
      sizeBytes: 900,
      deliveredBytes: 300,
    }
    expect(step(progressed)).toEqual({
      type: 'artifact-progress',
      at: 6,
      role: 'initramfs',
      name: 'initramfs.img',
      reachedBytes: 300,
      totalBytes: 900,
      address: '192.0.2.55',
    })
  })

  it.each([
    ['undionly.kpxe', 'loader', 'x86_64'],
    ['snponly-arm64.efi', 'loader', 'aarch64'],
    ['bootcode.bin', 'loader', undefined],
    ['fonts.pf2', 'other', undefined],
    [`artifacts/${digest}/initramfs.img`, 'artifact', undefined],
  ])('%s is a %s', (path, role, loaderArch) => {
    const told = step(ended(900, { name: name(path) }))
    expect(told).toMatchObject({ type: 'tftp-ended', role })
    expect(told).toHaveProperty('loaderArch', loaderArch)
  })

  it('is the first script, once, and the script that was decided', () => {
    const entry = { name: name('autoexec.ipxe'), use: 'entry-script' } as const
    const decided = { name: name('pxelinux.cfg/default'), use: 'boot-script' } as const
    const steps = [
      step({ ...started('autoexec.ipxe'), ...entry }),
      step(ended(900, entry)),
      step({ ...started('pxelinux.cfg/default'), ...decided }),
      step(ended(900, decided)),
      step(ended(300, { ...entry, outcome: 'stalled' })),
    ]
    expect(steps).toMatchObject([
      undefined,
      { type: 'entry-sent', name: 'autoexec.ipxe', address: '192.0.2.55', mac: machine },
      undefined,
      { type: 'tftp-ended', role: 'script', isWhole: true },
      { type: 'tftp-ended', role: 'script', isWhole: false },
    ])
  })

  it('is a file that is refused; a name that loaders only try, and a packet without a name, are none', () => {
    expect(step(refused('nothing.efi', 'not-served'))).toEqual({
      type: 'tftp-refused',
      at: 5,
      mac: machine,
      address: '192.0.2.55',
      file: 'nothing.efi',
      reason: 'not-served',
    })
    expect(step(refused('snponly.efi', 'file-empty'))).toMatchObject({ reason: 'file-empty' })
    expect(step(refused('grub/x86_64-efi/command.lst', 'not-served'))).toBeUndefined()
    expect(step(refused('', 'malformed'))).toBeUndefined()
  })

  it('is counted with the steps of HTTP, and has its log line from its own protocol', async () => {
    const told = step(ended(900))
    if (told === undefined) throw new Error('no step')
    expect(bootLogLine(told)).toBeUndefined()
    const metrics = createMetrics({ version: '1', clock: { now: () => 0 }, withProcess: false })
    metrics.onBootEvent(told)
    const text = await metrics.text()
    expect(text).toContain('pilotlight_boot_steps_total{step="tftp"} 1')
    expect(text).toContain('pilotlight_boot_steps_total{step="dhcp"} 0')
  })
})
