import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { rootCertificates } from 'node:tls'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/load-config.ts'
import { parseMac } from '../../src/core/mac.ts'
import type { UpstreamOptions } from '../../src/upstream/client.ts'
import { configFolder, problemLines, warningLines } from './config-folder.ts'

/** POSIX; not a package. */
const makePipe = 'mkfifo'
const root = resolve(import.meta.dirname, '../..')

describe('without any file', () => {
  const load = (env = {}) => loadConfig({ env, cwd: '/somewhere' })

  it('follows Fedora CoreOS stable on unprivileged ports and boots whoever asks', () => {
    const { config, inventory, files, warnings } = load()
    expect(config).toMatchObject({
      dataDir: '/somewhere/data',
      boot: { http: { listen: { port: 8080 }, ignoredMachines: 'script' }, loaders: { directories: [] } },
      admin: { listen: { host: '127.0.0.1', port: 8081 } },
      log: { level: 'info', format: 'auto' },
    })
    expect([...config.streams.values()]).toEqual([
      {
        name: 'fcos-stable',
        source: {
          kind: 'url',
          url: 'https://builds.coreos.fedoraproject.org/streams/stable.json',
          mirrors: [],
          hints: {},
          releaseIndex: 'https://builds.coreos.fedoraproject.org/prod/streams/stable/releases.json',
          headers: {},
        },
        architectures: ['x86_64'],
        refreshMs: 900_000,
        keep: 2,
        signatures: 'if-present',
        keys: [],
        mirrors: [],
        changes: { advanced: 'follow', 'rolled-back': 'confirm', republished: 'hold' },
      },
    ])
    expect(inventory.unknown).toEqual({ kind: 'profile', profile: 'live' })
    expect(inventory.profiles.get('live')).toMatchObject({ stream: 'fcos-stable', mode: 'live' })
    expect(config.boot).not.toHaveProperty('dhcp')
    expect(config.boot).not.toHaveProperty('tftp')
    expect([files, warnings]).toEqual([[], []])
  })

  it('the environment still counts', () => {
    const { config } = load({ PILOTLIGHT_DATA_DIR: 'elsewhere', PILOTLIGHT_BOOT_HTTP_LISTEN: '[::1]:9999' })
    expect(config.dataDir).toBe('/somewhere/elsewhere')
    expect(config.boot.http.listen).toEqual({ host: '::1', port: 9999 })
  })
})

