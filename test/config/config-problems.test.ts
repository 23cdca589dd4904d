import { describe, expect, it } from 'vitest'
import { configFolder, problemLines, problemsOf, warningLines } from './config-folder.ts'

const head = 'version: 1\n'
const lines = (text: string, more: Readonly<Record<string, string>> = {}) =>
  problemLines(() => configFolder({ 'pilotlight.yaml': text, ...more }).load())

/** A stream and a profile, for what refers to them: seven lines. */
const base = `version: 1
streams:
  stable:
    source: { file: stable.json }
profiles:
  live: { stream: stable, mode: live }
  disk: { stream: stable, mode: install }
`

describe('what a configuration may not say', () => {
  it.each([
    [
      'nothing at all',
      '',
      ['pilotlight.yaml:1:1: found nothing, allowed: a mapping (for example { version: 1 })'],
    ],
    [
      'no YAML',
      `${head}boot: {\n`,
      [
        'pilotlight.yaml:3:1: cannot be read as YAML: Flow map in block collection must be sufficiently indented and end with a }',
      ],
    ],
    ['one key twice', `${head}${head}`, ['pilotlight.yaml:2:1: version: this key is there twice']],
    ['a list', '- a\n', ['pilotlight.yaml:1:1: found a list, allowed: a mapping']],
    [
      'no version',
      'dataDir: x\n',
      ['pilotlight.yaml:1:1: the key "version" is missing, allowed: 1 (for example version: 1)'],
    ],
    ['a later version', 'version: 2\n', ['pilotlight.yaml:1:10: version: found the number 2, allowed: 1']],
    [
      'a version as text',
      "version: '1'\n",
      ['pilotlight.yaml:1:10: version: found "1", allowed: 1 (write it without quotes: 1)'],
    ],
    [
      // field case 126
      'an unknown key, with what was meant',
      `${head}boot:\n  htpp: { listen: ':80' }\n`,
      [
        'pilotlight.yaml:3:3: boot.htpp: unknown key, allowed: address, dhcp, http, loaders, tftp, tokens (did you mean "http"?)',
      ],
    ],
    [
      'an unknown key that resembles nothing',
      `${head}log: { colour: true }\n`,
      ['pilotlight.yaml:2:8: log.colour: unknown key, allowed: format, level'],
    ],
    [
      'an empty section',
      `${head}boot:\n`,
      ['pilotlight.yaml:2:6: boot: found nothing, allowed: a mapping (for example { address: 192.0.2.10 })'],
    ],
    [
      'a number where text is due',
      `${head}dataDir: 5\n`,
      ["pilotlight.yaml:2:10: dataDir: found the number 5, allowed: a path (write it in quotes: '5')"],
    ],
    [
      'a release that YAML takes for a number',
      `${head}profiles: { p: { pin: { release: 4.10 } } }\n`,
      [
        "pilotlight.yaml:2:34: profiles.p.pin.release: found the number 4.1, allowed: a release as the metadata spells it, such as 44.20260707.3.1 (write it in quotes: '4.10')",
      ],
    ],
    [
      'a word outside of its set',
      `${head}log: { level: wran }\n`,
      [
        'pilotlight.yaml:2:15: log.level: found "wran", allowed: debug, info, warn, error, silent (did you mean "warn"?)',
      ],
    ],
    [
      'a bad listen address',
      `${head}admin: { listen: 8081 }\n`,
      [
        'pilotlight.yaml:2:18: admin.listen: found the number 8081, allowed: an address and port such as 0.0.0.0:80, [::]:80 or :8080 (did you mean ":8081"?)',
      ],
    ],
    [
      'a bad name',
      `${head}streams:\n  "my stream": { source: { file: x } }\n`,
      [
        'pilotlight.yaml:3:3: streams["my stream"]: found the name "my stream", allowed: at most 63 letters, digits, ".", "_" and "-", beginning with a letter or digit',
      ],
    ],
    [
      'no source, an empty one, two in one',
      `${head}streams:\n  a: {}\n  b: { source: {} }\n  c: { source: { url: https://x.example/, file: x } }\n`,
      [
        'pilotlight.yaml:3:3: streams.a: the key "source" is missing, allowed: a mapping (for example source: { url: https://builds.coreos.fedoraproject.org/streams/stable.json })',
        'pilotlight.yaml:4:8: streams.b.source: found none of them, allowed: exactly one of url, file, directory, configMap (for example url: https://builds.coreos.fedoraproject.org/streams/stable.json)',
        'pilotlight.yaml:5:8: streams.c.source: found url and file, allowed: exactly one of url, file, directory, configMap',
      ],
    ],
    [
      // field case 163
      'URLs that reach where they should not',
      `${head}streams:\n  a: { source: { url: file:///etc/passwd } }\n  b: { source: { url: https://me:secret@x.example/ }, mirrors: [x] }\n`,
      [
        'pilotlight.yaml:3:23: streams.a.source.url: found "file:///etc/passwd" (its scheme is file), allowed: an http or https URL',
        'pilotlight.yaml:4:23: streams.b.source.url: found "https://me:secret@x.example/" (it holds a user name or a password), allowed: an http or https URL',
        'pilotlight.yaml:4:65: streams.b.mirrors[0]: found "x" (it is not a URL), allowed: an http or https URL of a directory',
      ],
    ],
    [
      'lives of boot tokens that no token can carry',
      `${head}boot:\n  tokens:\n    life: 3s\n    reportLife: 90s\n`,
      [
        'pilotlight.yaml:4:11: boot.tokens.life: found "3s" (it is too short), allowed: whole minutes from 1m to 7d, such as 90m, 2h or 1d',
        'pilotlight.yaml:5:17: boot.tokens.reportLife: found "90s" (it is not in whole minutes), allowed: whole minutes from 1m to 7d, such as 90m, 2h or 1d',
      ],
    ],
    [
      'numbers out of range and in the wrong place',
      `${head}streams:\n  a:\n    source: { file: x }\n    keep: -1\n    refresh: 900\n    architectures: []\n  b:\n    source: { file: x }\n    keep: 1.5\n    refresh: 1h30\n    architectures: [i386, amd64, amd64]\n`,
      [
        'pilotlight.yaml:5:11: streams.a.keep: found the number -1, allowed: a whole number from 0 to 100',
        'pilotlight.yaml:6:14: streams.a.refresh: found the number 900, allowed: a time from 1s to 7d, such as 90s, 15m or 1h30m (did you mean "900s"?)',
        'pilotlight.yaml:7:20: streams.a.architectures: found no entry, allowed: at least one (for example [x86_64])',
        'pilotlight.yaml:10:11: streams.b.keep: found the number 1.5, allowed: a whole number from 0 to 100',
        'pilotlight.yaml:11:14: streams.b.refresh: found "1h30", allowed: a time from 1s to 7d, such as 90s, 15m or 1h30m',
        'pilotlight.yaml:12:21: streams.b.architectures[0]: found "i386", allowed: x86_64, aarch64, ppc64le, s390x',
        'pilotlight.yaml:12:34: streams.b.architectures[2]: found "amd64" twice, allowed: once',
      ],
    ],
    [
      // field case 118
      'kernel arguments that iPXE would cut',
      `${head}profiles:\n  p:\n    kernelArguments:\n      - a b\n      - ';'\n      - '#x'\n      - 'x\\'\n      - 'mac=\${mac}'\n      - quiet\n`,
      [
        'pilotlight.yaml:5:9: profiles.p.kernelArguments[0]: found "a b" (it has a blank, a control character or a character outside ASCII), allowed: one kernel argument without blanks',
        'pilotlight.yaml:6:9: profiles.p.kernelArguments[1]: found ";" (iPXE would end the command there), allowed: one kernel argument without blanks',
        'pilotlight.yaml:7:9: profiles.p.kernelArguments[2]: found "#x" (iPXE would take it for a comment), allowed: one kernel argument without blanks',
        'pilotlight.yaml:8:9: profiles.p.kernelArguments[3]: found "x\\\\" (iPXE would join the next line), allowed: one kernel argument without blanks',
        'pilotlight.yaml:9:9: profiles.p.kernelArguments[4]: found "mac=${mac}" (iPXE would expand it), allowed: one kernel argument without blanks',
      ],
    ],
    [
      'a header in a wrong form',
      `${head}streams:\n  a:\n    source:\n      url: https://x.example/\n      headers: { Host: x, X-A: 5, X-B: { evn: T }, X-C: { env: T, file: f } }\n`,
      [
        'pilotlight.yaml:6:18: streams.a.source.headers.Host: found the name "Host" (the service sets it itself), allowed: the name of a request header that the service does not set itself',
        'pilotlight.yaml:6:32: streams.a.source.headers.X-A: found something else (hidden), allowed: a text, { env: NAME } or { file: PATH }',
        'pilotlight.yaml:6:35: streams.a.source.headers.X-B: found none of them, allowed: exactly one of env, file',
        'pilotlight.yaml:6:42: streams.a.source.headers.X-B.evn: unknown key, allowed: env, file (did you mean "env"?)',
        'pilotlight.yaml:6:52: streams.a.source.headers.X-C: found env and file, allowed: exactly one of env, file',
      ],
    ],
    [
      'a wrong form of unknown',
      `${head}unknown: { profle: x }\n`,
      ['pilotlight.yaml:2:12: unknown.profle: unknown key, allowed: profile (did you mean "profile"?)'],
    ],
    [
      'another word for unknown machines',
      `${head}unknown: ingore\n`,
      [
        'pilotlight.yaml:2:10: unknown: found "ingore", allowed: ignore or { profile: NAME } (did you mean "ignore"?)',
      ],
    ],
    [
      'a group that selects everything',
      `${head}groups: { g: { match: { labels: {} } } }\n`,
      [
        'pilotlight.yaml:2:33: groups.g.match.labels: found no entry, allowed: at least one (for example { site: edge })',
      ],
    ],
    [
      'a label that is no text',
      `${head}groups: { g: { match: { labels: { rack: 1 } } } }\n`,
      [
        "pilotlight.yaml:2:41: groups.g.match.labels.rack: found the number 1, allowed: one line of at most 200 characters (write it in quotes: '1')",
      ],
    ],
  ])('%s', (_, text, expected) => {
    expect(lines(text)).toEqual(expected)
  })

  it('a long or strange value is shown short and harmless', () => {
    const [long = '', strange = ''] = lines(
      `${head}log: { level: ${'x'.repeat(5000)}, format: "\\u202e\\e[31m" }\n`,
    )
    expect(long.length).toBeLessThan(250)
    expect(strange).toBe(
      'pilotlight.yaml:2:5025: log.format: found "\\u202e\\u001b[31m", allowed: auto, text, json',
    )
  })

  it('hundreds of mistakes are counted, not printed', () => {
    const text = head + Array.from({ length: 300 }, (_, index) => `x${index}: 1\n`).join('')
    const problems = problemsOf(() => configFolder({ 'pilotlight.yaml': text }).load())
    expect(problems).toHaveLength(300)
    expect(() => configFolder({ 'pilotlight.yaml': text }).load()).toThrowError(/\nand 280 more$/)
  })

  it('problems are data: file, line, column, path, message, hint', () => {
    expect(problemsOf(() => configFolder({ 'pilotlight.yaml': `${head}bot: {}\n` }).load())).toEqual([
      {
        file: 'pilotlight.yaml',
        line: 2,
        column: 1,
        path: 'bot',
        message:
          'unknown key, allowed: admin, boot, capture, dataDir, groups, hosts, keys, log, profiles, retention, streams, templates, unknown, upstream, version, webhooks',
        hint: 'did you mean "boot"?',
      },
    ])
  })
})

