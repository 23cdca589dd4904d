import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findLoader } from '../../src/core/loader.ts'
import { readLoaderCatalogue } from '../../src/loaders/loader-catalogue.ts'
import { makeBiosProgram, makeGrub, makeIpxe, makePe, makeShim } from '../fakes/loader-images.ts'
import { makeTemporaryDirectory, type TemporaryDirectory } from '../fakes/temporary-directory.ts'

let folder: TemporaryDirectory

beforeEach(async () => {
  folder = await makeTemporaryDirectory()
})
afterEach(() => folder.remove())

const at = (path: string) => join(folder.path, path)

function put(path: string, bytes: Buffer | string): string {
  mkdirSync(dirname(at(path)), { recursive: true })
  writeFileSync(at(path), bytes)
  return at(path)
}

const x64 = makeIpxe()
const arm64 = makeIpxe({ machine: 0xaa64 })
const undionly = makeBiosProgram('PXE->EB:')

/** Of the admin's directory `own` and a package's `package`; nothing else of this machine. */
function read(sets: Readonly<Record<string, string>> = {}) {
  mkdirSync(at('own'), { recursive: true })
  return readLoaderCatalogue({
    directories: [at('own')],
    defaults: [at('package')],
    sets: new Map(Object.entries(sets).map(([name, path]) => [name, at(path)])),
  })
}

describe('loaders that are found', () => {
  it('are served under their fixed names, wherever the package keeps them', () => {
    put('package/undionly.kpxe', undionly)
    put('package/ipxe-snponly-x86_64.efi', x64)
    put('package/arm64-efi/snponly.efi', arm64)
    put('package/x86_64-efi-signed/grubnetx64.efi.signed', makeGrub())
    const { loaders } = read()
    expect(loaders.get('undionly.kpxe')).toMatchObject({ kind: 'ipxe', platform: 'bios' })
    expect(loaders.get('snponly.efi')?.path).toBe(at('package/ipxe-snponly-x86_64.efi'))
    expect(loaders.get('snponly-arm64.efi')?.path).toBe(at('package/arm64-efi/snponly.efi'))
    expect(loaders.get('grubx64.efi')).toMatchObject({ kind: 'grub', version: '2.12-9' })
  })

  it("come from the admin's directory before any package", () => {
    put('package/ipxe.efi', x64)
    const path = put('own/ipxe.efi', makeIpxe({ words: ['http', 'vcreate'] }))
    expect(read().loaders.get('ipxe.efi')).toMatchObject({ path, features: { vlan: true } })
  })

  it('stand in for a build that is not there: Debian has one iPXE for arm64', () => {
    const path = put('package/ipxe-arm64.efi', arm64)
    expect(read().loaders.get('snponly-arm64.efi')).toMatchObject({ name: 'snponly-arm64.efi', path })
  })

  it('are the signed ones where there are two', () => {
    put('package/shimx64.efi', makeShim({ certificates: Buffer.alloc(0) }))
    const path = put('package/shimx64.efi.signed', makeShim())
    expect(read().loaders.get('shimx64.efi')).toMatchObject({
      path,
      signer: { name: 'Pilotlight test authority', issuer: 'Pilotlight test authority' },
    })
  })

  it("have names of their own in an admin's directory, a board's firmware too (field case 81)", () => {
    put('own/custom.efi', x64)
    put('own/start4.elf', '\x7fELF')
    put('package/stranger.efi', x64)
    const { loaders } = read()
    expect([...loaders.keys()]).toEqual(['custom.efi', 'start4.elf'])
    expect(loaders.get('custom.efi')?.platform).toBe('efi-x64')
  })

  it('are known by size, time and digest', () => {
    put('own/ipxe.efi', x64)
    const loader = read().loaders.get('ipxe.efi')
    expect(loader?.sizeBytes).toBe(x64.length)
    expect(loader?.sha256).toMatch(/^[0-9a-f]{64}$/)
    expect(Number.isInteger(loader?.modifiedAt)).toBe(true)
  })
})

