import { createServer } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import type { Config } from '../../../src/config/config.ts'
import { buildInventory } from '../../../src/core/inventory.ts'
import { fetchHandOuts } from '../../../src/runtime/doctor/fetch-hand-outs.ts'
import {
  announcedAddresses,
  chosenLoaders,
  shimsOfStreams,
  type WantedFetch,
  wantedFetches,
} from '../../../src/runtime/doctor/hand-outs.ts'
import { loaderCatalogue, servedLoader } from '../../fakes/doctor-facts.ts'
import { patterned, sha256, startService } from '../../fakes/tftp-service.ts'

const cleanUp: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const undo of cleanUp.splice(0).reverse()) await undo()
})

const catalogue = loaderCatalogue(
  ['undionly.kpxe', 'snponly.efi', 'ipxe.efi', 'snponly-arm64.efi'].map((name) => servedLoader(name)),
)

function configOf(boot: object): Config {
  return {
    boot: { http: { listen: { port: 8080 } }, tftp: { listen: { port: 69 } }, ...boot },
    streams: new Map(),
  } as unknown as Config
}

describe('what DHCP hands out', () => {
  const wanted = (boot: object = {}, chosen: readonly string[] = []) =>
    wantedFetches({ config: configOf(boot), catalogue, chosen, addresses: ['192.0.2.10'] }).map(
      ({ via, target, port }) => `${via} ${port} ${target}`,
    )

  it('is every first loader that is there, by TFTP and by HTTP Boot, and the script', () => {
    expect(wanted()).toEqual([
      'tftp 69 undionly.kpxe',
      'tftp 69 snponly.efi',
      'tftp 69 snponly-arm64.efi',
      'http 8080 http://192.0.2.10:8080/loaders/snponly.efi',
      'http 8080 http://192.0.2.10:8080/loaders/snponly-arm64.efi',
      'http 8080 http://192.0.2.10:8080/boot.ipxe',
    ])
  })

  it('is the PXELINUX configuration for everybody, for firmware that is a loader itself', () => {
    const followed = (...architectures: string[]) => ({ streams: new Map([['s', { architectures }]]) })
    const configurations = (boot: object, config: object) =>
      wantedFetches({
        config: { ...configOf(boot), ...config },
        catalogue,
        chosen: [],
        addresses: ['192.0.2.10'],
      })
        .filter(({ target }) => target.includes('pxelinux.cfg'))
        .map(({ via, port, target }) => `${via} ${port} ${target}`)
    const dhcp = { mode: 'server' }
    expect(configurations({ dhcp }, followed('aarch64'))).toEqual(['tftp 69 pxelinux.cfg/default'])
    expect(configurations({ dhcp }, followed('ppc64le'))).toEqual([
      'http 8080 http://192.0.2.10:8080/pxelinux.cfg/default',
    ])
    expect(configurations({ dhcp }, followed('x86_64'))).toEqual([])
    expect(configurations({ dhcp: { mode: 'proxy' } }, followed('aarch64'))).toEqual([])
    const http = { listen: { port: 8080 }, ignoredMachines: 'http-404' }
    expect(configurations({ dhcp, http }, followed('aarch64'))).toEqual([])
  })

  it('is what hosts and profiles chose, where firmware can start it', () => {
    expect(wanted({}, ['ipxe.efi', 'nothing.efi'])).toContain('tftp 69 ipxe.efi')
    expect(wanted({}, ['ipxe.efi'])).toContain('http 8080 http://192.0.2.10:8080/loaders/ipxe.efi')
    expect(wanted({}, ['ipxe.efi']).filter((text) => text.includes('nothing'))).toEqual([])
  })

  it('carries the configured address and port', () => {
    const http = wanted({ address: { address: '203.0.113.9', port: 80 } }).filter((text) =>
      text.startsWith('http'),
    )
    expect(http.at(-1)).toBe('http 80 http://203.0.113.9/boot.ipxe')
  })

  it('is not known where the system chooses the port', () => {
    expect(wanted({ http: { listen: { port: 0 } }, tftp: { listen: { port: 0 } } })).toEqual([])
    expect(wanted({ tftp: undefined }).every((text) => text.startsWith('http'))).toBe(true)
  })

  it('is the shim of a stream’s loader set, for its architectures', () => {
    const streams = new Map([
      ['stable', { loaderSet: 'debian', architectures: ['x86_64'] }],
      ['other', { architectures: ['x86_64', 'aarch64'] }],
    ]) as never
    expect(shimsOfStreams({ streams })).toEqual(['debian/shimx64.efi'])
    const shim = servedLoader('shimx64.efi', { kind: 'shim' })
    const set = { files: new Map([['shimx64.efi', shim]]) } as never
    const withSet = { ...catalogue, sets: new Map([['debian', set]]) }
    const found = wantedFetches({
      config: configOf({}),
      catalogue: withSet,
      chosen: ['debian/shimx64.efi'],
      addresses: ['192.0.2.10'],
    }).map(({ target }) => target)
    expect(found).toContain('debian/shimx64.efi')
    expect(found).toContain('http://192.0.2.10:8080/loaders/debian/shimx64.efi')
  })

  it('knows who chose a loader', () => {
    const origin = { kind: 'profile', name: 'worker' } as const
    const inventory = buildInventory({
      hosts: [],
      groups: [],
      profiles: [
        { name: 'worker', origin, loader: 'ipxe.efi' },
        { name: 'other', origin },
      ],
      unknown: { kind: 'ignore' },
    })
    expect(chosenLoaders(inventory)).toEqual([{ name: 'ipxe.efi', by: 'profile worker' }])
  })
})

