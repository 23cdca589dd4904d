import { describe, expect, it } from 'vitest'
import { blockSizeLimit, negotiate } from '../../src/tftp/negotiate.ts'

const limits = { maxBlockSize: 1468, maxWindowSize: 64 }

/** Negotiates `blksize=1468,tsize=0` and gives the acknowledgement in the same spelling. */
function answer(asked: string, sizeBytes = 1_048_576, changed: Partial<typeof limits> = {}): string {
  const options = asked
    .split(',')
    .filter((part) => part !== '')
    .map((part) => {
      const [name = '', value = ''] = part.split('=')
      return { name, value }
    })
  const { acknowledged } = negotiate(options, sizeBytes, { ...limits, ...changed })
  return acknowledged.map(({ name, value }) => `${name}=${value}`).join(',')
}

describe('only what was asked is acknowledged (case 62)', () => {
  it.each([
    ['no options', '', ''],
    ['an unknown option alone', 'foo=bar', ''],
    ['an unknown option between known ones', 'tsize=0,foo=bar,blksize=1024', 'tsize=1048576,blksize=1024'],
    ["tftp-hpa's utimeout", 'utimeout=1000000,blksize=1024', 'blksize=1024'],
    ['multicast and rollover', 'multicast=,rollover=0', ''],
    ['EDK2', 'tsize=0,blksize=1468,windowsize=4', 'tsize=1048576,blksize=1468,windowsize=4'],
    ['iPXE', 'blksize=1432,tsize=0', 'blksize=1432,tsize=1048576'],
    ['GRUB', 'blksize=1024,tsize=0', 'blksize=1024,tsize=1048576'],
    ['shim', 'blksize=512,windowsize=4', 'blksize=512,windowsize=4'],
    ['U-Boot', 'timeout=5,tsize=0,blksize=1468', 'timeout=5,tsize=1048576,blksize=1468'],
  ])('%s', (_, asked, acknowledged) => {
    expect(answer(asked)).toBe(acknowledged)
  })

  it('what was not asked keeps its default', () => {
    expect(negotiate([], 7, limits)).toEqual({
      blockSize: 512,
      windowSize: 1,
      acknowledged: [],
      isSizeAsked: false,
    })
  })
})

describe('values out of range are as if not asked (case 65)', () => {
  it.each(['0', '-1', '7', 'abc', '65465', '', ' 1468', '0x200', '1e3', '99999999999'])(
    'blksize %s',
    (value) => {
      expect(answer(`blksize=${value}`)).toBe('')
      expect(negotiate([{ name: 'blksize', value }], 7, limits).blockSize).toBe(512)
    },
  )

  it.each([
    ['8', '8'],
    ['512', '512'],
    ['1468', '1468'],
    ['65464', '1468'],
  ])('blksize %s is valid', (value, granted) => {
    expect(answer(`blksize=${value}`)).toBe(`blksize=${granted}`)
  })

  it.each(['0', '256', '-1', 'abc', '1.5'])('timeout %s', (value) => {
    expect(answer(`timeout=${value}`)).toBe('')
    expect(negotiate([{ name: 'timeout', value }], 7, limits).timeoutMs).toBeUndefined()
  })

  it.each(['1', '255'])('timeout %s is kept and counted in seconds', (value) => {
    expect(answer(`timeout=${value}`)).toBe(`timeout=${value}`)
    expect(negotiate([{ name: 'timeout', value }], 7, limits).timeoutMs).toBe(Number(value) * 1000)
  })

  it.each(['0', '65536', '-4', 'four'])('windowsize %s', (value) => {
    expect(answer(`windowsize=${value}`)).toBe('')
    expect(negotiate([{ name: 'windowsize', value }], 7, limits).windowSize).toBe(1)
  })

  it.each(['abc', '-1', ''])('tsize %s', (value) => {
    expect(answer(`tsize=${value}`)).toBe('')
  })
})

describe('windows (case 72)', () => {
  it.each([
    ['1', '1'],
    ['4', '4'],
    ['64', '64'],
    ['65', '64'],
    ['65535', '64'],
  ])('asked %s, granted %s', (asked, granted) => {
    expect(answer(`windowsize=${asked}`)).toBe(`windowsize=${granted}`)
  })

  it("an operator's cap stands below", () => {
    expect(answer('windowsize=65535', 7, { maxWindowSize: 8 })).toBe('windowsize=8')
  })
})

describe('block sizes fit the path (case 66)', () => {
  it.each([
    [1500, 4, undefined, 1468],
    [9000, 4, undefined, 8968],
    [1500, 6, undefined, 1448],
    [9000, 6, undefined, 8948],
    [65536, 4, undefined, 65464],
    [1500, 4, 1400, 1400],
    [1500, 4, 9000, 1468],
    [576, 4, undefined, 544],
    [20, 4, undefined, 8],
  ] as const)('MTU %i, IPv%i, cap %s: %i', (mtu, family, cap, expected) => {
    expect(blockSizeLimit(mtu, family, cap)).toBe(expected)
  })

  it.each([
    ['65464', 1500, undefined, '1468'],
    ['65464', 9000, undefined, '8968'],
    ['65464', 1500, 1400, '1400'],
    ['1468', 1500, undefined, '1468'],
    ['1432', 1500, undefined, '1432'],
    ['512', 9000, undefined, '512'],
  ] as const)('asked %s at MTU %i with cap %s: %s', (asked, mtu, cap, granted) => {
    expect(answer(`blksize=${asked}`, 7, { maxBlockSize: blockSizeLimit(mtu, 4, cap) })).toBe(
      `blksize=${granted}`,
    )
  })
})

describe('the size (case 61)', () => {
  it.each([1, 512, 1_048_576, 73_400_321, 6_000_000_000])('%i bytes to the byte', (sizeBytes) => {
    expect(answer('tsize=0', sizeBytes)).toBe(`tsize=${sizeBytes}`)
  })

  it('whoever asks for it is known to, since it may be all it wants', () => {
    expect(negotiate([{ name: 'tsize', value: '0' }], 7, limits).isSizeAsked).toBe(true)
    expect(negotiate([{ name: 'blksize', value: '512' }], 7, limits).isSizeAsked).toBe(false)
  })
})
