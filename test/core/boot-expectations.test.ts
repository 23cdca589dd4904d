import { describe, expect, it } from 'vitest'
import type { BootDecision, BootParameters } from '../../src/core/boot-decision.ts'
import { expectationsOf } from '../../src/core/boot-expectations.ts'
import { reason } from '../../src/core/reason.ts'
import { makeBootimage } from '../fakes/bootimages.ts'

const plain: BootParameters = { kernelArguments: [], platformId: 'metal', rootfs: 'url', extraInitrds: [] }
const extra = { path: '/srv/extra.cpio', sha256: 'ab'.repeat(32) } as BootParameters['extraInitrds'][number]
const live = (parameters: Partial<BootParameters> = {}): BootDecision => ({
  kind: 'live',
  bootimage: makeBootimage(),
  parameters: { ...plain, ...parameters },
  reasons: [reason('mode-not-set')],
})
const install = (parameters: Partial<BootParameters> = {}): BootDecision => ({
  ...(live(parameters) as BootDecision & { kind: 'live' }),
  kind: 'install',
  device: '/dev/sda',
  generation: 1,
})

describe('what a boot makes a machine ask and tell us', () => {
  it.each([
    ['no config', live(), []],
    ['a config of ours', live({ ignition: { inline: '{}' } }), ['ignition', 'report']],
    ['one that is not to report', live({ ignition: { inline: '{}' }, report: false }), ['ignition']],
    ['a config of an admin, elsewhere', live({ ignition: { url: 'https://conf.example/a.ign' } }), []],
    [
      'the same around which ours reports',
      live({ ignition: { url: 'https://a.example/' }, report: true }),
      ['ignition', 'report'],
    ],
    ['an install, whose live system reports', install(), ['ignition', 'report']],
    ['an install that is not to report', install({ report: false }), []],
    ['an install with an initrd of an admin', install({ extraInitrds: [extra] }), []],
    ['a hold', { kind: 'hold', method: 'exit', reasons: [reason('mode-not-set')] } as BootDecision, []],
  ])('%s', (_, decision, expected) => {
    expect(expectationsOf(decision)).toEqual(expected)
  })
})
