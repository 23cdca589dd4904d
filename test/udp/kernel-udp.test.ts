import { createSocket } from 'node:dgram'
import { describe, expect, it } from 'vitest'
import { segmentedSendBytes } from '../../src/tftp/segment-limit.ts'
import { createKernelUdp } from '../../src/udp/kernel-udp.ts'

const fake = { address: () => 0n, errno: () => 0 }

describe('kernel segmentation', () => {
  it.each([
    [1472, 44 * 1472],
    [516, 64 * 516],
    [8972, 7 * 8972],
    [32500, 2 * 32500],
    [65468, 65468],
  ])('packets of %i bytes go out in sends of %i', (stride, bytes) => {
    expect(segmentedSendBytes(stride)).toBe(bytes)
  })

  it('sets the segment of the socket behind the descriptor', async () => {
    const calls: unknown[][] = []
    const kernel = createKernelUdp({
      ...fake,
      load: () => ({
        func:
          () =>
          (...values: unknown[]) => {
            calls.push(values)
            return 0
          },
      }),
    })
    const socket = createSocket('udp4')
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
    expect(kernel?.setSegment(socket, 1472)).toBe(true)
    expect(calls).toEqual([[expect.any(Number), 17, 103, [1472], 4]])
    expect(calls[0]?.[0]).toBeGreaterThan(2)
    await new Promise<void>((resolve) => socket.close(resolve))
    expect(kernel?.setSegment(socket, 1472)).toBe(false)
    expect(calls).toHaveLength(1)
  })

  it('a kernel that refuses leaves sends plain', async () => {
    const kernel = createKernelUdp({ ...fake, load: () => ({ func: () => () => -1 }) })
    const socket = createSocket('udp4')
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
    expect(kernel?.setSegment(socket, 1472)).toBe(false)
    socket.close()
  })

  it('a C library that cannot be reached is no failure', () => {
    const unreachable = createKernelUdp({
      ...fake,
      load: () => {
        throw new Error('no library')
      },
    })
    expect(unreachable).toBeUndefined()
  })
})
