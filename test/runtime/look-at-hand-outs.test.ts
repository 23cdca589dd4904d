import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LoadedConfig } from '../../src/config/load-config.ts'
import { buildInventory } from '../../src/core/inventory.ts'
import { parseIpv4 } from '../../src/core/ipv4.ts'
import type { LoaderCatalogue } from '../../src/core/loader.ts'
import { readLoaderCatalogue } from '../../src/loaders/loader-catalogue.ts'
import type { TftpFetch, TftpQuestion } from '../../src/runtime/clients/fetch-by-tftp.ts'
import { createKernelCheck } from '../../src/runtime/self-test/kernel-check.ts'
import { lookAtHandOuts } from '../../src/runtime/self-test/look-at-hand-outs.ts'
import { makeBootimage } from '../fakes/bootimages.ts'
import { makeCatalog } from '../fakes/catalogs.ts'
import { loaderCatalogue, servedLoader } from '../fakes/doctor-facts.ts'
import { makeGrub, makePe, makeShim, signedBy, testAuthority, testSigner } from '../fakes/loader-images.ts'
import { makeTemporaryDirectory, type TemporaryDirectory } from '../fakes/temporary-directory.ts'

const tftp = { listen: { port: 69 } }
const http = { listen: { port: 8080 } }
const complete = loaderCatalogue(['undionly.kpxe', 'snponly.efi'].map((name) => servedLoader(name)))
const { sizeBytes } = servedLoader('undionly.kpxe')

interface Situation {
  readonly boot?: object
  readonly catalogue?: LoaderCatalogue
  readonly chosen?: string
  readonly answers?: (question: TftpQuestion) => TftpFetch
  readonly addresses?: readonly string[]
}

async function problemsIn({ boot = { tftp }, catalogue = complete, chosen, answers, addresses }: Situation) {
  const asked: TftpQuestion[] = []
  const inventory = buildInventory({
    hosts: [],
    groups: [],
    profiles:
      chosen === undefined
        ? []
        : [{ name: 'worker', loader: chosen, origin: { kind: 'profile', name: 'worker' } }],
    unknown: { kind: 'ignore' },
  })
  const streams = new Map([['fcos', { architectures: ['x86_64'] }]])
  const findings = await lookAtHandOuts({
    loaded: () => ({ config: { boot: { http, ...boot }, streams } }) as unknown as LoadedConfig,
    inventory: () => inventory,
    loaders: { current: () => catalogue },
    catalog: { current: () => makeCatalog() },
    listAddresses: () =>
      new Map([['eth0', (addresses ?? ['192.0.2.10']).flatMap((text) => parseIpv4(text) ?? [])]]),
    async fetch(question) {
      asked.push(question)
      return answers?.(question) ?? { kind: 'announced', sizeBytes }
    },
    kernels: createKernelCheck(),
  })
  const bad = findings.filter(({ severity }) => severity === 'problem' || severity === 'warning')
  return { asked, texts: bad.map(({ what, todo }) => `${what} | ${todo}`) }
}

describe('the self-test at start looks', () => {
  it('at a loader for each firmware of the streams, and names the package of a missing one', async () => {
    const missing = { name: 'undionly.kpxe', platform: 'bios', remedy: 'apt install ipxe' } as const
    const catalogue = { ...loaderCatalogue([servedLoader('snponly.efi')]), missing: [missing] }
    const { texts } = await problemsIn({ catalogue })
    expect(texts).toEqual(['BIOS: there is no undionly.kpxe | apt install ipxe'])
  })

  it('at what profiles chose', async () => {
    const { texts } = await problemsIn({ chosen: 'own.efi' })
    expect(texts).toEqual([
      expect.stringContaining('profile worker asks for the loader own.efi, which is not there'),
    ])
  })

  it('at nothing where neither DHCP nor TFTP is on', async () => {
    expect(await problemsIn({ boot: {}, catalogue: loaderCatalogue([]) })).toEqual({ asked: [], texts: [] })
  })

  it('whether TFTP answers from the address that was asked, whoever asks (case 50)', async () => {
    const { asked, texts } = await problemsIn({
      addresses: ['192.0.2.10', '203.0.113.9'],
      boot: { tftp, address: { address: '192.0.2.10' } },
      answers: ({ fromAddress }) =>
        fromAddress === undefined
          ? { kind: 'announced', sizeBytes }
          : { kind: 'other-source', address: '203.0.113.9' },
    })
    expect(
      asked.map(({ address, name, isLook, fromAddress }) => [address, name, isLook, fromAddress]),
    ).toEqual([
      ['192.0.2.10', 'undionly.kpxe', true, undefined],
      ['192.0.2.10', 'undionly.kpxe', true, '203.0.113.9'],
    ])
    expect(texts).toEqual([expect.stringContaining('came from 203.0.113.9')])
  })

  it('whether the size is that of the file', async () => {
    const { texts } = await problemsIn({ answers: () => ({ kind: 'announced', sizeBytes: 7 }) })
    expect(texts).toEqual([expect.stringContaining(`announced 7 bytes of ${sizeBytes}`)])
  })

  it('not at an address that another machine has, such as one before a cluster', async () => {
    const boot = { tftp, address: { address: '198.51.100.1' } }
    expect((await problemsIn({ boot })).asked).toEqual([])
  })
})

describe('the check of kernels', () => {
  let folder: TemporaryDirectory
  const at = (name: string) => join(folder.path, name)
  beforeEach(async () => {
    folder = await makeTemporaryDirectory()
    mkdirSync(at('set'))
    writeFileSync(at('set/shimx64.efi'), makeShim())
    writeFileSync(at('set/grubx64.efi'), makeGrub())
  })
  afterEach(() => folder.remove())

  function problemsWith(kernel: Buffer) {
    writeFileSync(at('kernel'), kernel)
    const catalog = makeCatalog({ current: makeBootimage() })
    const stream = catalog.streams.get('fcos-stable')
    const arch = stream?.byArch.get('x86_64')
    if (stream === undefined || arch?.current === undefined) throw new Error('unreachable')
    const current = { ...arch.current, kernel: { ...arch.current.kernel, path: at('kernel') } }
    const loaders = readLoaderCatalogue({
      directories: [],
      defaults: [],
      sets: new Map([['fedora', at('set')]]),
    })
    return createKernelCheck().problems(loaders, new Map([['fcos-stable', { loaderSet: 'fedora' }]]), {
      ...catalog,
      streams: new Map([
        ['fcos-stable', { ...stream, byArch: new Map([['x86_64' as const, { ...arch, current }]]) }],
      ]),
    })
  }

  it('is content with one that the shim trusts', async () => {
    expect(await problemsWith(makePe({ certificates: signedBy(testSigner, testAuthority) }))).toEqual([])
  })

  it('says of one that it does not trust which stream, set and release, and what to do', async () => {
    expect(await problemsWith(makePe())).toEqual([
      {
        check: 'loaders',
        severity: 'problem',
        what: 'stream fcos-stable: with loader set fedora no x86_64 machine boots under Secure Boot: the kernel of 44.20260707.3.1 is not signed',
        todo: 'name the loader set of that signer in streams.fcos-stable.loaderSet, or take it out',
      },
    ])
  })
})