describe('the addresses that machines are sent to', () => {
  const all = new Map([
    ['lo', ['127.0.0.1']],
    ['eth0', ['198.51.100.1', '198.51.100.2']],
    ['eth1', ['192.0.2.10']],
  ])

  it.each<[string, object, readonly string[]]>([
    [
      'those of the DHCP interfaces',
      { dhcp: { interfaces: ['eth1', 'eth0', 'eth9'] } },
      ['192.0.2.10', '198.51.100.1'],
    ],
    [
      'the boot address where a DHCP interface has it',
      { dhcp: { interfaces: ['eth0'] }, address: { address: '198.51.100.2' } },
      ['198.51.100.2'],
    ],
    ['the boot address', { address: { address: '203.0.113.9' } }, ['203.0.113.9']],
    ['the one that is listened on', { http: { listen: { host: '127.0.0.1', port: 80 } } }, ['127.0.0.1']],
    ['every one but loopback', {}, ['198.51.100.1', '198.51.100.2', '192.0.2.10']],
  ])('are %s', (_, boot, expected) => {
    expect(announcedAddresses(configOf(boot), all)).toEqual(expected)
  })
})

describe('fetching it', () => {
  const content = patterned(20_000)
  const byTftp = (port: number, target: string, digest: string): WantedFetch =>
    ({ via: 'tftp', target, address: '127.0.0.1', port, sha256: digest }) as WantedFetch

  it('tells good, other and missing files apart', async () => {
    const { port, server } = await startService({ good: content, other: content })
    cleanUp.push(() => server.stop())
    const facts = await fetchHandOuts(
      [
        byTftp(port, 'good', sha256(content)),
        byTftp(port, 'other', 'f'.repeat(64)),
        byTftp(port, 'missing', ''),
      ],
      ['127.0.0.1'],
    )
    expect(facts.map(({ outcome }) => outcome)).toMatchObject([
      { kind: 'fetched', sizeBytes: 20_000 },
      { kind: 'other-bytes', expected: 'f'.repeat(64), found: sha256(content) },
      { kind: 'refused', reason: 'refused: no such file' },
    ])
  })

  it('leaves no trace in the boots of machines', async () => {
    const { port, server, events } = await startService({ good: content })
    cleanUp.push(() => server.stop())
    const [fetched] = await fetchHandOuts([byTftp(port, 'good', sha256(content))], ['127.0.0.1'])
    expect(fetched?.outcome.kind).toBe('fetched')
    await server.stop()
    expect(events).toEqual([])
  })

  it('takes HTTP for good when status, length and bytes are', async () => {
    const server = createServer((request, response) => {
      if (request.url === '/gone') response.writeHead(404).end()
      else if (request.url === '/chunked') response.end(request.method === 'HEAD' ? undefined : content)
      else {
        response.writeHead(200, { 'content-length': content.length })
        response.end(request.method === 'HEAD' ? undefined : content)
      }
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const byHttp = (path: string, digest?: string) =>
      ({
        via: 'http',
        target: `http://127.0.0.1:${port}${path}`,
        address: '127.0.0.1',
        port,
        ...(digest === undefined ? {} : { sha256: digest }),
      }) as WantedFetch
    const ask = async (...wanted: readonly WantedFetch[]) =>
      (await fetchHandOuts(wanted, [])).map(({ outcome }) => outcome)
    expect(
      await ask(byHttp('/x', sha256(content)), byHttp('/x'), byHttp('/gone'), byHttp('/chunked')),
    ).toMatchObject([
      { kind: 'fetched', sizeBytes: content.length },
      { kind: 'fetched' },
      { kind: 'refused', reason: 'answered 404' },
      { kind: 'refused', reason: expect.stringContaining('announced') },
    ])
    server.closeAllConnections()
    await new Promise<void>((resolve) => server.close(() => resolve()))
    expect(await ask(byHttp('/x'))).toMatchObject([
      { kind: 'failed', reason: expect.stringContaining('ECONNREFUSED') },
    ])
  })
})
