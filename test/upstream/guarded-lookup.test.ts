import type { LookupAddress, LookupOptions } from 'node:dns'
import { describe, expect, it } from 'vitest'
import { AddressRefusedError, guardedLookup, type Resolver } from '../../src/upstream/guarded-lookup.ts'

function resolvingTo(...addresses: string[]): Resolver {
  return (_hostname, _options, callback) => {
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }
}

function look(resolve: Resolver, options: LookupOptions): Promise<string | LookupAddress[]> {
  return new Promise((done, fail) => {
    guardedLookup(resolve)('mirror.example', options, (error, address) =>
      error ? fail(error) : done(address),
    )
  })
}

describe('guardedLookup', () => {
  it('gives all allowed addresses, in their order', async () => {
    const found = await look(resolvingTo('fe80::1', '192.168.1.5', '127.0.0.1', '2001:db8::1'), { all: true })
    expect(found).toEqual([
      { address: '192.168.1.5', family: 4 },
      { address: '2001:db8::1', family: 6 },
    ])
  })

  it('gives the first allowed one where a single address is asked for', async () => {
    expect(await look(resolvingTo('127.0.0.1', '10.0.0.1'), {})).toBe('10.0.0.1')
  })

  it.each(['127.0.0.1', '::1', '::ffff:127.0.0.1', '169.254.169.254', '0.0.0.0'])(
    'a name that is only %s is refused',
    async (address) => {
      await expect(look(resolvingTo(address), { all: true })).rejects.toBeInstanceOf(AddressRefusedError)
    },
  )

  it('a name without any address is an error of its own', async () => {
    await expect(look(resolvingTo(), { all: true })).rejects.toThrow('mirror.example has no address')
  })

  it('a failing resolver is reported as it is', async () => {
    const failure = Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
    await expect(look((_name, _options, callback) => callback(failure, []), {})).rejects.toBe(failure)
  })
})
