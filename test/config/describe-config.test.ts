import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { configReference, describeConfig, valueText } from '../../src/config/describe-config.ts'
import { jsonSchemas } from '../../src/config/json-schema.ts'
import { settables } from '../../src/config/settable.ts'
import { configFolder } from './config-folder.ts'

describe('config show', () => {
  it('shows every value with its origin, in the order of the schema, without secrets', () => {
    const folder = configFolder({
      token: 't0ken',
      'pilotlight.yaml': `upstream: { proxy: http://me:pa55@proxy.example:3128 }
version: 1
streams:
  s:
    source:
      url: https://x.example/s.json
      headers: { Authorization: Bearer s3cret, X-Token: { file: token }, X-Env: { env: T } }
profiles: { p: { mode: live, ignition: { inline: '{"ignition": {"version": "3.4.0"}, "pa55": 1}' } } }
unknown: { profile: p }
`,
    })
    const shown = describeConfig(
      folder.load({
        env: { PILOTLIGHT_LOG_LEVEL: 'debug', T: 's3cret' },
        flags: { 'boot.http.listen': ':8000' },
      }),
    )
    expect(shown.map(({ path, value, origin }) => `${path} = ${valueText(value)}  [${origin}]`)).toEqual([
      'version = 1  [pilotlight.yaml:2]',
      'dataDir = /var/lib/pilotlight  [default]',
      'boot.http.listen = :8000  [--boot-http-listen]',
      'boot.http.ignoredMachines = script  [default]',
      'boot.loaders.directories = []  [default]',
      'boot.loaders.sets = {}  [default]',
      'boot.tokens.life = 2h  [default]',
      'boot.tokens.reportLife = 24h  [default]',
      'boot.tokens.bind = none  [default]',
      'admin.listen = 127.0.0.1:8081  [default]',
      'admin.trustedProxies = []  [default]',
      'streams.s.source.url = https://x.example/s.json  [pilotlight.yaml:6]',
      'streams.s.source.headers.Authorization = (hidden)  [pilotlight.yaml:7]',
      'streams.s.source.headers.X-Token.file = token  [pilotlight.yaml:7]',
      'streams.s.source.headers.X-Env.env = T  [pilotlight.yaml:7]',
      'streams.s.architectures[0] = x86_64  [default]',
      'streams.s.refresh = 15m  [default]',
      'streams.s.keep = 2  [default]',
      'streams.s.signatures = if-present  [default]',
      'streams.s.mirrors = []  [default]',
      'streams.s.changes.advanced = follow  [default]',
      'streams.s.changes.rolledBack = confirm  [default]',
      'streams.s.changes.republished = hold  [default]',
      'keys = []  [default]',
      'profiles.p.mode = live  [pilotlight.yaml:8]',
      'profiles.p.ignition.inline = (hidden)  [pilotlight.yaml:8]',
      'groups = {}  [default]',
      'unknown.profile = p  [pilotlight.yaml:9]',
      'upstream.proxy = http://(hidden)@proxy.example:3128  [pilotlight.yaml:1]',
      'upstream.allow = []  [default]',
      'webhooks = []  [default]',
      'retention.audit = 400d  [default]',
      'retention.reports = 90d  [default]',
      'retention.boots = 30d  [default]',
      'retention.seen = 30d  [default]',
      'capture.memory = 8MiB  [default]',
      'log.level = debug  [environment PILOTLIGHT_LOG_LEVEL]',
      'log.format = auto  [default]',
    ])
    expect(JSON.stringify(shown)).not.toMatch(/s3cret|pa55|t0ken/)
  })
})

