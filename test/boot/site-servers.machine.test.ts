import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { type BootSite, bootProblem, has } from './boot-site.ts'
import { expectBoot } from './expect-boot.ts'
import { makeRelease } from './payload.ts'
import { withBootSite } from './with-boot-site.ts'
import { writeSnippet } from './write-snippet.ts'

/** DHCP servers of a site, each with our snippet and what it needs besides: the command that starts it. */
const servers = {
  'ISC dhcpd': {
    // By its path: an npm package of strangers has a `dhcpd` of its own.
    program: '/usr/sbin/dhcpd',
    snippet: 'dhcpd.conf',
    command(site: BootSite, snippet: string): string {
      const file = join(site.directory, 'site-dhcpd.conf')
      const leases = join(site.directory, 'dhcpd.leases')
      const subnet = 'range 192.0.2.128 192.0.2.254; option routers 192.0.2.1;'
      writeFileSync(leases, '')
      writeFileSync(file, `include "${snippet}";\nsubnet 192.0.2.0 netmask 255.255.255.0 { ${subnet} }\n`)
      return `exec /usr/sbin/dhcpd -4 -f -d -user root -group root -cf '${file}' -lf '${leases}' --no-pid eth0`
    },
  },
  Kea: {
    program: 'kea-dhcp4',
    snippet: 'kea-client-classes.json',
    command(site: BootSite, snippet: string): string {
      const file = join(site.directory, 'kea-dhcp4.conf')
      const run = join(site.directory, 'kea')
      mkdirSync(run)
      writeFileSync(
        file,
        `{ "Dhcp4": {
          "interfaces-config": { "interfaces": ["eth0"] },
          "lease-database": { "type": "memfile", "persist": false },
          "loggers": [{ "name": "kea-dhcp4", "severity": "INFO", "output_options": [{ "output": "stdout" }] }],
          "subnet4": [{
            "subnet": "192.0.2.0/24",
            "pools": [{ "pool": "192.0.2.128 - 192.0.2.254" }],
            "option-data": [{ "name": "routers", "data": "192.0.2.1" }]
          }],
          "client-classes": <?include "${snippet}"?>
        } }`,
      )
      return `KEA_PIDFILE_DIR='${run}' KEA_LOCKFILE_DIR=none exec kea-dhcp4 -c '${file}'`
    },
  },
} as const

const boots = (['ISC dhcpd', 'Kea'] as const).flatMap((server) =>
  (['bios-pxe-plain', 'uefi-http', 'uefi-pxe-secure'] as const).map(
    (firmware) => [server, firmware] as const,
  ),
)
const missing = Object.values(servers).filter(({ program }) => !has(program))
if (!bootProblem() && missing.length > 0)
  console.log(`not installed, so not tried: ${missing.map(({ program }) => program).join(', ')}`)

describe.skipIf(bootProblem() !== undefined)('the site’s own DHCP server, with our snippet', () => {
  it.concurrent.for(boots.filter(([server]) => has(servers[server].program)))(
    '%s, %s',
    ([server, firmware], test) =>
      withBootSite(test, `${firmware}, ${server}`, async (site) => {
        const { snippet, command } = servers[server]
        const made = makeRelease(site.upstream, '44.20261101.3.0', 'x86_64')
        site.publish(made)
        site.configure({ mode: 'site', firmware })
        const siteServer = command(site, writeSnippet(site, snippet, firmware))
        const report = await site.boot({ mode: 'site', firmware, siteServer })
        expectBoot(site, report, made)
      }),
  )
})