describe('what does not fit together', () => {
  it.each([
    [
      'streams and profiles that do not exist',
      `${base}  other: { stream: stabel }\ngroups: { g: { match: { labels: { a: b } }, profile: liev, stream: nope } }\nunknown: { profile: dsik }\n`,
      [
        'pilotlight.yaml:8:20: profiles.other.stream: there is no stream "stabel" (did you mean "stable"?)',
        'pilotlight.yaml:9:54: groups.g.profile: there is no profile "liev" (did you mean "live"?)',
        'pilotlight.yaml:9:68: groups.g.stream: there is no stream "nope"',
        'pilotlight.yaml:10:21: unknown.profile: there is no profile "dsik" (did you mean "disk"?)',
      ],
    ],
    [
      'unknown machines that would be installed',
      `${base}unknown: { profile: disk }\n`,
      [
        'pilotlight.yaml:8:21: unknown.profile: profile "disk" installs to disk, and unknown machines are never installed',
      ],
    ],
    [
      'DHCP without a word on unknown machines',
      `${base}boot: { dhcp: { mode: proxy } }\n`,
      [
        'pilotlight.yaml:8:9: boot.dhcp: needs the key "unknown" written down, because DHCP answers every machine; allowed: ignore or { profile: NAME }',
      ],
    ],
    [
      'both listeners at one address',
      `${base}boot: { http: { listen: ':8081' } }\n`,
      [
        'pilotlight.yaml:1:1: admin.listen: found 127.0.0.1:8081, where boot.http.listen is (:8081); allowed: an address of its own',
      ],
    ],
    [
      'keys of a source that mean nothing there',
      `${head}streams:\n  a: { source: { file: x, mirrors: [https://m.example/x], stream: s, headers: { A: b } } }\n`,
      [
        'pilotlight.yaml:3:27: streams.a.source.mirrors: only means something beside url',
        'pilotlight.yaml:3:59: streams.a.source.stream: only means something beside directory',
        'pilotlight.yaml:3:70: streams.a.source.headers: only means something beside url',
      ],
    ],
    [
      'two secrets for one origin',
      `${head}streams:\n  a: { source: { url: https://x.example/a, headers: { A: b } } }\n  b: { source: { url: https://x.example/b, headers: { A: c } } }\n`,
      [
        'pilotlight.yaml:4:44: streams.b.source.headers: differ from those of stream a for the same origin https://x.example',
      ],
    ],
    [
      'an install with an Ignition URL that the installer cannot read',
      `${base}  x: { mode: install, ignition: { url: s3://bucket/x.ign } }\n`,
      [
        'pilotlight.yaml:8:40: profiles.x.ignition.url: found "s3://bucket/x.ign": an Ignition URL of an install is http or https',
      ],
    ],
    [
      'a ConfigMap outside of a cluster',
      `${head}streams:\n  a: { source: { configMap: {} } }\n`,
      [
        'pilotlight.yaml:3:18: streams.a.source.configMap: the key "server" is missing, and this is not inside of a cluster',
      ],
    ],
    [
      'a hosts directory that is not there',
      `${head}hosts: { directory: hosts.d }\n`,
      ['pilotlight.yaml:2:21: hosts.directory: hosts.d does not exist'],
    ],
    [
      'a templates directory that is not there',
      `${head}templates: { directory: tpl }\n`,
      ['pilotlight.yaml:2:25: templates.directory: tpl does not exist'],
    ],
  ])('%s', (_, text, expected) => {
    expect(lines(text)).toEqual(expected)
  })

  it.each([[{ PILOTLIGHT_UNKNOWN: 'ignore' }], [{ PILOTLIGHT_UNKNOWN_PROFILE: 'live' }]])(
    'with DHCP, %j counts as written down',
    (env) => {
      const folder = configFolder({ 'pilotlight.yaml': `${base}boot: { dhcp: { mode: proxy } }\n` })
      expect(() => folder.load({ env })).not.toThrow()
    },
  )

  it('a file instead of a directory is named', () => {
    const text = `${head}hosts: { directory: h }\ntemplates: { directory: t }\n`
    expect(lines(text, { h: '', t: '' })).toEqual([
      'pilotlight.yaml:2:21: hosts.directory: h is not a folder',
      'pilotlight.yaml:3:25: templates.directory: t is not a folder',
    ])
  })
})

