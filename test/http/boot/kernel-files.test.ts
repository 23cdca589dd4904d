import { describe, expect, test } from 'vitest'
import { createKernelFiles } from '../../../src/http/boot/kernel-files.ts'

const isLayoutKnown = ['x64', 'arm64'].includes(process.arch)

/** A C library whose calls answer what the test says; what it was asked is kept. */
function fakeKernel(answers: {
  readonly sendfile?: number
  readonly preadv2?: readonly number[]
  readonly errno?: number
}) {
  const calls: { readonly name: string; readonly values: readonly unknown[] }[] = []
  const residence = [...(answers.preadv2 ?? [])]
  const kernel = createKernelFiles({
    address: () => 4096n,
    errno: () => answers.errno ?? 0,
    load: () => ({
      func:
        (prototype) =>
        (...values) => {
          const name = /(\w+)\(/.exec(prototype)?.[1] ?? ''
          const seen = values.map((value) =>
            Buffer.isBuffer(value) && value.length === 8 ? value.readBigInt64LE() : value,
          )
          calls.push({ name, values: seen })
          return name === 'sendfile' ? answers.sendfile : (residence.shift() ?? 1)
        },
    }),
  })
  if (kernel === undefined) throw new Error('it could not be made')
  return { kernel, calls }
}

describe.runIf(isLayoutKnown)('what came of a send', () => {
  test.each([
    ['bytes', { sendfile: 700 }, { kind: 'sent', bytes: 700 }],
    ['the end of the file', { sendfile: 0 }, { kind: 'cut' }],
    ['EAGAIN', { sendfile: -1, errno: 11 }, { kind: 'full' }],
    ['EPIPE', { sendfile: -1, errno: 32 }, { kind: 'gone' }],
    ['ECONNRESET', { sendfile: -1, errno: 104 }, { kind: 'gone' }],
    ['EINVAL: no file system for it', { sendfile: -1, errno: 22 }, { kind: 'unable' }],
    ['ENOSYS', { sendfile: -1, errno: 38 }, { kind: 'unable' }],
  ])('%s', (_, answers, expected) => {
    const { kernel, calls } = fakeKernel(answers)
    expect(kernel.send(7, 9, 5_000_000_000, 1000)).toEqual(expected)
    expect(calls).toEqual([{ name: 'sendfile', values: [7, 9, 5_000_000_000n, 1000] }])
  })
})

test.runIf(isLayoutKnown)('what has not arrived is asked of the socket', () => {
  const { kernel, calls } = fakeKernel({})
  kernel.unacknowledged(7)
  expect(calls).toEqual([{ name: 'ioctl', values: [7, 0x5411, 0n] }])
})

describe.runIf(isLayoutKnown)('residence', () => {
  test('is asked for in steps and for the last byte, without waiting', () => {
    const { kernel, calls } = fakeKernel({})
    expect(kernel.isResident(9, 1000, 600_000)).toBe(true)
    expect(calls.map(({ values }) => values.slice(2))).toEqual([
      [1, 1000, 8],
      [1, 1000 + 524_288, 8],
      [1, 600_999, 8],
    ])
  })

  test.each([
    [[-1], 1],
    [[1, -1], 2],
    [[1, 1, 0], 3],
  ])('%j: not resident', (preadv2, asked) => {
    const { kernel, calls } = fakeKernel({ preadv2 })
    expect(kernel.isResident(9, 0, 600_000)).toBe(false)
    expect(calls).toHaveLength(asked)
  })

  test('one byte is asked for once', () => {
    const { kernel, calls } = fakeKernel({})
    expect(kernel.isResident(9, 5, 1)).toBe(true)
    expect(calls).toHaveLength(1)
  })
})

test('a C library that cannot be reached is no failure', () => {
  const unreachable = createKernelFiles({
    address: () => 0n,
    errno: () => 0,
    load: () => {
      throw new Error('no library')
    },
  })
  expect(unreachable).toBeUndefined()
})
