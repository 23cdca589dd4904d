import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { layoutOf } from '../../src/artifacts/layout.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { problemText } from '../../src/config/problem.ts'
import { parseSha256 } from '../../src/core/digest.ts'
import type { BootimageSummary } from '../../src/http/admin/operations.ts'
import { checkKernels } from '../../src/runtime/check-kernels.ts'
import { makeGrub, makePe, makeShim, signedBy, testAuthority, testSigner } from '../fakes/loader-images.ts'
import { makeTemporaryDirectory, type TemporaryDirectory } from '../fakes/temporary-directory.ts'

let folder: TemporaryDirectory

beforeEach(async () => {
  folder = await makeTemporaryDirectory()
})
afterEach(() => folder.remove())

function write(name: string, content: Buffer | string): void {
  mkdirSync(dirname(join(folder.path, name)), { recursive: true })
  writeFileSync(join(folder.path, name), content)
}

function configuration(stream = 's') {
  write('set/shimx64.efi', makeShim())
  write('set/grubx64.efi', makeGrub())
  write(
    'pilotlight.yaml',
    `version: 1
dataDir: data
boot: { loaders: { sets: { signer: { directory: set } } } }
streams:
  ${stream}: { source: { file: x }, loaderSet: signer }
  plain: { source: { file: x } }
`,
  )
  return loadConfig({ file: join(folder.path, 'pilotlight.yaml'), env: {}, cwd: folder.path })
}

/** A bootimage whose kernel is these bytes, in the store. */
function bootimageWith(kernel: Buffer, roles: BootimageSummary['roles'] = ['current']): BootimageSummary {
  const digest = createHash('sha256').update(kernel).digest('hex')
  const sha256 = parseSha256(digest)
  if (sha256 === undefined) throw new Error('no digest')
  const path = layoutOf(join(folder.path, 'data')).blob(sha256)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, kernel)
  return {
    id: 'x',
    stream: 's',
    arch: 'x86_64',
    release: '44.1',
    kind: 'live',
    state: 'ready',
    roles,
    setDigest: 'd',
    artifacts: [{ role: 'kernel', name: 'kernel', sha256: digest }],
  }
}

const signed = makePe({ certificates: signedBy(testSigner, testAuthority) })
const asked: string[] = []
const check = async (bootimage: BootimageSummary, stream?: string) => {
  asked.length = 0
  const operations = {
    bootimages: async ({ stream: name }: { stream?: string }) => {
      asked.push(name ?? '')
      return [bootimage]
    },
  }
  const problems = await checkKernels({ loaded: configuration(stream), operations })
  return problems.map(problemText)
}

describe('the kernels of streams that name a loader set', () => {
  it('that their shim starts give no findings; other streams are not asked about', async () => {
    expect(await check(bootimageWith(signed))).toEqual([])
    expect(asked).toEqual(['s'])
    expect(await check(bootimageWith(gzipSync(signed)))).toEqual([])
  })

  it.each([
    ['s', 'streams.s.loaderSet', '5:40'],
    ['rhcos-4.22', 'streams["rhcos-4.22"].loaderSet', '5:49'],
  ])('that it refuses are a mistake at the key of %s, with the reason', async (stream, path, place) => {
    expect(await check(bootimageWith(makePe({})), stream)).toEqual([
      `pilotlight.yaml:${place}: ${path}: with loader set signer no x86_64 machine boots under Secure Boot: the kernel of 44.1 is not signed (name the loader set of that signer, or take it out)`,
    ])
  })

  it('that nobody gets now do not matter', async () => {
    expect(await check(bootimageWith(makePe({}), ['previous']))).toEqual([])
  })
})
