import { afterEach, describe, expect, it } from 'vitest'
import { fetchByTftp } from '../../../src/runtime/clients/fetch-by-tftp.ts'
import { bindSocket } from '../../fakes/tftp-client.ts'
import { patterned, type ServiceUnderTest, startService } from '../../fakes/tftp-service.ts'

const cleanUp: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const undo of cleanUp.splice(0).reverse()) await undo()
})

async function serving(table: Readonly<Record<string, Buffer>>): Promise<ServiceUnderTest> {
  const service = await startService(table)
  cleanUp.push(() => service.server.stop())
  return service
}

/** A peer that answers each packet with what it is told to, or not at all. */
async function peer(answer: (packet: Buffer) => Buffer | undefined, address = '127.0.0.1', from = address) {
  const socket = await bindSocket(address)
  const sender = from === address ? socket : await bindSocket(from)
  cleanUp.push(
    () => socket.close(),
    () => (sender === socket ? undefined : sender.close()),
  )
  let packets = 0
  socket.on('message', (packet, { port, address: to }) => {
    packets += 1
    const reply = answer(packet)
    if (reply !== undefined) sender.send(reply, port, to)
  })
  return { port: socket.address().port, packets: () => packets }
}

describe('fetching by TFTP', () => {
  it.each([0, 1, 1467, 1468, 1469, 300_001])('brings a file of %i bytes', async (sizeBytes) => {
    const content = patterned(sizeBytes)
    const { address, port } = await serving({ 'boot/file': content })
    const fetched = await fetchByTftp({ address, port, name: 'boot/file' })
    // Nothing that boots a machine is empty, so the service refuses to serve an empty file.
    if (sizeBytes === 0) expect(fetched.kind).toBe('refused')
    else expect(fetched).toMatchObject({ kind: 'fetched', bytes: content })
  })

  it('only looks at the size when it is told to, and ends the transfer as UEFI does (case 60)', async () => {
    const { address, port, seen } = await serving({ x: patterned(5_000) })
    const look = await fetchByTftp({ address, port, name: 'x', isLook: true })
    expect(look).toEqual({ kind: 'announced', sizeBytes: 5_000 })
    expect(await seen(({ type }) => type === 'ended')).toMatchObject({
      outcome: 'aborted',
      clientError: { code: 8 },
    })
  })

  it('takes the block size that is granted, or 512 without one', async () => {
    const { address, port } = await serving({ x: patterned(5_000) })
    expect(await fetchByTftp({ address, port, name: 'x', blockSize: 8 })).toMatchObject({
      bytes: patterned(5_000),
    })
    const plain = await peer((packet) => (packet[1] === 1 ? Buffer.from('\0\x03\0\x01short') : undefined))
    expect(await fetchByTftp({ address: '127.0.0.1', port: plain.port, name: 'x' })).toMatchObject({
      kind: 'fetched',
      bytes: Buffer.from('short'),
    })
  })

  it('tells what the server says of a file that is not there', async () => {
    const { address, port } = await serving({})
    expect(await fetchByTftp({ address, port, name: 'nothing' })).toEqual({
      kind: 'refused',
      code: 1,
      message: 'no such file',
    })
  })

  it('asks four times before it says that nobody answers', async () => {
    const { port, packets } = await peer(() => undefined)
    expect(await fetchByTftp({ address: '127.0.0.1', port, name: 'x', repeatAfterMs: 20 })).toEqual({
      kind: 'silent',
    })
    expect(packets()).toBe(4)
  })

  it('does not believe an answer from another address (field case 50)', async () => {
    const { port } = await peer(() => Buffer.from('\0\x03\0\x01data'), '127.0.0.2', '127.0.0.3')
    expect(await fetchByTftp({ address: '127.0.0.2', port, name: 'x' })).toEqual({
      kind: 'other-source',
      address: '127.0.0.3',
    })
  })

  it('gives up what is too long to be a loader', async () => {
    const { address, port } = await serving({ x: patterned(10_000) })
    expect(await fetchByTftp({ address, port, name: 'x', maxBytes: 5_000 })).toEqual({
      kind: 'failed',
      reason: 'it is longer than 5000 bytes',
    })
  })

  it('says why when it cannot ask from the address it was given', async () => {
    expect(
      await fetchByTftp({ address: '127.0.0.1', port: 9, name: 'x', fromAddress: '192.0.2.99' }),
    ).toMatchObject({ kind: 'failed', reason: expect.stringContaining('EADDRNOTAVAIL') })
  })
})