describe('names of flags and variables', () => {
  it('follow from the path by one rule', () => {
    expect(settables().map(({ key, flag, variable }) => `${key} ${flag} ${variable}`)).toEqual([
      'dataDir --data-dir PILOTLIGHT_DATA_DIR',
      'boot.address --boot-address PILOTLIGHT_BOOT_ADDRESS',
      'boot.http.listen --boot-http-listen PILOTLIGHT_BOOT_HTTP_LISTEN',
      'boot.http.ignoredMachines --boot-http-ignored-machines PILOTLIGHT_BOOT_HTTP_IGNORED_MACHINES',
      'boot.tftp.listen --boot-tftp-listen PILOTLIGHT_BOOT_TFTP_LISTEN',
      'boot.tftp.ports --boot-tftp-ports PILOTLIGHT_BOOT_TFTP_PORTS',
      'boot.dhcp.mode --boot-dhcp-mode PILOTLIGHT_BOOT_DHCP_MODE',
      'boot.dhcp.interface --boot-dhcp-interface PILOTLIGHT_BOOT_DHCP_INTERFACE',
      'boot.dhcp.interfaces --boot-dhcp-interfaces PILOTLIGHT_BOOT_DHCP_INTERFACES',
      'boot.dhcp.style --boot-dhcp-style PILOTLIGHT_BOOT_DHCP_STYLE',
      'boot.loaders.directories --boot-loaders-directories PILOTLIGHT_BOOT_LOADERS_DIRECTORIES',
      'boot.tokens.life --boot-tokens-life PILOTLIGHT_BOOT_TOKENS_LIFE',
      'boot.tokens.reportLife --boot-tokens-report-life PILOTLIGHT_BOOT_TOKENS_REPORT_LIFE',
      'boot.tokens.bind --boot-tokens-bind PILOTLIGHT_BOOT_TOKENS_BIND',
      'admin.listen --admin-listen PILOTLIGHT_ADMIN_LISTEN',
      'admin.tls.certificate --admin-tls-certificate PILOTLIGHT_ADMIN_TLS_CERTIFICATE',
      'admin.tls.key --admin-tls-key PILOTLIGHT_ADMIN_TLS_KEY',
      'admin.tls.clientAuthority --admin-tls-client-authority PILOTLIGHT_ADMIN_TLS_CLIENT_AUTHORITY',
      'admin.trustedProxies --admin-trusted-proxies PILOTLIGHT_ADMIN_TRUSTED_PROXIES',
      'keys --keys PILOTLIGHT_KEYS',
      'unknown --unknown PILOTLIGHT_UNKNOWN',
      'unknown.profile --unknown-profile PILOTLIGHT_UNKNOWN_PROFILE',
      'hosts.directory --hosts-directory PILOTLIGHT_HOSTS_DIRECTORY',
      'templates.directory --templates-directory PILOTLIGHT_TEMPLATES_DIRECTORY',
      'upstream.proxy --upstream-proxy PILOTLIGHT_UPSTREAM_PROXY',
      'upstream.noProxy --upstream-no-proxy PILOTLIGHT_UPSTREAM_NO_PROXY',
      'upstream.ca --upstream-ca PILOTLIGHT_UPSTREAM_CA',
      'upstream.allow --upstream-allow PILOTLIGHT_UPSTREAM_ALLOW',
      'retention.audit --retention-audit PILOTLIGHT_RETENTION_AUDIT',
      'retention.reports --retention-reports PILOTLIGHT_RETENTION_REPORTS',
      'retention.boots --retention-boots PILOTLIGHT_RETENTION_BOOTS',
      'retention.seen --retention-seen PILOTLIGHT_RETENTION_SEEN',
      'capture --capture PILOTLIGHT_CAPTURE',
      'capture.memory --capture-memory PILOTLIGHT_CAPTURE_MEMORY',
      'log.level --log-level PILOTLIGHT_LOG_LEVEL',
      'log.format --log-format PILOTLIGHT_LOG_FORMAT',
    ])
  })
})

describe('config reference', () => {
  const reference = configReference()
  const rows = reference.split('\n').filter((line) => line.startsWith('| `'))

  it('describes every key of both formats', () => {
    expect(rows.length).toBeGreaterThan(110)
    for (const row of rows) {
      const [, key, allowed, , meaning] = row.split(/(?<!\\)\|/)
      expect(allowed?.trim(), `allowed of ${key}`).not.toBe('')
      expect(meaning?.trim(), `meaning of ${key}`).not.toBe('')
    }
  })

  it('tells what is allowed, the default and the names of flag and variable', () => {
    expect(rows).toContain(
      '| `boot.http.listen` | an address and port such as 0.0.0.0:80, [::]:80 or :8080 | `0.0.0.0:80` | Where nodes fetch scripts and files. Also `--boot-http-listen`, `PILOTLIGHT_BOOT_HTTP_LISTEN`. |',
    )
    expect(rows).toContain('| `version` | 1 | required | The version of this format. |')
    expect(rows).toContain(
      '| `streams.<name>.source` | a mapping | required | Where its metadata comes from. |',
    )
    expect(rows.some((row) => row.startsWith('| `hosts[].macs` | a list |'))).toBe(true)
  })
})

describe('the JSON schemas', () => {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false })
  const { config, hosts } = jsonSchemas()

  it('are standard ones that take what the service takes', () => {
    const isConfig = ajv.compile(config)
    expect(isConfig({ version: 1 })).toBe(true)
    expect(
      isConfig({
        version: 1,
        streams: { s: { source: { url: 'https://x.example/' } } },
        unknown: { profile: 'p' },
      }),
    ).toBe(true)
    expect(isConfig({ version: 1, streams: { s: { source: {} } } })).toBe(false)
    expect(isConfig({ version: 1, bot: {} })).toBe(false)
    const isHosts = ajv.compile(hosts)
    expect(isHosts({ version: 1, hosts: [{ id: 'a', macs: ['52:54:00:00:00:01'] }] })).toBe(true)
    expect(isHosts({ version: 1, hosts: [{ id: 'a' }] })).toBe(false)
  })
})
