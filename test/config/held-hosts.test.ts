import { describe, expect, it } from 'vitest'
import { configFolder, warningLines } from './config-folder.ts'

const folder = (hosts: string, more = '') =>
  configFolder({
    'pilotlight.yaml': `version: 1
streams: { s: { source: { file: x } } }
profiles: { live: { stream: s, mode: live }, bare: {}, disk: { mode: local } }
groups: { g: { match: { labels: { site: edge } }, profile: live } }
hosts: { directory: hosts.d }
${more}`,
    'hosts.d/a.yaml': `version: 1\nhosts:\n${hosts}\n`,
  })

describe('a known machine that does not come to run', () => {
  it.each([
    [
      'nothing gives it a mode',
      '  - { id: a, serial: S }',
      'host a has no mode, so it is held; give it a profile, or a mode',
    ],
    [
      'its profile has none',
      '  - { id: a, serial: S, profile: bare }',
      'host a has no mode, so it is held; give it a profile, or a mode',
    ],
    [
      'it is to run live, and of no stream',
      '  - { id: a, serial: S, mode: live }',
      'host a has no stream, so it is held; give it a profile, or a stream',
    ],
    [
      'it is to be installed to no disk',
      '  - { id: a, serial: S, stream: s, mode: install }',
      'host a is to be installed to no disk, so it is held; give it install.device',
    ],
    [
      'it is installed, and again, because it may not report',
      '  - { id: a, serial: S, stream: s, mode: install, install: { device: /dev/sda }, report: false }',
      'host a is installed and cannot report it (report: false), so it installs again at each network boot, five times at most; say pilotlight install HOST --done after the first',
    ],
  ])('is warned about: %s', (_, host, message) => {
    expect(warningLines(folder(host).load())).toEqual([`hosts.d/a.yaml:3:5: hosts[0]: ${message}`])
  })

  it.each([
    '  - { id: a, serial: S, profile: live }',
    '  - { id: a, serial: S, labels: { site: edge } }',
    '  - { id: a, serial: S, profile: disk }',
    '  - { id: a, serial: S, mode: hold }',
    '  - { id: a, serial: S, stream: s, mode: install, install: { device: /dev/sda } }',
  ])('is none: %s', (host) => {
    expect(warningLines(folder(host).load())).toEqual([])
  })

  it('many of them are counted, not listed', () => {
    const hosts = Array.from({ length: 15 }, (_, index) => `  - { id: h${index}, serial: S${index} }`).join(
      '\n',
    )
    const lines = warningLines(folder(hosts).load())
    expect(lines).toHaveLength(11)
    expect(lines).toContain('hosts.d/a.yaml:1:1: 5 more hosts are like these')
  })
})

describe('a data directory of the system', () => {
  it.each(['/', '/var/lib', '/tmp', '/etc/'])('%s is warned about', (path) => {
    const text = `version: 1\ndataDir: ${path}\nstreams: { s: { source: { file: x } } }\n`
    expect(warningLines(configFolder({ 'pilotlight.yaml': text }).load())).toEqual([
      expect.stringMatching(
        /^pilotlight\.yaml:2:10: dataDir: .* belongs to the system.*\/var\/lib\/pilotlight/,
      ),
    ])
  })
})
