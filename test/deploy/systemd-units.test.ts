import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { dhcpSocketsByInterface, readInheritedSockets } from '../../src/dhcp/inherited-sockets.ts'
import { tftpListen } from '../../src/runtime/tftp-listen.ts'
import { createRecordingLog } from '../fakes/recording-log.ts'

const folder = resolve(import.meta.dirname, '../../deploy/systemd')

/** Settings of a unit in order, `%i` replaced as systemd would. */
function unit(name: string, instance = ''): readonly (readonly [key: string, value: string])[] {
  return readFileSync(resolve(folder, name), 'utf8')
    .split('\n')
    .filter((line) => /^[A-Z]\w*=/.test(line))
    .map((line) => {
      const [key = '', ...value] = line.split('=')
      return [key, value.join('=').replaceAll('%i', instance)]
    })
}

function values(settings: ReturnType<typeof unit>, key: string): readonly string[] {
  return settings.filter(([name]) => name === key).map(([, value]) => value)
}

const http = unit('pilotlight-http.socket')
const tftp = unit('pilotlight-tftp.socket')
const dhcp = unit('pilotlight-dhcp@.socket', 'eth1')

describe('the socket units', () => {
  it('hand over sockets under names that the service knows', () => {
    const names = [http, tftp, dhcp, dhcp].flatMap((settings) => values(settings, 'FileDescriptorName'))
    const variables = { LISTEN_PID: '7', LISTEN_FDS: '4', LISTEN_FDNAMES: names.join(':') }
    const inherited = readInheritedSockets(variables, 7)
    expect(dhcpSocketsByInterface(inherited)).toEqual(new Map([['eth1', [5, 6]]]))
    const log = createRecordingLog()
    const config = { boot: { tftp: { listen: { port: 69 } } } } as never
    const addresses = new Map([['eth1', ['192.0.2.10']]])
    expect(tftpListen({ config, inherited, addresses, log })).toEqual([
      { kind: 'inherited', fd: 4, localAddress: '192.0.2.10' },
    ])
    expect(inherited.find(({ name }) => name === 'http')?.fd).toBe(3)
  })

  it('open the ports of DHCP and TFTP for IPv4: a number alone would open IPv6', () => {
    expect(values(dhcp, 'ListenDatagram')).toEqual(['0.0.0.0:67', '0.0.0.0:4011'])
    expect(values(tftp, 'ListenDatagram')).toEqual(['0.0.0.0:69'])
    expect(values(http, 'ListenStream')).toEqual(['80'])
    expect(values(dhcp, 'Broadcast')).toEqual(['yes'])
  })

  it('start no DHCP that hears every interface', () => {
    const dropIn = '/etc/systemd/system/pilotlight-dhcp@eth1.socket.d/interface.conf'
    expect(values(dhcp, 'AssertPathExists')).toEqual([dropIn])
  })

  it('belong to the service', () => {
    for (const settings of [http, tftp, dhcp])
      expect(values(settings, 'Service')).toEqual(['pilotlight.service'])
  })
})

describe('the service unit', () => {
  const service = unit('pilotlight.service')

  it('gives no right at all', () => {
    expect(values(service, 'CapabilityBoundingSet')).toEqual([''])
    expect(values(service, 'AmbientCapabilities')).toEqual([''])
    expect(values(service, 'NoNewPrivileges')).toEqual(['yes'])
    expect(values(service, 'User')).toEqual(['pilotlight'])
  })

  it('keeps the data directory where the example configuration has it', () => {
    expect(values(service, 'StateDirectory')).toEqual(['pilotlight'])
    expect(values(service, 'StateDirectoryMode')).toEqual(['0700'])
    const example = readFileSync(resolve(folder, '../examples/pilotlight.yaml'), 'utf8')
    expect(example).toContain('dataDir: /var/lib/pilotlight\n')
  })
})
