import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { configFolder, problemLines, warningLines } from './config-folder.ts'

const base = `version: 1
streams: { s: { source: { url: http://192.0.2.1/s.json } } }
`
const good = '{ "ignition": { "version": "3.4.0" } }'
const profile = (ignition: string) =>
  `${base}profiles:\n  worker:\n    stream: s\n    mode: live\n    ignition: ${ignition}\n`
const host = (ignition: string) =>
  `version: 1\nhosts:\n  - { id: a, macs: [52:54:00:00:00:01], stream: s, mode: live, ignition: ${ignition} }\n`

describe('Ignition configs that records name', () => {
  it('are read beside the file that names them, each once, and are watched', () => {
    const folder = configFolder({
      'pilotlight.yaml': `${profile('{ file: ign/worker.ign }')}  other: { stream: s, mode: live, ignition: { file: ./ign/worker.ign } }\nhosts: { directory: hosts.d }\n`,
      'ign/worker.ign': good,
      'hosts.d/a.yaml': host('{ file: a.ign, template: false }'),
      'hosts.d/a.ign': '{ "ignition": { "version": "2.2.0" }, "a": "{{ nothing }}" }',
    })
    const loaded = folder.load()
    const [worker, own] = [join(folder.path, 'ign/worker.ign'), join(folder.path, 'hosts.d/a.ign')]
    expect([...loaded.ignition.keys()]).toEqual([worker, own])
    expect(loaded.ignition.get(worker)).toBe(good)
    expect(loaded.files.filter((file) => file.endsWith('.ign'))).toEqual([worker, own])
    expect(loaded.inventory.hostsById.get('a')?.ignition).toEqual({ file: own, template: false })
    expect(warningLines(loaded)).toEqual([
      'hosts.d/a.ign:1:39: a: Ignition does not know this key and ignores it',
    ])
    folder.write('ign/worker.ign', `${good}\n`)
    expect(folder.load({ before: loaded }).digest).not.toBe(loaded.digest)
  })

  it('that are wrong are told with their own line and column, together with all other mistakes', () => {
    const folder = configFolder({
      'pilotlight.yaml': `${profile('{ file: worker.ign }')}  b: { stream: t, ignition: { file: none.ign } }\n  c: { ignition: { file: c.bu } }\n`,
      'worker.ign': '{\n  "ignition": { "version": "3.4.0" },\n  "systemd": { "units": [{ "name": 5 }] }\n}',
      'c.bu': 'variant: fcos\nversion: 1.5.0\n',
    })
    expect(problemLines(() => folder.load())).toEqual([
      'pilotlight.yaml:8:16: profiles.b.stream: there is no stream "t" (did you mean "s"?)',
      'pilotlight.yaml:8:37: profiles.b.ignition.file: the Ignition file none.ign does not exist',
      'worker.ign:3:36: systemd.units[0].name: found a number, allowed: text',
      'c.bu:1:1: is a Butane config (variant fcos), and machines take Ignition (convert it: butane --strict --files-dir . --output c.ign c.bu)',
    ])
  })

  it('of a host that are wrong are told at their host', () => {
    const folder = configFolder({
      'pilotlight.yaml': `${base}hosts: { directory: hosts.d }\n`,
      'hosts.d/a.yaml': host('{ file: /nowhere/a.ign }'),
    })
    expect(problemLines(() => folder.load())).toEqual([
      'hosts.d/a.yaml:3:82: hosts[0].ignition.file: the Ignition file /nowhere/a.ign does not exist',
    ])
  })

  it('that stand in a record are checked as well', () => {
    const text = `|\n      { "ignition": { "version": "3.4.0" },\n        "storage": [] }`
    const folder = configFolder({
      'pilotlight.yaml': profile(`\n      inline: ${text.replaceAll('\n', '\n    ')}`),
    })
    expect(problemLines(() => folder.load())).toEqual([
      'pilotlight.yaml:8:15: profiles.worker.ignition.inline: line 2, column 14 of the text: storage: found a list, allowed: an object',
    ])
    const unknown = `'{ "ignition": { "version": "3.4.0" }, "sistemd": {} }'`
    const loaded = configFolder({ 'pilotlight.yaml': profile(`{ inline: ${unknown} }`) }).load()
    expect(warningLines(loaded)).toEqual([
      'pilotlight.yaml:7:25: profiles.worker.ignition.inline: line 1, column 39 of the text: sistemd: Ignition does not know this key and ignores it (did you mean "systemd"?)',
    ])
  })

  it('of a host whose text has a doubtful key is a warning at that text', () => {
    const inline = `'{ "ignition": { "version": "3.4.0" }, "sistemd": {} }'`
    const folder = configFolder({
      'pilotlight.yaml': `${base}hosts: { directory: hosts.d }\n`,
      'hosts.d/a.yaml': host(`{ inline: ${inline} }`),
    })
    expect(warningLines(folder.load())[0]).toMatch(
      /^hosts\.d\/a\.yaml:3:84: hosts\[0\]\.ignition\.inline: line 1, column 39 of the text: sistemd/,
    )
  })

  it('an Ignition config is one of url, file and inline', () => {
    const folder = configFolder({ 'pilotlight.yaml': profile('{ file: a.ign, url: http://x/y }') })
    expect(problemLines(() => folder.load())[0]).toMatch(/profiles\.worker\.ignition: .*url, file, inline/)
  })
})

describe('boot.tokens', () => {
  it('have lives and a binding that suit a boot, unless an admin says otherwise', () => {
    expect(configFolder({ 'pilotlight.yaml': base }).load().config.boot.tokens).toEqual({
      lifeMs: 2 * 3_600_000,
      reportLifeMs: 24 * 3_600_000,
      bind: 'none',
    })
    const said = `${base}boot: { tokens: { life: 30m, reportLife: 7d, bind: address } }\n`
    expect(configFolder({ 'pilotlight.yaml': said }).load().config.boot.tokens).toEqual({
      lifeMs: 1_800_000,
      reportLifeMs: 7 * 86_400_000,
      bind: 'address',
    })
  })
})
