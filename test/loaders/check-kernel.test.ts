import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { kernelProblem } from '../../src/loaders/check-kernel.ts'
import { readLoaderSet } from '../../src/loaders/read-loader-set.ts'
import {
  makeGrub,
  makePe,
  makeShim,
  signedBy,
  testAuthority,
  testSigner,
  vendorSection,
} from '../fakes/loader-images.ts'
import { makeTemporaryDirectory, type TemporaryDirectory } from '../fakes/temporary-directory.ts'

let folder: TemporaryDirectory

beforeEach(async () => {
  folder = await makeTemporaryDirectory()
  mkdirSync(join(folder.path, 'set'))
})
afterEach(() => folder.remove())

function put(name: string, bytes: Buffer): string {
  const path = join(folder.path, name)
  writeFileSync(path, bytes)
  return path
}

function setWith(shim: Buffer) {
  put('set/shimx64.efi', shim)
  put('set/grubx64.efi', makeGrub())
  return readLoaderSet('fedora', join(folder.path, 'set'))
}

describe('a kernel under Secure Boot', () => {
  it('is started when its signer is one that the shim of the set trusts', async () => {
    const kernel = put('kernel', makePe({ certificates: signedBy(testSigner, testAuthority) }))
    expect(await kernelProblem(setWith(makeShim()), 'x86_64', kernel)).toBeUndefined()
  })

  it.each([
    ['not signed', makePe(), 'is not signed'],
    ['no EFI program', Buffer.from('1f8b08', 'hex'), 'is no EFI program, so GRUB cannot have it checked'],
  ])('that is %s is not', async (_name, bytes, problem) => {
    expect(await kernelProblem(setWith(makeShim()), 'x86_64', put('kernel', bytes))).toBe(problem)
  })

  it('of another signer is not, and both are named', async () => {
    const shim = makeShim({ sections: { '.vendor_cert': vendorSection(testSigner) } })
    const kernel = put('kernel', makePe({ certificates: signedBy(testAuthority) }))
    expect(await kernelProblem(setWith(shim), 'x86_64', kernel)).toBe(
      'is signed by Pilotlight test authority (issued by Pilotlight test authority), and this shim trusts mirror.example',
    )
  })

  it('for an architecture without a shim is not', async () => {
    const kernel = put('kernel', makePe({ machine: 0xaa64 }))
    expect(await kernelProblem(setWith(makeShim()), 'aarch64', kernel)).toBe(
      'cannot be started: loader set fedora has no shim for aarch64',
    )
  })
})
