import { describe, expect, it } from 'vitest'
import { matchHost } from '../../src/core/match-host.ts'
import { parseUuid } from '../../src/core/uuid.ts'
import { mac, makeClient, makeHost, makeInventory, uuid } from '../fakes/machines.ts'

const first = makeHost({ id: 'first', macs: [mac('52:54:00:00:00:01'), mac('52:54:00:00:00:02')] })
const second = makeHost({
  id: 'second',
  macs: [mac('52:54:00:00:00:03')],
  uuid: uuid('00112233-4455-6677-8899-aabbccddeeff'),
  serial: 'SN-2',
})
const inventory = makeInventory({ hosts: [first, second] })

describe('which host a client is', () => {
  it('any of several MACs identifies it (field case 158)', () => {
    const client = makeClient({ macs: [mac('52:54:00:99:99:99'), mac('52:54:00:00:00:02')] })
    expect(matchHost(client, inventory)).toEqual({
      host: first,
      reason: { code: 'host-matched-by-mac', facts: { host: 'first', mac: '52:54:00:00:00:02' } },
    })
  })

  it('the MAC that asks first wins when two hosts are named', () => {
    const client = makeClient({ macs: [mac('52:54:00:00:00:03'), mac('52:54:00:00:00:01')] })
    expect(matchHost(client, inventory)?.host).toBe(second)
  })

  it('a MAC stands above UUID and serial of another host', () => {
    const client = makeClient({ macs: [mac('52:54:00:00:00:01')], uuid: second.uuid, serial: 'SN-2' })
    expect(matchHost(client, inventory)?.host).toBe(first)
  })

  it.each(['00112233-4455-6677-8899-aabbccddeeff', '33221100-5544-7766-8899-aabbccddeeff'])(
    'UUID %s matches in either byte order (field case 155)',
    (text) => {
      const match = matchHost(makeClient({ macs: [], uuid: uuid(text) }), inventory)
      expect(match?.host).toBe(second)
      expect(match?.reason.code).toBe('host-matched-by-uuid')
    },
  )

  it('a serial identifies when nothing better does', () => {
    const match = matchHost(makeClient({ macs: [mac('52:54:00:99:99:99')], serial: 'SN-2' }), inventory)
    expect(match?.host).toBe(second)
    expect(match?.reason.code).toBe('host-matched-by-serial')
  })

  it('nobody is matched by nothing', () => {
    expect(matchHost(makeClient({ macs: [] }), inventory)).toBeUndefined()
    expect(matchHost(makeClient({ macs: [mac('52:54:00:99:99:99')] }), inventory)).toBeUndefined()
  })

  it('a Raspberry Pi that repeats its serial as UUID has no UUID (field case 45)', () => {
    expect(parseUuid('1234abcd-1234-abcd-1234-abcd1234abcd')).toBeUndefined()
    expect(parseUuid('1234abcd-1234-abcd-1234-abcd1234abce')).toBeDefined()
  })
})
