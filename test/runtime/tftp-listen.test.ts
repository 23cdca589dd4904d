import { describe, expect, it } from 'vitest'
import type { Config } from '../../src/config/config.ts'
import { tftpListen } from '../../src/runtime/tftp-listen.ts'
import { createRecordingLog } from '../fakes/recording-log.ts'

const oneWire = new Map([
  ['lo', ['127.0.0.1']],
  ['eth0', ['192.0.2.10']],
])
const twoWires = new Map([...oneWire, ['eth1', ['198.51.100.10']]])

function listen(boot: object, addresses: ReadonlyMap<string, readonly string[]>, names = ['tftp']) {
  const log = createRecordingLog()
  const inherited = names.map((name, index) => ({ fd: 3 + index, name }))
  const config = { boot } as unknown as Config
  const found = tftpListen({ config, inherited, addresses, log })
  return { listen: found, warnings: log.lines.filter(({ level }) => level === 'warn').length }
}

describe('where TFTP listens', () => {
  it('is the configured address without sockets from the service manager', () => {
    const boot = { tftp: { listen: { host: '192.0.2.10', port: 6969 } } }
    expect(listen(boot, oneWire, ['dhcp-eth0', 'http']).listen).toEqual([
      { kind: 'address', address: '192.0.2.10', port: 6969 },
    ])
  })

  it.each([
    ['the configured boot address', { address: { address: '198.51.100.10' } }, twoWires, '198.51.100.10'],
    ['that of the one DHCP interface', { dhcp: { interfaces: ['eth1'] } }, twoWires, '198.51.100.10'],
    ['the only one of this machine', {}, oneWire, '192.0.2.10'],
    [
      'the only one, when the boot address is elsewhere',
      { address: { address: '203.0.113.9' } },
      oneWire,
      '192.0.2.10',
    ],
  ])('is an inherited socket that answers from %s', (_, boot, addresses, localAddress) => {
    const { listen: found, warnings } = listen(boot, addresses)
    expect(found).toEqual([{ kind: 'inherited', fd: 3, localAddress }])
    expect(warnings).toBe(0)
  })

  it('is an inherited socket with a warning, when nobody can say which address was asked (field case 50)', () => {
    const { listen: found, warnings } = listen({ dhcp: { interfaces: ['eth0', 'eth1'] } }, twoWires)
    expect(found).toEqual([{ kind: 'inherited', fd: 3 }])
    expect(warnings).toBe(1)
  })
})
