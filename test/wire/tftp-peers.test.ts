import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { DiskFile } from '../../src/tftp/files.ts'
import { parsePacket } from '../../src/tftp/packet.ts'
import { bindSocket } from '../fakes/tftp-client.ts'
import { installedPrograms, type TftpProgram, tftpPrograms } from '../fakes/tftp-programs.ts'
import { patterned, type ServiceUnderTest, startService } from '../fakes/tftp-service.ts'

const host = '127.0.0.1'
const here = installedPrograms(
  tftpPrograms.map(({ program }) => program),
  'a TFTP client',
)

let folder: string
let service: ServiceUnderTest | undefined
const loader = patterned(300_001)
const text = Buffer.from(Array.from({ length: 3_000 }, (_, at) => `line ${at}\n`).join(''))

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tftp-peers-'))
})
afterAll(async () => {
  await rm(folder, { recursive: true })
})
afterEach(async () => {
  await service?.server.stop()
  service = undefined
})

function runPeer(
  peer: TftpProgram,
  port: number,
  remote: string,
  local: string,
): Promise<{ code: number; said: string }> {
  const [program = '', ...words] = peer.command({ host, port, remote, local })
  return new Promise((resolve) => {
    execFile(program, words, { timeout: 15_000, cwd: folder }, (error, stdout, stderr) => {
      const code = typeof error?.code === 'number' ? error.code : error === null ? 0 : -1
      resolve({ code, said: `${stdout}${stderr}` })
    })
  })
}

/** What a peer asks for, from the packet itself; it is then sent away. */
async function requestOf(peer: TftpProgram): Promise<readonly string[]> {
  const socket = await bindSocket()
  const asked = new Promise<readonly string[]>((resolve) => {
    socket.on('message', (bytes, { port, address }) => {
      const packet = parsePacket(bytes)
      socket.send(Buffer.from('\0\x05\0\x01not here\0', 'latin1'), port, address)
      if (packet.kind === 'read')
        resolve(packet.options.map(({ name, value }) => (name === 'timeout' ? name : `${name}=${value}`)))
    })
  })
  await runPeer(peer, socket.address().port, 'x', join(folder, 'refused'))
  socket.close()
  return asked
}

describe.each(tftpPrograms)('$program, $how', (peer) => {
  it.skipIf(!here.has(peer.program))('asks for what it is known to, and gets the right bytes', async () => {
    expect(await requestOf(peer)).toEqual(peer.asks)
    const content = peer.netascii ? text : loader
    const path = join(folder, 'served')
    await writeFile(path, content)
    const file: DiskFile = { kind: 'disk', path, sizeBytes: content.length, id: path }
    service = await startService({ 'boot/file': file }, { mtuOf: () => 1500 })
    const local = join(folder, 'fetched')
    const { code, said } = await runPeer(peer, service.port, 'boot/file', local)
    expect({ code, said: code === 0 ? '' : said }).toEqual({ code: 0, said: '' })
    expect((await readFile(local)).equals(content)).toBe(true)
    await rm(local)
    expect(await service.seen(({ type }) => type === 'ended')).toMatchObject({
      outcome: expect.stringMatching(/^served/),
    })
  })

  it.skipIf(!here.has(peer.program))('is served from the one port of single-port mode, too', async () => {
    const content = peer.netascii ? text : loader
    service = await startService({ x: content }, { ports: { mode: 'single' }, mtuOf: () => 1500 })
    const local = join(folder, 'single')
    await runPeer(peer, service.port, 'x', local)
    expect((await readFile(local)).equals(content)).toBe(true)
    await rm(local)
  })

  it.skipIf(!here.has(peer.program))('learns at once that a file is not there', async () => {
    service = await startService({})
    const local = join(folder, 'missing')
    const { code, said } = await runPeer(peer, service.port, 'nothing', local)
    // tftp-hpa says so, and exits with 0 all the same.
    if (peer.program === 'tftp') expect(said).toContain('no such file')
    else expect(code).not.toBe(0)
    expect(existsSync(local) ? (await readFile(local)).length : 0).toBe(0)
  })
})
