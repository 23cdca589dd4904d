import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeSampleLoader } from '../../src/runtime/demo/sample-loader.ts'
import { freeUdpPort } from '../fakes/free-port.ts'
import { readWithTftp2 } from '../fakes/npm-peers.ts'
import { type RunningService, startRunningService, untilCurrent } from '../fakes/running-service.ts'
import { readByTftp } from '../fakes/tftp-client.ts'
import { installedPrograms, type TftpProgram, tftpPrograms } from '../fakes/tftp-programs.ts'
import { startUpstreamSite, type UpstreamSite } from '../fakes/upstream-site.ts'

const host = '127.0.0.1'
const release = '44.20260622.3.0'
const loader = makeSampleLoader()
// Scripts have no line ends of their own to translate, and a kernel is not text.
const programs = tftpPrograms.filter(({ netascii }) => netascii !== true)
const here = installedPrograms(
  programs.map(({ program }) => program),
  'a TFTP client of the service',
)

let folder: string
let site: UpstreamSite
let service: RunningService
let port: number

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'service-tftp-peers-'))
  await writeFile(join(folder, loader.name), loader.bytes)
  site = await startUpstreamSite({ releases: [release] })
  port = await freeUdpPort()
  service = await startRunningService({
    site,
    config: {
      boot: {
        http: { listen: `${host}:0` },
        tftp: { listen: `${host}:${port}` },
        loaders: { directories: [folder] },
      },
    },
  })
  await untilCurrent(service, release)
})
afterAll(async () => {
  await service.remove()
  await site.stop()
  await rm(folder, { recursive: true })
})

/** What a machine fetches by TFTP: its loader, the script beside it, and a kernel for loaders without HTTP. */
async function wanted(): Promise<readonly (readonly [name: string, bytes: Buffer])[]> {
  const { kernel } = site.set(release)
  const script = await readByTftp({ server: { address: host, port }, name: 'autoexec.ipxe', keep: true })
  return [
    [loader.name, loader.bytes],
    ['autoexec.ipxe', script.bytes],
    [`artifacts/${kernel.sha256}/${kernel.name}`, kernel.bytes],
  ]
}

function run({ command }: TftpProgram, remote: string, local: string): Promise<string> {
  const [program = '', ...words] = command({ host, port, remote, local })
  return new Promise((resolve) => {
    execFile(program, words, { timeout: 20_000, cwd: folder }, (error, stdout, stderr) =>
      resolve(error === null ? '' : `${error.message}${stdout}${stderr}`),
    )
  })
}

describe.each(programs)('$program, $how', (program) => {
  it.skipIf(!here.has(program.program))(
    'gets loader, script and kernel from the built service, byte for byte',
    async () => {
      for (const [name, bytes] of await wanted()) {
        const local = join(folder, 'fetched')
        expect(await run(program, name, local)).toBe('')
        expect((await readFile(local)).equals(bytes), name).toBe(true)
        await rm(local)
      }
    },
  )
})

describe('the npm package tftp2', () => {
  it('gets loader, script and kernel from the built service, byte for byte', async () => {
    for (const [name, bytes] of await wanted())
      expect((await readWithTftp2(host, port, name)).equals(bytes), name).toBe(true)
  })
})

it('the script names the service by the address that was asked', async () => {
  const script = (await wanted())[1]?.[1] ?? Buffer.alloc(0)
  expect(script.toString()).toMatch(/^#!ipxe\n/)
  expect(script.toString()).toContain(service.bootUrl)
})
