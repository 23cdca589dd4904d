import { afterEach, describe, expect, it } from 'vitest'
import { formatIpv4 } from '../../../src/core/ipv4.ts'
import { readPxeClient } from '../../../src/dhcp/pxe-client.ts'
import { openDhcpClient } from '../../../src/runtime/clients/dhcp-client.ts'
import { encodeDiscover, readDhcpReply } from '../../../src/runtime/clients/dhcp-question.ts'
import { createRig } from '../../dhcp/engine-support.ts'
import { fixture, mac, packetOf } from '../../dhcp/support.ts'
import { bindSocket } from '../../fakes/tftp-client.ts'

const cleanUp: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const undo of cleanUp.splice(0).reverse()) await undo()
})

const question = { xid: 0x1234abcd, mac: mac('52:54:00:00:00:01'), architecture: 7 }

function answerTo(bytes: Uint8Array): Uint8Array | undefined {
  const answer = createRig().send(bytes)
  return answer.kind === 'silent' ? undefined : answer.bytes
}

describe('the question', () => {
  it.each([
    [{ architecture: 0 }, { platform: 'bios', fetch: 'tftp', loader: 'none' }],
    [{ architecture: 7 }, { platform: 'efi-x64', fetch: 'tftp', loader: 'none' }],
    [
      { architecture: 7, isIpxe: true },
      { platform: 'efi-x64', loader: 'ipxe' },
    ],
    [
      { architecture: 16, bootClass: 'HTTPClient' as const },
      { platform: 'efi-x64', fetch: 'http' },
    ],
  ])('%j is read as it is meant', (changes, expected) => {
    const packet = packetOf(encodeDiscover({ ...question, ...changes }))
    expect(packet).toMatchObject({ messageType: 1, xid: question.xid, flags: 0x8000 })
    expect(readPxeClient(packet).client).toMatchObject({
      ...expected,
      macs: [question.mac],
      mismatch: undefined,
    })
  })
})

describe('the answer', () => {
  it('of a proxy says who, which file and from where, and gives no address', () => {
    const reply = readDhcpReply(answerTo(encodeDiscover(question)) ?? new Uint8Array(), question.xid)
    expect(reply).toMatchObject({
      type: 'offer',
      bootFile: 'snponly.efi',
      vendorClass: 'PXEClient',
      vendorSpecific: Uint8Array.of(6, 1, 8, 255),
    })
    expect(reply?.address).toBeUndefined()
    expect([reply?.server, reply?.nextServer].map((each) => each && formatIpv4(each))).toEqual([
      '192.0.2.10',
      '192.0.2.10',
    ])
  })

  it.each([
    ['of another question', answerTo(encodeDiscover({ ...question, xid: 1 }))],
    ['that is a question', encodeDiscover(question)],
    ['that is a packet of somebody else', fixture('udhcpc-discover')],
    ['of noise', Uint8Array.of(1, 2, 3)],
  ])('%s is none', (_, bytes) => {
    expect(readDhcpReply(bytes ?? new Uint8Array(), question.xid)).toBeUndefined()
  })
})

describe('asking', () => {
  async function servers(answers: (bytes: Uint8Array) => readonly (Uint8Array | undefined)[]) {
    const socket = await bindSocket()
    cleanUp.push(() => socket.close())
    let asked = 0
    socket.on('message', (bytes, { port, address }) => {
      asked += 1
      for (const answer of answers(bytes)) if (answer !== undefined) socket.send(answer, port, address)
    })
    return { port: socket.address().port, asked: () => asked }
  }

  async function client() {
    const opened = await openDhcpClient({ port: 0 })
    cleanUp.push(() => opened.close())
    return opened
  }

  it('collects each answer once, however often the question is repeated', async () => {
    const { port, asked } = await servers((bytes) => [Uint8Array.of(0), answerTo(bytes)])
    const replies = await (await client()).ask(question, { address: '127.0.0.1', port }, { forMs: 100 })
    expect(asked()).toBe(2)
    expect(replies).toMatchObject([{ from: '127.0.0.1', bootFile: 'snponly.efi' }])
  })

  it('ends as soon as it has enough', async () => {
    const { port } = await servers((bytes) => [answerTo(bytes)])
    const limits = { forMs: 60_000, isEnough: (replies: readonly unknown[]) => replies.length > 0 }
    expect(await (await client()).ask(question, { address: '127.0.0.1', port }, limits)).toHaveLength(1)
  })

  it('ends with nothing when nobody answers', async () => {
    const { port } = await servers(() => [])
    expect(await (await client()).ask(question, { address: '127.0.0.1', port }, { forMs: 40 })).toEqual([])
  })
})
