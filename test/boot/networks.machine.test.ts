import { describe, expect, it } from 'vitest'
import type { Firmware } from './boot-machine.ts'
import { saidAtHome, wordOf } from './boot-report.ts'
import { bootProblem, type DhcpMode, type SiteConfig } from './boot-site.ts'
import { expectRelease } from './expect-boot.ts'
import { makeRelease } from './payload.ts'
import { withBootSite } from './with-boot-site.ts'

const subnets = [
  { subnet: '192.0.2.0/24', ranges: ['192.0.2.128-192.0.2.254'], routers: ['192.0.2.1'] },
  { subnet: '203.0.113.0/24', ranges: ['203.0.113.128-203.0.113.254'], routers: ['203.0.113.1'] },
]

interface NetworkBoot {
  readonly name: string
  readonly firmware: Firmware
  readonly mode: DhcpMode
  readonly options: readonly string[]
  readonly config?: Partial<SiteConfig>
}

const networks: readonly NetworkBoot[] = [
  {
    name: 'behind a relay',
    firmware: 'bios-pxe',
    mode: 'server',
    options: ['--relay'],
    config: { dhcp: { subnets } },
  },
  { name: 'behind a relay', firmware: 'uefi-ipxe', mode: 'proxy', options: ['--relay'] },
  {
    name: 'first card without link',
    firmware: 'bios-pxe',
    mode: 'proxy',
    options: ['--idle-card', '52:54:00:77:00:f0'],
  },
  {
    name: 'first card without link',
    firmware: 'uefi-pxe',
    mode: 'server',
    options: ['--idle-card', '52:54:00:77:00:f0'],
  },
  { name: '5 % packet loss', firmware: 'bios-pxe-plain', mode: 'proxy', options: ['--loss', '5'] },
  { name: '5 % packet loss', firmware: 'uefi-pxe', mode: 'server', options: ['--loss', '5'] },
  {
    name: 'DHCP server of the site is slow',
    firmware: 'bios-pxe',
    mode: 'proxy',
    options: ['--site-arg=--dhcp-reply-delay=3'],
  },
  {
    name: 'DHCP server of the site is slow',
    firmware: 'uefi-pxe',
    mode: 'proxy',
    options: ['--site-arg=--dhcp-reply-delay=3'],
  },
]

describe.skipIf(bootProblem() !== undefined)('networks as they are', () => {
  it.concurrent.for(networks.map((network) => [network.firmware, network.name, network] as const))(
    '%s: %s',
    ([firmware, name, { mode, options, config }], test) =>
      withBootSite(test, `${firmware}, ${name}`, async (site) => {
        const made = makeRelease(site.upstream, '44.20261101.3.0', 'x86_64')
        site.publish(made)
        site.configure({ mode, firmware, ...config })
        const report = await site.boot({ mode, firmware, options })
        expectRelease(report, made)
        const network = saidAtHome(report, 'network')
        expect(wordOf(network, 'mac')).toBe('52:54:00:77:00:01')
        const subnet = options.includes('--relay') ? '203.0.113.' : '192.0.2.'
        expect(wordOf(network, 'address')).toContain(subnet)
      }),
  )
})