describe('with a file', () => {
  it('the defaults are those of production', () => {
    const { config, inventory, warnings } = configFolder({ 'pilotlight.yaml': 'version: 1\n' }).load()
    expect(config.dataDir).toBe('/var/lib/pilotlight')
    expect(config.boot.http.listen).toEqual({ host: '0.0.0.0', port: 80 })
    expect(config.streams.size).toBe(0)
    expect(inventory.unknown).toEqual({ kind: 'ignore' })
    expect(warnings.map(({ message }) => message)).toEqual([
      'no stream is followed, so there is nothing to boot',
    ])
  })

  it('the example of the design loads, completely', () => {
    const cwd = join(root, 'test/fixtures/config')
    const loaded = loadConfig({ file: 'pilotlight.yaml', env: {}, cwd })
    expect(loaded.config).toMatchObject({
      dataDir: '/var/lib/pilotlight',
      boot: {
        address: { address: '192.0.2.10' },
        http: { listen: { host: '0.0.0.0', port: 80 } },
        tftp: { listen: { host: '0.0.0.0', port: 69 }, ports: { mode: 'few' } },
        dhcp: { mode: 'proxy', interfaces: ['eth1'], style: 'direct', subnets: [] },
        loaders: { directories: ['/usr/lib/ipxe'] },
      },
    })
    expect(loaded.config.streams.get('fcos-stable')).toMatchObject({
      architectures: ['x86_64', 'aarch64'],
      signatures: 'required',
      mirrors: ['http://mirror.example/fcos/'],
    })
    const { inventory } = loaded
    expect(inventory.groups).toEqual([
      {
        name: 'edge',
        labels: { site: 'edge' },
        profile: 'worker',
        pins: [{ release: '44.20260707.3.1' }],
        origin: { kind: 'group', name: 'edge', file: 'pilotlight.yaml', line: 26 },
      },
    ])
    expect(inventory.profiles.get('worker')).toEqual({
      name: 'worker',
      stream: 'fcos-stable',
      mode: 'live',
      kernelArguments: ['console=tty0', 'console=ttyS0,115200n8'],
      ignition: { file: join(cwd, 'worker.ign') },
      install: { device: '/dev/sda' },
      origin: { kind: 'profile', name: 'worker', file: 'pilotlight.yaml', line: 19 },
    })
    expect(inventory.hostsById.get('rack1-n01')).toEqual({
      id: 'rack1-n01',
      macs: [parseMac('52:54:00:ab:cd:ef'), parseMac('52:54:00:ab:cd:f0')],
      labels: { site: 'edge', rack: '1' },
      profile: 'worker',
      pins: [{ release: '43.20260601.3.0', reason: 'NIC regression in 44', until: Date.UTC(2027, 0, 1) }],
      install: { generation: 2 },
      loader: 'ipxe.efi',
      origin: { kind: 'host', name: 'rack1-n01', file: 'hosts.d/rack1.yaml', line: 3 },
    })
    expect(loaded.files).toEqual(
      ['pilotlight.yaml', 'hosts.d', 'hosts.d/rack1.yaml', 'worker.ign'].map((name) => join(cwd, name)),
    )
    expect(warningLines(loaded)).toEqual([
      'pilotlight.yaml:16:17: streams.fcos-stable.signatures: signatures are required, but no key is trusted: nothing of this stream will be accepted',
    ])
  })

  it('the examples of the README load', () => {
    const blocks = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/```yaml\n(.*?)```/gs)].map(
      (match) => match[1] ?? '',
    )
    const main = blocks.find((block) => block.includes('\nstreams:'))
    const hosts = blocks.find((block) => block.includes('\nhosts:\n'))
    const folder = configFolder({ 'pilotlight.yaml': main ?? '', 'hosts.d/rack1.yaml': hosts ?? '' })
    const { inventory, warnings } = folder.load()
    expect(inventory.hostsById.size).toBe(1)
    expect(warnings).toEqual([])
  })

  it('every kind of source is typed', () => {
    const written = configFolder({
      'conf/pilotlight.yaml': `
version: 1
streams:
  a: { source: { url: https://a.example/s.json, mirrors: [http://b.example/s.json] } }
  b: { source: { file: metadata/rhcos.json, baseUrl: https://c.example/art, arch: amd64 } }
  c: { source: { directory: /srv/streams } }
  d: { source: { directory: streams, stream: stable } }
  e: { source: { configMap: { server: https://api.example:6443 }, configMapStream: rhel-9 } }
  f: { source: { configMap: { namespace: other, name: images } } }
`,
    })
    const { config } = written.load({
      file: 'conf/pilotlight.yaml',
      env: { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' },
    })
    const sources = [...config.streams.values()].map(({ source }) => source)
    const folder = join(written.path, 'conf')
    const account = '/var/run/secrets/kubernetes.io/serviceaccount'
    expect(sources).toEqual([
      {
        kind: 'url',
        url: 'https://a.example/s.json',
        mirrors: ['http://b.example/s.json'],
        hints: {},
        headers: {},
      },
      {
        kind: 'file',
        path: `${folder}/metadata/rhcos.json`,
        hints: { baseUrl: 'https://c.example/art/', arch: 'x86_64' },
        headers: {},
      },
      { kind: 'directory', path: '/srv/streams', stream: 'c', hints: {}, headers: {} },
      { kind: 'directory', path: `${folder}/streams`, stream: 'stable', hints: {}, headers: {} },
      {
        kind: 'configMap',
        server: 'https://api.example:6443/',
        namespace: 'openshift-machine-config-operator',
        name: 'coreos-bootimages',
        tokenFile: `${account}/token`,
        caFile: `${account}/ca.crt`,
        hints: { configMapStream: 'rhel-9' },
        headers: {},
      },
      {
        kind: 'configMap',
        server: 'https://[fd00::1]/',
        namespace: 'other',
        name: 'images',
        tokenFile: `${account}/token`,
        caFile: `${account}/ca.crt`,
        hints: {},
        headers: {},
      },
    ])
  })

  it('DHCP mode off is as if it were not there', () => {
    const folder = configFolder({ 'pilotlight.yaml': 'version: 1\nboot: { dhcp: { mode: off } }\n' })
    expect(folder.load().config.boot).not.toHaveProperty('dhcp')
  })

  it('architectures are taken in any spelling, and once', () => {
    const folder = configFolder({
      'pilotlight.yaml':
        'version: 1\nstreams: { s: { source: { file: x }, architectures: [amd64, arm64, x86_64] } }\n',
    })
    expect(folder.load().config.streams.get('s')?.architectures).toEqual(['x86_64', 'aarch64'])
  })
})

