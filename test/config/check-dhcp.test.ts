import { describe, expect, it } from 'vitest'
import { configFolder, problemLines, warningLines } from './config-folder.ts'

const folder = (boot: string, hosts?: string) =>
  configFolder({
    'pilotlight.yaml': `version: 1
boot: { ${boot} }
streams: { s: { source: { url: https://x.example/s.json } } }
unknown: ignore
${hosts === undefined ? '' : 'hosts: { directory: hosts.d }\n'}`,
    'hosts.d/a.yaml': `version: 1\nhosts:\n${hosts ?? '  []'}\n`,
  })
const server = (...subnets: string[]) =>
  `tftp: {}, dhcp: { mode: server, interface: eth1, subnets: [${subnets.join(', ')}] }`
const good = '{ subnet: 192.0.2.0/24, ranges: [192.0.2.100-192.0.2.199], routers: [192.0.2.1] }'

describe('subnets of ours', () => {
  it('that fit give no findings', () => {
    expect(warningLines(folder(server(good, '{ subnet: 198.51.100.0/24 }')).load())).toEqual([])
  })

  it.each([
    [
      'a range outside',
      '{ subnet: 192.0.2.0/24, ranges: [192.0.3.1-192.0.3.9] }',
      'subnets[0].ranges[0]: 192.0.3.1-192.0.3.9 is not inside 192.0.2.0/24',
    ],
    [
      'a range that ends outside',
      '{ subnet: 192.0.2.0/24, ranges: [192.0.2.1-192.0.3.9] }',
      'subnets[0].ranges[0]: 192.0.2.1-192.0.3.9 is not inside 192.0.2.0/24',
    ],
    [
      'ranges that overlap',
      '{ subnet: 192.0.2.0/24, ranges: [192.0.2.5-192.0.2.20, 192.0.2.1-192.0.2.5] }',
      'subnets[0].ranges[1]: 192.0.2.1-192.0.2.5 and 192.0.2.5-192.0.2.20 overlap',
    ],
    [
      'a router elsewhere',
      '{ subnet: 192.0.2.0/24, routers: [10.0.0.1] }',
      'subnets[0].routers[0]: 10.0.0.1 is not inside 192.0.2.0/24',
    ],
    [
      'a lease that ends during a boot',
      '{ subnet: 192.0.2.0/24, leaseTime: 30s }',
      'subnets[0].leaseTime: found "30s", allowed: from 2m; a boot takes longer than less',
    ],
    [
      'a network of multicast',
      '{ subnet: 224.0.0.0/24 }',
      'subnets[0].subnet: 224.0.0.0/24 is not one that machines can be in',
    ],
    [
      'an option that the service sets',
      '{ subnet: 192.0.2.0/24, options: [{ code: 67, type: text, value: x }] }',
      'subnets[0].options[0].code: option 67 is set by the service itself',
    ],
    [
      'an option whose value is not of its type',
      '{ subnet: 192.0.2.0/24, options: [{ code: 26, type: uint16, value: "70000" }] }',
      'subnets[0].options[0].value: option 26: "70000" is not a number from 0 to 65535',
    ],
    [
      'an option twice',
      '{ subnet: 192.0.2.0/24, options: [{ code: 100, type: text, value: a }, { code: 100, type: text, value: b }] }',
      'subnets[0].options[1].code: option 100 is there twice',
    ],
    [
      'subnets that overlap',
      `${good}, { subnet: 192.0.2.128/25 }`,
      'subnets[1].subnet: 192.0.2.128/25 and 192.0.2.0/24 overlap',
    ],
  ])('%s are refused, with the very place', (_, subnets, message) => {
    expect(problemLines(() => folder(server(subnets)).load())).toEqual([
      expect.stringMatching(/^pilotlight\.yaml:2:\d+: boot\.dhcp\./),
    ])
    expect(problemLines(() => folder(server(subnets)).load())[0]).toContain(message)
  })

  it('none at all is refused, with a line to begin with', () => {
    expect(problemLines(() => folder(server()).load())).toEqual([
      expect.stringMatching(/mode server needs subnets.*for example subnets: \[\{ subnet: 192\.0\.2\.0\/24/),
    ])
  })
})

describe('what DHCP and TFTP do not say to each other', () => {
  it.each([
    ['no interface', 'tftp: {}, dhcp: {}', 'boot.dhcp: names no interface'],
    ['no TFTP', 'dhcp: { interface: eth1 }', 'boot.dhcp: without boot.tftp'],
    [
      'a boot listener for this machine alone',
      'http: { listen: 127.0.0.1:80 }, tftp: {}, dhcp: { interface: eth1 }',
      'boot.http.listen: only this machine can reach it',
    ],
    [
      'TFTP for this machine alone',
      'tftp: { listen: 127.0.0.1:69 }',
      'boot.tftp.listen: only this machine can reach it',
    ],
    [
      'TFTP at another port',
      'tftp: { listen: 0.0.0.0:6969 }',
      'boot.tftp.listen: firmware asks for loaders at port 69 alone',
    ],
    [
      'a subnet of loopback',
      'tftp: {}, dhcp: { mode: server, interface: lo, subnets: [{ subnet: 127.0.0.0/8 }] }',
      'boot.dhcp.subnets[0].subnet: 127.0.0.0/8 is loopback',
    ],
    [
      'a proxy with authority',
      'tftp: {}, dhcp: { interface: eth1, authoritative: true }',
      'boot.dhcp.authoritative: a proxy refuses no address',
    ],
  ])('%s is warned about', (_, boot, message) => {
    expect(warningLines(folder(boot).load())).toEqual([expect.stringContaining(message)])
  })
})

describe('an address that is reserved for a host', () => {
  const host = (address: string, id = 'a') =>
    `  - { id: ${id}, serial: ${id}, mode: local, address: ${address} }`

  it('is warned about where somebody else gives the addresses', () => {
    expect(warningLines(folder('tftp: {}', host('192.0.2.7')).load())).toEqual([
      'hosts.d/a.yaml:3:47: hosts[0].address: does nothing: addresses are given by boot.dhcp in mode server alone',
    ])
  })

  it('must be in a subnet of ours, and belongs to one host', () => {
    expect(warningLines(folder(server(good), host('192.0.2.7')).load())).toEqual([])
    expect(problemLines(() => folder(server(good), host('10.0.0.7')).load())).toEqual([
      'hosts.d/a.yaml:3:47: hosts[0].address: 10.0.0.7 is in none of our subnets, allowed: 192.0.2.0/24',
    ])
    const two = `${host('192.0.2.7')}\n${host('192.0.2.7', 'b')}`
    expect(problemLines(() => folder(server(good), two).load())).toEqual([
      'hosts.d/a.yaml:4:47: hosts[1].address: address 192.0.2.7 belongs to host a (hosts.d/a.yaml:3)',
    ])
  })
})
