import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { describeConfig } from '../../src/config/describe-config.ts'
import { changesThatNeedRestart } from '../../src/runtime/changes-that-need-restart.ts'
import { configFolder, problemLines, warningLines } from './config-folder.ts'

const secret = 'secret-of-many-characters'
const url = 'https://receiver.example/hook?key=hidden-in-url'
const text = (webhook: string, more = '') => `version: 1
streams: { s: { source: { url: 'https://x.example/s.json' }, signatures: off } }
webhooks:
  - ${webhook}
${more}`
const good = `{ name: ops, url: '${url}', secretFile: ops.secret, events: [boot.over, stream.held] }`

function folder(webhook: string, { more = '', file = `${secret}\n` } = {}) {
  const made = configFolder({ 'pilotlight.yaml': text(webhook, more), 'ops.secret': file })
  chmodSync(join(made.path, 'ops.secret'), 0o600)
  return made
}

describe('webhooks of the configuration', () => {
  it('have their secret from its file, without the end of its line', () => {
    const loaded = folder(good).load()
    expect(loaded.config.webhooks).toEqual([
      { name: 'ops', url, secret, events: ['boot.over', 'stream.held'] },
    ])
    expect(loaded.warnings).toEqual([])
  })

  it('are none unless somebody writes them down', () => {
    const loaded = configFolder({ 'pilotlight.yaml': 'version: 1\n' }).load()
    expect(loaded.config.webhooks).toEqual([])
  })

  it('with another secret are another configuration, which needs no restart', () => {
    const made = folder(good)
    const before = made.load()
    made.write('ops.secret', 'another-secret-of-many')
    const after = made.load()
    expect(after.digest).not.toBe(before.digest)
    expect(after.config.webhooks[0]?.secret).toBe('another-secret-of-many')
    expect(changesThatNeedRestart(before.config, after.config)).toEqual([])
  })

  it('show neither their URL nor their secret', () => {
    const shown = JSON.stringify(describeConfig(folder(good).load()))
    expect(shown).toContain('"path":"webhooks[0].url","value":"(hidden)"')
    expect(shown).not.toContain('hidden-in-url')
    expect(shown).not.toContain(secret)
  })

  it.each([
    [
      'a URL of a metadata service',
      good.replace(url, 'http://169.254.169.254/'),
      'pilotlight.yaml:4:23: webhooks[0].url: found something else (hidden), allowed: an http or https URL without user name and password, and not of a link-local address',
    ],
    [
      'a URL with a password',
      good.replace(url, 'https://me:hidden@x.example/'),
      'pilotlight.yaml:4:23: webhooks[0].url: found something else (hidden), allowed: an http or https URL without user name and password, and not of a link-local address',
    ],
    [
      'an event that is none',
      good.replace('stream.held', 'stream.hold'),
      'pilotlight.yaml:4:118: webhooks[0].events[1]: found "stream.hold", allowed: boot.over, boot.stuck, stream.changed, stream.held, stream.failing, install.done, install.failed, change.made',
    ],
    [
      'no event',
      good.replace('boot.over, stream.held', ''),
      'pilotlight.yaml:4:106: webhooks[0].events: found no entry, allowed: at least one (for example [boot.over])',
    ],
    [
      'no secret',
      good.replace('secretFile: ops.secret, ', ''),
      'pilotlight.yaml:4:5: webhooks[0]: the key "secretFile" is missing',
    ],
    [
      'a file that is not there',
      good.replace('ops.secret', 'ops.key'),
      'pilotlight.yaml:4:86: webhooks[0].secretFile: the secret file ops.key does not exist',
    ],
  ])('%s is refused, with its place', (_, webhook, problem) => {
    expect(problemLines(() => folder(webhook).load())).toEqual([expect.stringContaining(problem)])
  })

  it('with a name that another one has are refused', () => {
    const lines = problemLines(() => folder(good, { more: `  - ${good}\n` }).load())
    expect(lines).toEqual([
      expect.stringContaining(
        'pilotlight.yaml:5:13: webhooks[1].name: another webhook is called "ops" as well, allowed: a name of its own',
      ),
    ])
  })

  it('with a secret that is none are refused, without a word of it', () => {
    const lines = problemLines(() => folder(good, { file: 'short' }).load())
    expect(lines).toEqual([
      expect.stringContaining('the secret file ops.secret holds fewer than 16 characters'),
    ])
  })

  it('whose secret every user of this machine can read are warned about', () => {
    const made = folder(good)
    chmodSync(join(made.path, 'ops.secret'), 0o644)
    chmodSync(made.path, 0o755)
    expect(warningLines(made.load())).toEqual([
      expect.stringContaining('every user of this machine can read the secret file ops.secret'),
    ])
  })
})
