import { describe, expect, it } from 'vitest'
import { configFolder, problemLines, warningLines } from './config-folder.ts'

const folder = (address: string, dhcp: string) =>
  configFolder({
    'pilotlight.yaml': `version: 1
boot: { address: ${address}, tftp: {}, dhcp: { interface: eth1, ${dhcp} } }
streams: { s: { source: { url: https://x.example/s.json } } }
unknown: ignore
`,
  })
const subnet = (more: string) => `mode: server, subnets: [{ subnet: 192.0.2.0/24${more} }]`

describe('a name in the URLs of nodes (field case 54)', () => {
  it('is warned about in proxy mode, where nobody hands out a name server', () => {
    expect(warningLines(folder('boot.example', 'mode: proxy').load())).toEqual([
      'pilotlight.yaml:2:18: boot.address: boot.example is a name, and a proxy hands out no name server: firmware and iPXE may not find it; an IP address is safe',
    ])
  })

  it('needs a name server in every subnet of ours', () => {
    expect(problemLines(() => folder('boot.example:8080', subnet('')).load())).toEqual([
      'pilotlight.yaml:2:96: boot.dhcp.subnets[0]: 192.0.2.0/24 has no dns, and boot.address is the name boot.example, which nodes must look up',
    ])
    expect(warningLines(folder('boot.example', subnet(', dns: [192.0.2.1]')).load())).toEqual([])
  })

  it.each(['192.0.2.10', '"[2001:db8::10]:8080"'])('an address such as %s needs none', (address) => {
    expect(warningLines(folder(address, 'mode: proxy').load())).toEqual([])
    expect(warningLines(folder(address, subnet('')).load())).toEqual([])
  })
})