const calm = base.replace(/ {2}disk: .*\n/, '')

describe('what a configuration should not say', () => {
  it.each([
    [
      'an admin listener for everybody',
      `${calm}admin: { listen: 0.0.0.0:8081 }\n`,
      [
        'pilotlight.yaml:7:18: admin.listen: others can reach it without TLS, so tokens cross the network in clear text (set admin.tls, or leave it on 127.0.0.1 behind a proxy that speaks TLS)',
      ],
    ],
    [
      'DHCP that names loaders which nobody serves',
      `${calm}boot: { dhcp: { mode: proxy, interface: eth1 } }\nunknown: ignore\n`,
      [
        'pilotlight.yaml:7:9: boot.dhcp: without boot.tftp only UEFI HTTP Boot and iPXE find a loader (add tftp: {} below boot, unless all machines are of these kinds)',
      ],
    ],
    [
      'subnets of a proxy',
      `${calm}boot: { tftp: {}, dhcp: { interface: eth1, subnets: [{ subnet: 192.0.2.0/24 }] } }\nunknown: ignore\n`,
      ['pilotlight.yaml:7:44: boot.dhcp.subnets: a proxy gives no addresses, so its subnets do nothing'],
    ],
    [
      'a profile for unknown machines that does nothing',
      `${calm}  empty: {}\nunknown: { profile: empty }\n`,
      ['pilotlight.yaml:8:21: unknown.profile: profile "empty" has no mode, so unknown machines are held'],
    ],
    [
      'a pin that has ended',
      `${calm}groups: { g: { match: { labels: { a: b } }, pin: { release: '44.1', until: 2026-11-28 } } }\n`,
      ['pilotlight.yaml:7:76: groups.g.pin.until: the pin to 44.1 has ended'],
    ],
  ])('%s is loaded with a warning', (_, text, expected) => {
    const loaded = configFolder({ 'pilotlight.yaml': text }).load({ now: Date.UTC(2026, 10, 29) })
    expect(warningLines(loaded)).toEqual(expected)
  })
})
