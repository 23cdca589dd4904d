import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readReport } from '../../../src/http/boot/read-report.ts'

const read = (value: unknown) => readReport(JSON.stringify(value))
const digest = 'A'.repeat(64)

describe('a report', () => {
  it('is taken with all that a machine knows, and without what it does not', () => {
    expect(
      read({
        status: 'installed',
        osVersion: '44.20260707.3.1',
        kernelCommandLineSha256: digest,
        machineId: 'ABCDEF00-1111-2222-3333-444455556666',
        message: ' two\nlines ',
        uptime: 12,
      }),
    ).toEqual({
      report: {
        status: 'installed',
        osVersion: '44.20260707.3.1',
        kernelCommandLineSha256: digest.toLowerCase(),
        machineId: 'abcdef00111122223333444455556666',
        message: 'two\\x0alines',
      },
    })
    expect(read({ status: 'booted', osVersion: '', machineId: null })).toEqual({
      report: { status: 'booted' },
    })
  })

  it('keeps the digest of a command line alone, because a token stands in it', () => {
    const kernelCommandLine = 'ignition.config.url=http://x/ignition/secret\n'
    const kernelCommandLineSha256 = createHash('sha256').update(kernelCommandLine).digest('hex')
    expect(read({ status: 'booted', kernelCommandLine })).toEqual({
      report: { status: 'booted', kernelCommandLineSha256 },
    })
  })

  it.each([
    ['[]', 'it is not a JSON object'],
    ['', 'it is not a JSON object'],
    ['{"status":"Booted"}', 'status is not one of booted, installed, failed'],
    ['{}', 'status is not one of booted, installed, failed'],
    ['{"status":"booted","osVersion":4}', 'osVersion is not text'],
    [
      '{"status":"booted","kernelCommandLineSha256":"x"}',
      'kernelCommandLineSha256 is not a SHA-256 of 64 hex digits',
    ],
    ['{"status":"booted","machineId":"host-1"}', 'machineId is not a machine id of 32 hex digits'],
  ])('%s is refused with what is wrong', (text, problem) => {
    expect(readReport(text)).toEqual({ problem })
  })

  it('of whatever text throws nothing and stays bounded', () => {
    const values = fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue())
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc
            .record({ status: fc.constant('failed'), message: values, osVersion: values })
            .map((value) => JSON.stringify(value)),
        ),
        (text) => {
          const found = readReport(text)
          if ('report' in found) expect(JSON.stringify(found.report).length).toBeLessThan(20_000)
        },
      ),
    )
  })
})
