import { createSocket } from 'node:dgram'
import { expect, it } from 'vitest'
import { widenReceiveBuffer } from '../../src/udp/receive-buffer.ts'

const systemDefault = 212_992

function socketWith(sizeBytes: number) {
  const asked: number[] = []
  return {
    asked,
    getRecvBufferSize: () => sizeBytes,
    setRecvBufferSize: (wanted: number) => void asked.push(wanted),
  }
}

it('an untouched socket gets room for a burst', () => {
  const socket = socketWith(systemDefault)
  widenReceiveBuffer(socket, 4_194_304, systemDefault)
  expect(socket.asked).toEqual([4_194_304])
})

it.each([8_388_608, 2_097_152])('what the service manager gave, %i bytes, is not cut back', (given) => {
  const socket = socketWith(given)
  widenReceiveBuffer(socket, 4_194_304, systemDefault)
  expect(socket.asked).toEqual([])
})

it.skipIf(process.platform !== 'linux')('the default of this system is known, and grows', async () => {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  const before = socket.getRecvBufferSize()
  widenReceiveBuffer(socket, before)
  // The kernel doubles what is asked for, for its own needs.
  expect(socket.getRecvBufferSize()).toBeGreaterThan(before)
  socket.close()
})