describe('what is refused, with the reason', () => {
  const reasonOf = (name: string) => read().refused.find((entry) => entry.name === name)?.reason

  it.each([
    ['snponly-arm64.efi', x64, 'its PE machine is 8664 (efi-x64), efi-arm64 needs AA64'],
    ['snponly.efi', arm64, 'its PE machine is AA64 (efi-arm64), efi-x64 needs 8664'],
    ['snponly.efi', makePe({ subsystem: 3 }), 'it is a PE image, but no EFI program'],
    ['snponly.efi', undionly, 'it is no EFI program'],
    ['snponly.efi', Buffer.from('<html>404</html>'), 'it is no EFI program'],
    ['undionly.kpxe', x64, 'it is an EFI program (PE machine 8664), which no BIOS starts'],
    ['undionly.kpxe', Buffer.from('404'), 'it is no boot program for a BIOS'],
    ['custom.efi', Buffer.from('404'), 'it is no EFI program'],
    ['ipxe.efi', Buffer.alloc(0), 'it is empty'],
  ])('%s with other content than its name says (field cases 14, 83)', (name, bytes, reason) => {
    put(`own/${name}`, bytes)
    expect(reasonOf(name)).toBe(reason)
    expect(read().loaders.has(name)).toBe(false)
  })

  it('the next one that fits is served all the same', () => {
    put('own/snponly.efi', arm64)
    const path = put('package/snponly.efi', x64)
    expect(read().loaders.get('snponly.efi')?.path).toBe(path)
    expect(reasonOf('snponly.efi')).toContain('AA64')
  })

  it('a link to what is no loader, so that no link makes a secret public', () => {
    put('elsewhere/shadow', 'root:x:0:0')
    mkdirSync(at('own'))
    symlinkSync(at('elsewhere/shadow'), at('own/shadow'))
    expect(reasonOf('shadow')).toBe('it is a link to what is no loader')
  })

  it('a link to a loader is followed, to where no link is left', () => {
    const path = put('boot/ipxe.efi', x64)
    mkdirSync(at('package'))
    symlinkSync(path, at('package/ipxe.efi'))
    expect(read().loaders.get('ipxe.efi')?.path).toBe(path)
  })

  it('links that lead nowhere or in circles', () => {
    mkdirSync(at('own'))
    symlinkSync(at('nowhere'), at('own/ipxe.efi'))
    symlinkSync(at('own/undionly.kpxe'), at('own/undionly.kpxe'))
    expect(reasonOf('ipxe.efi')).toBe('it is a link that leads nowhere')
    expect(reasonOf('undionly.kpxe')).toBe('it is a link that leads to itself')
  })

  it('pipes and devices, without waiting for them', () => {
    mkdirSync(at('own'))
    execFileSync('mkfifo', [at('own/ipxe.efi')])
    symlinkSync('/dev/zero', at('own/undionly.kpxe'))
    expect(reasonOf('ipxe.efi')).toBe('it is no regular file')
    expect(reasonOf('undionly.kpxe')).toBe('it is no regular file')
  })

  it('what is too large to be one', () => {
    truncateSync(put('own/ipxe.efi', x64), 65 * 1024 * 1024)
    expect(reasonOf('ipxe.efi')).toBe('it is too large for a loader')
  })

  it.skipIf(process.getuid?.() === 0)('what this user may not read', () => {
    chmodSync(put('own/ipxe.efi', x64), 0)
    expect(reasonOf('ipxe.efi')).toBe('this user may not read it')
  })

  it('names that a path or a URL would read otherwise are not looked at', () => {
    for (const name of ['.hidden', '-x', 'a b', 'a%2fb']) put(`own/${name}`, x64)
    put('own/folder/inside.efi', x64)
    const { loaders, refused } = read()
    expect([loaders.size, refused]).toEqual([0, []])
  })
})