describe('secrets and certificates', () => {
  const main = `
version: 1
keys: [fedora.asc]
upstream: { ca: ca.pem, proxy: http://u:p@proxy.example:3128, noProxy: .example, allow: [http://127.0.0.1:9000] }
streams:
  s:
    source:
      url: https://builds.example/s.json
      releaseIndex: https://index.example/releases.json
      headers: { Authorization: { env: TOKEN }, X-Site: { file: site }, Accept: application/json }
    mirrors: [https://mirror.example/fcos]
  t: { source: { file: x }, keys: [] }
`
  const key = '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmQ==\n-----END PGP PUBLIC KEY BLOCK-----\n'
  const [certificate = ''] = rootCertificates
  const files = { 'pilotlight.yaml': main, 'fedora.asc': key, 'ca.pem': certificate, site: 'secret-site\n' }

  it('stay outside of the file and arrive where they are needed', () => {
    const folder = configFolder(files)
    const { config, files: watched } = folder.load({ env: { TOKEN: 'Bearer abc' } })
    const headers = { Authorization: 'Bearer abc', 'X-Site': 'secret-site', Accept: 'application/json' }
    expect(config.streams.get('s')?.source.headers).toEqual(headers)
    expect(config.streams.get('s')?.keys).toEqual([{ path: join(folder.path, 'fedora.asc'), text: key }])
    expect(config.streams.get('t')?.keys).toEqual([])
    const upstream: UpstreamOptions = config.upstream
    expect(upstream).toEqual({
      proxy: 'http://u:p@proxy.example:3128',
      noProxy: '.example',
      ca: certificate,
      allowedOrigins: [
        'http://127.0.0.1:9000',
        'https://builds.example',
        'https://index.example',
        'https://mirror.example',
      ],
      headers: { 'https://builds.example': headers },
    })
    expect(watched.map((path) => path.replace(`${folder.path}/`, ''))).toEqual([
      'pilotlight.yaml',
      'fedora.asc',
      'ca.pem',
      'site',
    ])
  })

  it('that are missing or unusable are told all at once', () => {
    const folder = configFolder({ 'pilotlight.yaml': main, site: 'two\nlines' })
    expect(problemLines(() => folder.load())).toEqual([
      'pilotlight.yaml:3:8: keys[0]: the key file fedora.asc does not exist',
      'pilotlight.yaml:4:17: upstream.ca: the certificate file ca.pem does not exist',
      'pilotlight.yaml:10:40: streams.s.source.headers.Authorization.env: the environment variable TOKEN is not set',
      'pilotlight.yaml:10:57: streams.s.source.headers.X-Site: found something else (hidden), allowed: one line of printable ASCII characters',
    ])
  })
})

describe('files of the wrong kind', () => {
  const main = `
version: 1
keys: [key]
upstream: { ca: ca }
streams: { s: { source: { url: https://x.example/, headers: { A: { file: header } } } } }
`
  it.each([
    ['key', 'PGP', 'keys[0]: the key file key holds no armored OpenPGP public key'],
    [
      'key',
      '-----BEGIN PGP PRIVATE KEY BLOCK-----',
      'keys[0]: the key file key holds a private key, which does not belong here',
    ],
    ['ca', 'x', 'upstream.ca: the certificate file ca holds no certificate in PEM form'],
    [
      'ca',
      `${rootCertificates[0]}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----`,
      'upstream.ca: the certificate file ca holds a certificate that cannot be read (number 2)',
    ],
    ['header', ' \n', 'streams.s.source.headers.A.file: the header file header is empty'],
  ])('%s: %.30s', (name, text, problem) => {
    const good = { key: '-----BEGIN PGP PUBLIC KEY BLOCK-----', ca: rootCertificates[0] ?? '', header: 'x' }
    const folder = configFolder({ 'pilotlight.yaml': main, ...good, [name]: text })
    expect(problemLines(() => folder.load())).toEqual([expect.stringContaining(`: ${problem}`)])
  })
})

