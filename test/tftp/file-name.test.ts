import { describe, expect, it } from 'vitest'
import { displayName, parseFileName } from '../../src/tftp/file-name.ts'

function parse(name: string) {
  const parsed = parseFileName(Buffer.from(name, 'latin1'))
  return parsed.kind === 'path' ? parsed.path : parsed.reason
}

describe('one file, many spellings (case 73)', () => {
  it.each(['boot/x', '/boot/x', '\\boot\\x', 'boot//x', './boot/x', '//boot/./x', '\\/boot\\\\x', 'boot/x/'])(
    '%s',
    (name) => {
      expect(parse(name)).toBe('boot/x')
    },
  )

  it('percent sequences mean themselves', () => {
    expect(parse('boot%2fx')).toBe('boot%2fx')
    expect(parse('%2e%2e%2fx')).toBe('%2e%2e%2fx')
  })

  it('spaces and case are kept', () => {
    expect(parse('EFI/Boot/My File.efi')).toBe('EFI/Boot/My File.efi')
  })

  it.each([
    [512, 512],
    [513, 'name-too-long'],
    [2000, 'name-too-long'],
  ])('%i bytes', (length, expected) => {
    const parsed = parse('a'.repeat(length))
    expect(typeof expected === 'number' ? parsed.length : parsed).toBe(expected)
  })
})

describe('what ROMs glue to a name (case 24)', () => {
  it.each([
    ['END', 'x.efi\xff'],
    ['END twice', 'x.efi\xff\xff'],
    ['a control byte', 'x.efi\x03'],
    ['a newline', 'x.efi\r\n'],
    ['option 150 that followed, and its value', 'x.efi\x96\x04d@'],
  ])('%s is dropped', (_, name) => {
    expect(parse(name)).toBe('x.efi')
  })

  it.each(['', '\xff\xff', '/', './/', '\x90\x01junk'])('nothing left of %j: no name', (name) => {
    expect(parse(name)).toBe('name-empty')
  })
})

describe('names that climb (case 75)', () => {
  it.each([
    '../x',
    '..\\x',
    'a/../../x',
    '/../data-private/key',
    '....//x',
    'a/..',
    '..',
    '...',
    'a/ .. /x',
    '..\\..\\windows\\win.ini',
    '/./../x',
    'a\\..\\b',
    '..\xff',
    '../../etc/passwd\xff',
  ])('%j is refused', (name) => {
    expect(parse(name)).toBe('name-climbs')
  })

  it.each(['..x/y', 'x../y', 'a..b', '.hidden/x', 'ipxe..efi'])('%j only looks like it', (name) => {
    expect(parse(name)).toBe(name)
  })
})

it('any name can be shown to people', () => {
  expect(displayName(Buffer.from('a\x1b[2Jb\xff\n', 'latin1'))).toBe('a?[2Jb??')
  expect(displayName(Buffer.from('a/'.repeat(3000)))).toHaveLength(128)
})

it.each(['ignition', '/report', 'x/Ignition'])('G12 a token asked for under %s is not shown', (folder) => {
  const token = 'EAz_'.repeat(16)
  expect(displayName(Buffer.from(`${folder}/${token}`))).toBe(`${folder}/…`)
  expect(displayName(Buffer.from(token))).toBe('…')
})
