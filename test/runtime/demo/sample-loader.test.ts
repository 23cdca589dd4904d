import { expect, it } from 'vitest'
import { inspectLoader } from '../../../src/loaders/inspect-loader.ts'
import { makeSampleLoader } from '../../../src/runtime/demo/sample-loader.ts'

it('the sample loader is a well-formed EFI program for x64 that is taken for an iPXE with HTTP', () => {
  expect(inspectLoader(makeSampleLoader(4096).bytes)).toMatchObject({
    format: 'pe',
    platform: 'efi-x64',
    kind: 'ipxe',
    version: '0.0.0+demo',
    features: { http: true, https: false },
  })
})

it('the sample loader is the same each time', () => {
  expect(makeSampleLoader().sha256).toBe(makeSampleLoader().sha256)
})