describe('precedence', () => {
  const file = {
    'pilotlight.yaml': 'version: 1\ndataDir: from-file\nstreams: { s: { source: { file: x } } }\n',
  }

  it.each([
    [{}, {}, 'from-file', { kind: 'file', file: 'pilotlight.yaml', line: 2, column: 10 }],
    [{ PILOTLIGHT_DATA_DIR: 'from-env' }, {}, 'from-env', { kind: 'env', name: 'PILOTLIGHT_DATA_DIR' }],
    [{}, { dataDir: 'from-flag' }, 'from-flag', { kind: 'flag', name: '--data-dir' }],
    [
      { PILOTLIGHT_DATA_DIR: 'from-env' },
      { dataDir: 'from-flag' },
      'from-flag',
      { kind: 'flag', name: '--data-dir' },
    ],
    [
      { PILOTLIGHT_DATA_DIR: '' },
      { dataDir: undefined },
      'from-file',
      { kind: 'file', file: 'pilotlight.yaml', line: 2, column: 10 },
    ],
  ])('env %j and flags %j give %s', (env, flags, value, origin) => {
    const folder = configFolder(file)
    const { config, origins } = folder.load({ env, flags })
    expect(config.dataDir).toBe(join(folder.path, value))
    expect(origins.get('dataDir')).toEqual(origin)
    expect(origins.get('admin.listen')).toEqual({ kind: 'default' })
  })

  it('paths in a file begin at the file, others where the command was typed', () => {
    const folder = configFolder({
      'conf/p.yaml': 'version: 1\ndataDir: data\nboot: { loaders: { directories: [a] } }\n',
    })
    const { config } = folder.load({
      file: 'conf/p.yaml',
      env: { PILOTLIGHT_BOOT_LOADERS_DIRECTORIES: 'b, /c,' },
    })
    expect(config.dataDir).toBe(join(folder.path, 'conf/data'))
    expect(config.boot.loaders.directories).toEqual([join(folder.path, 'b'), '/c'])
  })

  it('the file itself is named by the option, else by the environment', () => {
    const folder = configFolder({
      'a.yaml': 'version: 1\ndataDir: /a\n',
      'b.yaml': 'version: 1\ndataDir: /b\n',
    })
    const env = { PILOTLIGHT_CONFIG: 'b.yaml' }
    expect(folder.load({ file: undefined, env }).config.dataDir).toBe('/b')
    expect(folder.load({ file: 'a.yaml', env }).config.dataDir).toBe('/a')
  })

  it('unknown machines can be set as a word or as a profile', () => {
    const text = 'version: 1\nprofiles: { p: { mode: live } }\nunknown: ignore\n'
    const folder = configFolder({ 'pilotlight.yaml': text })
    expect(folder.load({ env: { PILOTLIGHT_UNKNOWN_PROFILE: 'p' } }).inventory.unknown).toEqual({
      kind: 'profile',
      profile: 'p',
    })
    const other = configFolder({ 'pilotlight.yaml': text.replace('ignore', '{ profile: p }') })
    expect(other.load({ flags: { unknown: 'ignore' } }).inventory.unknown).toEqual({ kind: 'ignore' })
  })

  it('the proxy variables that every program knows are weaker than the file', () => {
    const env = { HTTPS_PROXY: 'proxy.example:3128', no_proxy: 'localhost' }
    const bare = configFolder({ 'pilotlight.yaml': 'version: 1\n' }).load({ env })
    expect(bare.config.upstream).toMatchObject({ proxy: 'http://proxy.example:3128', noProxy: 'localhost' })
    expect(bare.origins.get('upstream.proxy')).toEqual({ kind: 'env', name: 'HTTPS_PROXY' })
    const set = configFolder({
      'pilotlight.yaml': 'version: 1\nupstream: { proxy: http://other.example }\n',
    }).load({ env })
    expect(set.config.upstream.proxy).toBe('http://other.example')
  })

  it('mistakes in flags and variables are told by their name', () => {
    const folder = configFolder({ 'pilotlight.yaml': 'version: 1\n' })
    const lines = problemLines(() =>
      folder.load({
        env: { PILOTLIGHT_LOG_LEVEL: 'loud', HTTPS_PROXY: 'socks5://x' },
        flags: { 'admin.listen': 'here', 'boot.http.lisen': ':80' },
      }),
    )
    expect(lines.toSorted()).toEqual([
      '--admin-listen: admin.listen: found "here", allowed: an address and port such as 0.0.0.0:80, [::]:80 or :8080',
      'environment HTTPS_PROXY: upstream.proxy: found something else (hidden), allowed: an http or https URL such as http://proxy.example:3128',
      'environment PILOTLIGHT_LOG_LEVEL: log.level: found "loud", allowed: debug, info, warn, error, silent',
      'flags: ["boot.http.lisen"]: cannot be set by a flag (did you mean "boot.http.listen"?)',
    ])
  })

  it('a variable that means nothing is warned about, those of Kubernetes are not', () => {
    const loaded = configFolder(file).load({
      env: {
        PILOTLIGHT_BOOT_HTTP_LISTN: ':80',
        PILOTLIGHT_SERVICE_HOST: '10.0.0.1',
        PILOTLIGHT_SERVICE_PORT_HTTP: '80',
        PILOTLIGHT_PORT: 'tcp://10.0.0.1:80',
        PILOTLIGHT_PORT_80_TCP_ADDR: '10.0.0.1',
        PILOTLIGHT_ADMIN_PORT_8081_TCP: 'tcp://10.0.0.1:8081',
        PILOTLIGHTHOUSE: 'x',
      },
    })
    expect(warningLines(loaded)).toEqual([
      'environment PILOTLIGHT_BOOT_HTTP_LISTN: this variable means nothing here (did you mean "PILOTLIGHT_BOOT_HTTP_LISTEN"?)',
    ])
  })
})

