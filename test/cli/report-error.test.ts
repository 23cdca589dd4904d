import { describe, expect, test } from 'vitest'
import { describeError } from '../../src/cli/report-error.ts'
import { ServiceError } from '../../src/core/errors.ts'

const plain = { debug: false }

test('a known error is one line: what and where, and what to do below', () => {
  const error = new ServiceError('UPSTREAM_UNREACHABLE', 'https://x.example/ does not answer', {
    hint: 'check it',
  })
  expect(describeError(error, plain)).toBe(
    'pilotlight: https://x.example/ does not answer\n  hint: check it\n',
  )
})

test('the words of the system are added, once', () => {
  const cause = Object.assign(new Error('EADDRINUSE: address in use'), {
    code: 'EADDRINUSE',
    syscall: 'listen',
  })
  const firstLine = (message: string, because: Error = cause) =>
    describeError(new ServiceError('LISTEN_FAILED', message, {}, because), plain).split('\n')[0]
  expect(firstLine('port 80 could not be opened')).toBe(
    'pilotlight: port 80 could not be opened (EADDRINUSE: address in use)',
  )
  expect(firstLine(`port 80: ${cause.message}`)).toBe('pilotlight: port 80: EADDRINUSE: address in use')
  expect(firstLine('port 80 is taken', new Error('words of a library'))).toBe('pilotlight: port 80 is taken')
})

test('a mistake in the configuration says file, line, column, path and hint of each problem', () => {
  const error = new ServiceError('CONFIG_INVALID', 'a\nb', {
    problems: [
      {
        file: 'pilotlight.yaml',
        line: 3,
        column: 5,
        path: 'streams.a.refresh',
        message: 'must be a duration',
        hint: 'such as 15m',
      },
      { file: 'hosts.d/rack1.yaml', line: 9, column: 1, path: '', message: 'unknown key "hots"' },
      'garbage',
    ],
  })
  expect(describeError(error, plain)).toBe(
    [
      'pilotlight: the configuration is not valid (2 problems)',
      '  pilotlight.yaml:3:5: streams.a.refresh: must be a duration',
      '    hint: such as 15m',
      '  hosts.d/rack1.yaml:9:1: unknown key "hots"',
      '',
    ].join('\n'),
  )
})

describe('without a hint of its own', () => {
  test('a held lock says to try again', () => {
    expect(describeError(new ServiceError('DATA_DIRECTORY_LOCKED'), plain)).toMatch(/hint: .*try again/)
  })

  test('a missing permission says whose it must be', () => {
    const cause = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' })
    expect(describeError(new ServiceError('DATA_DIRECTORY_UNUSABLE', undefined, {}, cause), plain)).toMatch(
      /hint: .*user that owns/,
    )
    expect(describeError(new ServiceError('LISTEN_FAILED', undefined, {}, cause), plain)).toMatch(
      /hint: .*CAP_NET_BIND_SERVICE/,
    )
  })
})

test('no stack for anybody, unless it is asked for', () => {
  const error = new ServiceError('NOT_FOUND', 'there is no host x', {}, new Error('inner'))
  expect(describeError(error, plain)).not.toContain('    at ')
  const debugged = describeError(error, { debug: true })
  expect(debugged).toContain('    at ')
  expect(debugged).toContain('caused by Error: inner')
})

test('a defect of ours says so, and how to see more', () => {
  const text = describeError(new TypeError('x is not a function'), plain)
  expect(text).toContain('unexpected error: TypeError: x is not a function')
  expect(text).toContain('PILOTLIGHT_DEBUG=1')
  expect(text).not.toContain('    at ')
})

test('escape sequences in a message are spelt out', () => {
  expect(describeError(new ServiceError('NOT_FOUND', 'no host \u001b[31mx\nforged'), plain)).toBe(
    'pilotlight: no host \\x1b[31mx\\x0aforged\n',
  )
})