describe('what is missing', () => {
  it('is told with the package or the build line that supplies it', () => {
    put('own/undionly.kpxe', undionly)
    const { missing } = read()
    expect(missing.find(({ name }) => name === 'undionly.kpxe')).toBeUndefined()
    expect(missing.find(({ name }) => name === 'snponly.efi')).toEqual({
      name: 'snponly.efi',
      platform: 'efi-x64',
      remedy: 'apt install ipxe, or dnf install ipxe-bootimgs-x86',
    })
    expect(missing.find(({ name }) => name === 'snponly-riscv64.efi')?.remedy).toBe(
      'build it: make bin-riscv64-efi/snponly.efi in ipxe/src',
    )
  })

  it('is everything where there is no directory at all', () => {
    const empty = readLoaderCatalogue({ directories: [at('gone')], defaults: [], sets: new Map() })
    expect(empty.loaders.size).toBe(0)
    expect(empty.missing.length).toBeGreaterThan(10)
  })
})

describe('Secure Boot sets', () => {
  it('have a directory each and keep their files apart', () => {
    put('a/shimx64.efi', makeShim())
    put('a/grubx64.efi', makeGrub())
    put('a/mmx64.efi', makePe())
    put('b/shimx64.efi.signed', makeShim())
    put('b/grubnetx64.efi.signed', makeGrub({ version: '2.06' }))
    const catalogue = read({ fedora: 'a', debian: 'b' })
    expect([...(catalogue.sets.get('fedora')?.files.keys() ?? [])]).toEqual([
      'shimx64.efi',
      'grubx64.efi',
      'mmx64.efi',
    ])
    expect(catalogue.sets.get('debian')).toMatchObject({ architectures: ['x86_64'], problems: [] })
    expect(findLoader(catalogue, ['debian', 'grubx64.efi'])?.version).toBe('2.06')
    expect(findLoader(catalogue, ['fedora', 'grubx64.efi'])?.version).toBe('2.12-9')
    expect(findLoader(catalogue, ['fedora', 'mmx64.efi'])).toBeDefined()
    expect(findLoader(catalogue, ['grubx64.efi'])).toBeUndefined()
    expect(findLoader(catalogue, ['fedora', 'sub', 'grubx64.efi'])).toBeUndefined()
    expect(findLoader(catalogue, ['gone', 'grubx64.efi'])).toBeUndefined()
  })

  it('say what keeps them from booting anything', () => {
    put('a/shimx64.efi', makeShim({ machine: 0xaa64 }))
    put('a/grubx64.efi', makeGrub())
    const set = read({ mixed: 'a' }).sets.get('mixed')
    expect(set?.architectures).toEqual([])
    expect(set?.problems).toEqual([
      `${at('a/shimx64.efi')} is not served: its PE machine is AA64 (efi-arm64), efi-x64 needs 8664`,
      'grubx64.efi has no shimx64.efi beside it',
    ])
  })

  it('stand at the root as well where there is one, for a shim that lost its folder (field case 26)', () => {
    put('a/shimx64.efi', makeShim())
    const path = put('a/grubx64.efi', makeGrub())
    put('b/shimx64.efi', makeShim())
    put('b/grubx64.efi', makeGrub())
    put('package/grubx64.efi', makeGrub({ certificates: Buffer.alloc(0) }))
    expect(read().loaders.get('grubx64.efi')?.path).toBe(at('package/grubx64.efi'))
    expect(read({ fedora: 'a' }).loaders.get('grubx64.efi')?.path).toBe(path)
    expect(read({ fedora: 'a' }).missing.some(({ name }) => name === 'shimx64.efi')).toBe(false)
    expect(read({ fedora: 'a', debian: 'b' }).loaders.get('grubx64.efi')?.path).toBe(
      at('package/grubx64.efi'),
    )
  })

  it('of a directory that is not there hold nothing', () => {
    expect(read({ gone: 'nowhere' }).sets.get('gone')?.problems.join()).toContain('no shim and no GRUB')
  })
})
