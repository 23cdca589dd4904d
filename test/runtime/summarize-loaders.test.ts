import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readLoaderCatalogue } from '../../src/loaders/loader-catalogue.ts'
import { summarizeLoaders } from '../../src/runtime/summarize-loaders.ts'
import { makeBootimage } from '../fakes/bootimages.ts'
import { makeCatalog } from '../fakes/catalogs.ts'
import {
  makeGrub,
  makeIpxe,
  makePe,
  makeShim,
  signedBy,
  testAuthority,
  testSigner,
} from '../fakes/loader-images.ts'
import { makeTemporaryDirectory, type TemporaryDirectory } from '../fakes/temporary-directory.ts'

let folder: TemporaryDirectory
const at = (name: string) => join(folder.path, name)

beforeEach(async () => {
  folder = await makeTemporaryDirectory()
  mkdirSync(at('own'))
  mkdirSync(at('set'))
  writeFileSync(at('own/snponly.efi'), makeIpxe({ words: ['http', 'vcreate'] }))
  writeFileSync(at('own/snponly-arm64.efi'), makeIpxe())
  writeFileSync(at('set/shimx64.efi'), makeShim())
  writeFileSync(at('set/grubx64.efi'), makeGrub())
  writeFileSync(at('set/mmx64.efi'), 'no program')
})
afterEach(() => folder.remove())

function report(kernel: Buffer) {
  writeFileSync(at('kernel'), kernel)
  const catalog = makeCatalog({ current: makeBootimage() })
  const stream = catalog.streams.get('fcos-stable')
  const arch = stream?.byArch.get('x86_64')
  if (stream === undefined || arch?.current === undefined) throw new Error('unreachable')
  const current = { ...arch.current, kernel: { ...arch.current.kernel, path: at('kernel') } }
  const byArch = new Map([['x86_64' as const, { ...arch, current }]])
  return summarizeLoaders({
    loaders: readLoaderCatalogue({
      directories: [at('own')],
      defaults: [],
      sets: new Map([['fedora', at('set')]]),
    }),
    streams: new Map([
      ['fcos-stable', { loaderSet: 'fedora' }],
      ['other', {}],
    ]),
    catalog: { ...catalog, streams: new Map([['fcos-stable', { ...stream, byArch }]]) },
  })
}

it('tells every loader, where it is from and what it can do, those of sets below their set', async () => {
  const { loaders, refused, missing } = await report(makePe())
  expect(loaders.map(({ name, set, kind, features }) => [name, set, kind, features])).toEqual([
    ['snponly.efi', undefined, 'ipxe', ['http', 'vlan']],
    ['ipxe.efi', undefined, 'ipxe', ['http', 'vlan']],
    ['shimx64.efi', undefined, 'shim', undefined],
    ['grubx64.efi', undefined, 'grub', ['http']],
    ['shimx64.efi', 'fedora', 'shim', undefined],
    ['grubx64.efi', 'fedora', 'grub', ['http']],
  ])
  expect(loaders[3]).toMatchObject({
    signer: { name: 'mirror.example', issuer: 'Pilotlight test authority' },
    version: '2.12-9',
  })
  expect(refused).toEqual([
    {
      name: 'snponly-arm64.efi',
      file: at('own/snponly-arm64.efi'),
      reason: 'its PE machine is 8664 (efi-x64), efi-arm64 needs AA64',
    },
    { name: 'mmx64.efi', set: 'fedora', file: at('set/mmx64.efi'), reason: 'it is no EFI program' },
  ])
  expect(missing.map(({ name }) => name)).toContain('undionly.kpxe')
})

it.each([
  ['trusts', makePe({ certificates: signedBy(testSigner, testAuthority) }), undefined],
  ['refuses', makePe(), 'is not signed'],
] as const)(
  'says of each stream that names a set whether its shim %s the current kernel',
  async (_name, kernel, problem) => {
    const { sets } = await report(kernel)
    expect(sets).toEqual([
      {
        name: 'fedora',
        directory: at('set'),
        architectures: ['x86_64'],
        problems: [],
        streams: [
          {
            stream: 'fcos-stable',
            arch: 'x86_64',
            release: '44.20260707.3.1',
            ...(problem === undefined ? {} : { problem }),
          },
        ],
      },
    ])
  },
)
