import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { problemText } from '../../src/config/problem.ts'
import { changesThatNeedRestart } from '../../src/runtime/changes-that-need-restart.ts'
import { adminAuthorityFile, adminCertificate } from '../fakes/certificates.ts'
import { configFolder, problemLines } from './config-folder.ts'

const first = adminCertificate('first')
const second = adminCertificate('second')
const clientAuthority = readFileSync(adminAuthorityFile, 'utf8')

const text = `version: 1
streams: { s: { source: { url: 'https://x.example/s.json' }, signatures: off } }
admin:
  listen: 0.0.0.0:8443
  tls:
    certificate: tls.pem
    key: tls.key
`
const folder = (files: Readonly<Record<string, string>>) =>
  configFolder({ 'pilotlight.yaml': text, ...files })
const good = { 'tls.pem': first.certificate, 'tls.key': first.key }

describe('TLS of the admin listener', () => {
  it('is read with the configuration, and nothing is warned about', () => {
    const loaded = folder(good).load()
    expect(loaded.config.admin.tls).toEqual({ certificate: first.certificate, key: first.key })
    expect(loaded.warnings).toEqual([])
  })

  it('another certificate is another configuration, which needs no restart', () => {
    const made = folder(good)
    const before = made.load()
    made.write('tls.pem', second.certificate)
    made.write('tls.key', second.key)
    const after = made.load()
    expect(after.digest).not.toBe(before.digest)
    expect(before.files.filter((file) => /tls\./.test(file))).toHaveLength(2)
    expect(changesThatNeedRestart(before.config, after.config)).toEqual([])
  })

  it('TLS that comes or goes, and a certificate that clients need from now on, need a restart', () => {
    const before = folder(good).load().config
    const without = { ...before, admin: { ...before.admin, tls: undefined } }
    const demanding = {
      ...before,
      admin: { ...before.admin, tls: { certificate: first.certificate, key: first.key, clientAuthority } },
    }
    expect(changesThatNeedRestart(before, without)).toEqual(['admin.tls'])
    expect(changesThatNeedRestart(before, demanding)).toEqual(['admin.tls'])
  })

  it.each([
    [
      'a key of another certificate',
      { ...good, 'tls.key': second.key },
      'pilotlight.yaml:7:10: admin.tls.key: certificate and key cannot be used together: key values mismatch',
    ],
    [
      'no file',
      { 'tls.pem': first.certificate },
      'pilotlight.yaml:7:10: admin.tls.key: the private key file tls.key does not exist',
    ],
    [
      'a certificate in place of the key',
      { ...good, 'tls.key': first.certificate },
      'pilotlight.yaml:7:10: admin.tls.key: the private key file tls.key holds no private key in PEM form',
    ],
    [
      'a key that is cut off',
      { ...good, 'tls.key': first.key.replace(/.{20}\n-----END/, '\n-----END') },
      /^pilotlight\.yaml:7:10: admin\.tls\.key: the private key file tls\.key holds a private key that cannot be used: \w+/,
    ],
    [
      'a key in place of the certificate',
      { ...good, 'tls.pem': first.key },
      'pilotlight.yaml:6:18: admin.tls.certificate: the certificate file tls.pem holds no certificate in PEM form',
    ],
    [
      'a passphrase',
      { ...good, 'tls.key': first.key.replaceAll('PRIVATE KEY', 'ENCRYPTED PRIVATE KEY') },
      /admin\.tls\.key: the private key file tls\.key needs a passphrase.*openssl pkey/,
    ],
    [
      'a passphrase of old',
      { ...good, 'tls.key': first.key.replace('-----\n', '-----\nProc-Type: 4,ENCRYPTED\n') },
      /needs a passphrase/,
    ],
  ])('%s is told at the line of the file that is wrong', (_, files, expected) => {
    const [line, ...more] = problemLines(() => folder(files).load())
    expect(more).toEqual([])
    if (typeof expected === 'string') expect(line).toBe(expected)
    else expect(line).toMatch(expected)
    expect(line).not.toContain(first.key.split('\n')[1])
  })

  it('a certificate that has ended is warned about', () => {
    const [warning] = folder(good).load({ now: Date.parse('2200-01-01') }).warnings
    expect(warning).toMatchObject({
      path: 'admin.tls.certificate',
      message: expect.stringMatching(/has ended/),
    })
  })

  it('a key that every user of the machine can read is warned about, at its line', () => {
    const made = folder(good)
    const key = join(made.path, 'tls.key')
    const warningsFor = (folderMode: number, keyMode: number) => {
      chmodSync(made.path, folderMode)
      chmodSync(key, keyMode)
      return made.load().warnings.map(problemText)
    }
    expect(warningsFor(0o755, 0o644)).toEqual([
      'pilotlight.yaml:7:10: admin.tls.key: every user of this machine can read the private key file tls.key (chmod o= tls.key)',
    ])
    expect(warningsFor(0o755, 0o640)).toEqual([])
    expect(warningsFor(0o750, 0o644)).toEqual([])
    expect(warningsFor(0o755, 0o600)).toEqual([])
  })
})

describe('trusted proxies', () => {
  const load = (range: string) =>
    configFolder({
      'pilotlight.yaml': `version: 1
streams: { s: { source: { url: 'https://x.example/s.json' }, signatures: off } }
admin: { trustedProxies: ['${range}'] }
`,
    }).load()

  it.each(['10.0.0.0/8', '192.0.2.1', '2001:db8::/32', '::1', '192.0.2.1/32'])('%s', (range) => {
    expect(load(range).config.admin.trustedProxies).toEqual([range])
  })

  it.each([
    ['10.0.0.1/8', 'it has bits beyond its length'],
    ['0.0.0.0/0', 'that is everybody'],
    ['::/0', 'that is everybody'],
    ['10.0.0.0/33', undefined],
    ['loopback', undefined],
    ['fe80::1%eth0', undefined],
    ['10.0.0.0/8/9', undefined],
  ])('%s is refused', (range, why) => {
    const [line] = problemLines(() => load(range))
    expect(line).toContain('admin.trustedProxies[0]')
    expect(line).toContain('allowed: an IP address or a network')
    if (why !== undefined) expect(line).toContain(why)
  })
})