describe('reading the files', () => {
  it('a file that is not there is unreadable, not invalid', () => {
    expect(() => configFolder({}).load()).toThrowError(
      expect.objectContaining({
        code: 'CONFIG_UNREADABLE',
        message: 'the configuration file pilotlight.yaml does not exist',
      }),
    )
  })

  it.each([
    ['a folder', (path: string) => mkdirSync(path), 'is a folder'],
    ['a pipe', (path: string) => execFileSync(makePipe, [path]), 'is not a regular file'],
    ['a link to itself', (path: string) => symlinkSync('pilotlight.yaml', path), 'is a link to itself'],
    ['a device', (path: string) => symlinkSync('/dev/zero', path), 'is not a regular file'],
  ])('%s instead of the file is refused', (_, make, why) => {
    const folder = configFolder({})
    make(join(folder.path, 'pilotlight.yaml'))
    expect(() => folder.load()).toThrowError(`the configuration file pilotlight.yaml ${why}`)
  })

  it('more than 4 MiB and other encodings are refused', () => {
    const big = configFolder({ 'pilotlight.yaml': `version: 1\n#${'x'.repeat(4 * 1024 * 1024)}` })
    expect(() => big.load()).toThrowError('has more than 4 MiB')
    const latin = configFolder({ 'pilotlight.yaml': Uint8Array.of(0x61, 0x3a, 0x20, 0xe4) })
    expect(() => latin.load()).toThrowError('is not UTF-8 text')
  })

  it('a byte order mark and Windows line ends are no matter', () => {
    const { config } = configFolder({ 'pilotlight.yaml': '\ufeffversion: 1\r\ndataDir: /d\r\n' }).load()
    expect(config.dataDir).toBe('/d')
  })

  it('two loads of the same files have the same digest, another comment makes another one', () => {
    const folder = configFolder({
      'pilotlight.yaml': 'version: 1\nhosts: { directory: h }\n',
      'h/a.yaml': 'version: 1\nhosts: []\n',
    })
    const first = folder.load()
    expect(folder.load().digest).toBe(first.digest)
    folder.write('h/a.yaml', 'version: 1\nhosts: []\n# x\n')
    expect(folder.load().digest).not.toBe(first.digest)
  })

  it('templates of an admin are watched, and another text makes another digest', () => {
    const folder = configFolder({
      'pilotlight.yaml': 'version: 1\ntemplates: { directory: t }\n',
      't/ipxe/hold.liquid': 'one',
      't/README': 'x',
    })
    const first = folder.load()
    expect(first.files.map((path) => path.slice(folder.path.length + 1))).toEqual([
      'pilotlight.yaml',
      't',
      't/README',
      't/ipxe',
      't/ipxe/hold.liquid',
    ])
    folder.write('t/ipxe/hold.liquid', 'two')
    expect(folder.load().digest).not.toBe(first.digest)
  })
})
