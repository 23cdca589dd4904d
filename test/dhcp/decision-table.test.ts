import { describe, expect, it } from 'vitest'
import { createRig, proxySettings, serverSettings, shown, silenceOf, textOption } from './engine-support.ts'
import { option, request } from './support.ts'

/**
 * The decision table of the field cases, row by row, with the loader ladder of the design in place of its iPXE rows: any
 * iPXE gets the script. `—` is silence.
 */
interface Row {
  readonly row: string
  readonly o60?: string
  readonly o93?: string
  readonly marks?: 'o77' | 'o175'
  readonly mac?: string
  readonly mode: 'proxy' | 'proxy binl' | 'server'
  readonly o60Out?: string
  readonly o43Out?: string
  readonly file?: string
  readonly o209?: string
  readonly silent?: string
}

const direct = '06 01 08 ff'
const pi = /^06 01 03 0a 04 00 50 58 45 09 14 00 00 11 52 .* ff$/
const script = 'http://192.0.2.10:8080/boot.ipxe'
const url = (file: string) => `http://192.0.2.10:8080/loaders/${file}`

const rows: readonly Row[] = [
  { row: 'no class', mode: 'proxy', o93: '00 07', silent: 'not-a-boot-client' },
  { row: 'Open Firmware', mode: 'proxy', o93: '00 0c', silent: 'not-pxe-by-name' },
  { row: 'Open Firmware', mode: 'server', o93: '00 0c', silent: 'loader-missing' },
  { row: 'another class', mode: 'proxy', o60: 'MSFT 5.0', o93: '00 07', silent: 'not-a-boot-client' },
  {
    row: 'BIOS',
    mode: 'proxy',
    o60: 'PXEClient',
    o93: '00 00',
    o60Out: 'PXEClient',
    o43Out: direct,
    file: 'undionly.kpxe',
  },
  {
    row: 'BIOS, binl',
    mode: 'proxy binl',
    o60: 'PXEClient',
    o93: '00 00',
    o60Out: 'PXEClient',
    o43Out: direct,
    file: 'undionly.kpxe',
  },
  {
    row: 'UEFI 7',
    mode: 'proxy',
    o60: 'PXEClient',
    o93: '00 07',
    o60Out: 'PXEClient',
    o43Out: direct,
    file: 'snponly.efi',
  },
  {
    row: 'UEFI 9',
    mode: 'proxy',
    o60: 'PXEClient',
    o93: '00 09',
    o60Out: 'PXEClient',
    o43Out: direct,
    file: 'snponly.efi',
  },
  {
    row: 'UEFI 11',
    mode: 'proxy',
    o60: 'PXEClient',
    o93: '00 0b',
    o60Out: 'PXEClient',
    o43Out: direct,
    file: 'snponly-arm64.efi',
  },
  {
    row: 'UEFI 6',
    mode: 'proxy',
    o60: 'PXEClient',
    o93: '00 06',
    o60Out: 'PXEClient',
    o43Out: direct,
    file: 'ipxe-ia32.efi',
  },
  {
    row: 'UEFI 7, binl',
    mode: 'proxy binl',
    o60: 'PXEClient',
    o93: '00 07',
    o60Out: 'PXEClient',
    file: 'snponly.efi',
  },
  {
    row: 'UEFI 9, binl',
    mode: 'proxy binl',
    o60: 'PXEClient',
    o93: '00 09',
    o60Out: 'PXEClient',
    file: 'snponly.efi',
  },
  {
    row: 'UEFI 11, binl',
    mode: 'proxy binl',
    o60: 'PXEClient',
    o93: '00 0b',
    o60Out: 'PXEClient',
    file: 'snponly-arm64.efi',
  },
  { row: 'BIOS', mode: 'server', o60: 'PXEClient', o93: '00 00', file: 'undionly.kpxe' },
  { row: 'UEFI 7', mode: 'server', o60: 'PXEClient', o93: '00 07', file: 'snponly.efi' },
  { row: 'UEFI 9', mode: 'server', o60: 'PXEClient', o93: '00 09', file: 'snponly.efi' },
  { row: 'UEFI 11', mode: 'server', o60: 'PXEClient', o93: '00 0b', file: 'snponly-arm64.efi' },
  { row: 'UEFI 6', mode: 'server', o60: 'PXEClient', o93: '00 06', file: 'ipxe-ia32.efi' },
  {
    row: 'iPXE by user class',
    mode: 'proxy',
    o60: 'PXEClient',
    o93: '00 07',
    marks: 'o77',
    o60Out: 'PXEClient',
    o43Out: direct,
    file: script,
  },
  { row: 'iPXE by user class', mode: 'server', o60: 'PXEClient', o93: '00 07', marks: 'o77', file: script },
  {
    row: 'iPXE by option 175',
    mode: 'proxy',
    o60: 'PXEClient',
    o93: '00 00',
    marks: 'o175',
    o60Out: 'PXEClient',
    o43Out: direct,
    file: script,
  },
  { row: 'iPXE by option 175', mode: 'server', o60: 'PXEClient', o93: '00 00', marks: 'o175', file: script },
  {
    row: 'HTTP 16',
    mode: 'proxy',
    o60: 'HTTPClient',
    o93: '00 10',
    o60Out: 'HTTPClient',
    file: url('snponly.efi'),
  },
  {
    row: 'HTTP 16',
    mode: 'server',
    o60: 'HTTPClient',
    o93: '00 10',
    o60Out: 'HTTPClient',
    file: url('snponly.efi'),
  },
  {
    row: 'HTTP 15',
    mode: 'proxy',
    o60: 'HTTPClient',
    o93: '00 0f',
    o60Out: 'HTTPClient',
    file: url('ipxe-ia32.efi'),
  },
  {
    row: 'HTTP 18',
    mode: 'proxy',
    o60: 'HTTPClient',
    o93: '00 12',
    o60Out: 'HTTPClient',
    file: url('snponly-arm32.efi'),
  },
  {
    row: 'HTTP 19',
    mode: 'proxy',
    o60: 'HTTPClient',
    o93: '00 13',
    o60Out: 'HTTPClient',
    file: url('snponly-arm64.efi'),
  },
  {
    row: 'HTTP 28',
    mode: 'proxy',
    o60: 'HTTPClient',
    o93: '00 1c',
    o60Out: 'HTTPClient',
    file: url('snponly-riscv64.efi'),
  },
  {
    row: 'HTTP 40',
    mode: 'server',
    o60: 'HTTPClient',
    o93: '00 28',
    o60Out: 'HTTPClient',
    file: url('snponly-loong64.efi'),
  },
  {
    row: 'HTTP class, PXE architecture',
    mode: 'proxy',
    o60: 'HTTPClient',
    o93: '00 07',
    o60Out: 'HTTPClient',
    file: url('snponly.efi'),
  },
  {
    row: 'HTTP class, PXE architecture',
    mode: 'server',
    o60: 'HTTPClient',
    o93: '00 07',
    o60Out: 'HTTPClient',
    file: url('snponly.efi'),
  },
  {
    row: 'PXE class, HTTP architecture',
    mode: 'proxy',
    o60: 'PXEClient',
    o93: '00 10',
    silent: 'pxe-class-with-http-architecture',
  },
  {
    row: 'PXE class, HTTP architecture',
    mode: 'server',
    o60: 'PXEClient',
    o93: '00 10',
    file: 'snponly.efi',
  },
  {
    row: 'Raspberry Pi',
    mode: 'proxy',
    o60: 'PXEClient',
    o93: '00 00',
    mac: 'dca632010203',
    o60Out: 'PXEClient',
    o43Out: 'pi',
    file: 'bootcode.bin',
  },
  {
    row: 'Raspberry Pi',
    mode: 'server',
    o60: 'PXEClient',
    o93: '00 00',
    mac: 'b827eb010203',
    o60Out: 'PXEClient',
    o43Out: 'pi',
    file: 'bootcode.bin',
  },
  {
    row: 'U-Boot 22',
    mode: 'server',
    o60: 'U-Boot.armv8',
    o93: '00 16',
    file: '',
    o209: 'pxelinux.cfg/01-52-54-00-ab-cd-ef',
  },
  {
    row: 'U-Boot 21',
    mode: 'server',
    o60: 'U-Boot.armv7',
    o93: '00 15',
    file: '',
    o209: 'pxelinux.cfg/01-52-54-00-ab-cd-ef',
  },
  { row: 'U-Boot', mode: 'proxy', o60: 'U-Boot.armv8', o93: '00 16', silent: 'not-pxe-by-name' },
  {
    row: 'petitboot',
    mode: 'server',
    o60: 'udhcp 1.24.2',
    o93: '00 0e',
    file: '',
    o209: 'http://192.0.2.10:8080/pxelinux.cfg/01-52-54-00-ab-cd-ef',
  },
  {
    row: 'architecture in option 60',
    mode: 'proxy',
    o60: 'PXEClient:Arch:00007:UNDI:003000',
    o60Out: 'PXEClient',
    o43Out: direct,
    file: 'snponly.efi',
  },
  {
    row: 'unknown architecture, known in option 60',
    mode: 'server',
    o60: 'PXEClient:Arch:00000:UNDI:002001',
    o93: '00 63',
    file: 'undionly.kpxe',
  },
  { row: 'no architecture', mode: 'proxy', o60: 'PXEClient', silent: 'architecture-unknown' },
  {
    row: 'unknown architecture',
    mode: 'proxy',
    o60: 'PXEClient',
    o93: '00 63',
    silent: 'architecture-unknown',
  },
  {
    row: 'unknown architecture',
    mode: 'server',
    o60: 'PXEClient',
    o93: '00 63',
    silent: 'architecture-unknown',
  },
]

const settings = {
  proxy: proxySettings,
  'proxy binl': { ...proxySettings, style: 'binl' },
  server: serverSettings(),
} as const

const marks = { o77: '4d 04 69 50 58 45', o175: 'af 03 13 01 01' } as const

function discover(row: Row): Uint8Array {
  const parts = [
    option(53, 1),
    row.o60 === undefined ? '' : option(60, row.o60),
    row.o93 === undefined ? '' : `5d 02 ${row.o93}`,
    row.marks === undefined ? '' : marks[row.marks],
    'ff',
  ]
  return request({ options: parts.join(' '), chaddr: row.mac ?? '525400abcdef' })
}

describe('the decision table', () => {
  it.each(rows)('$row as $mode', (row) => {
    const answer = createRig({ settings: settings[row.mode] }).send(discover(row))
    if (row.silent !== undefined) {
      expect(silenceOf(answer)).toBe(row.silent)
      return
    }
    const reply = shown(answer)
    expect(reply.type).toBe(2)
    expect(textOption(reply, 60)).toBe(row.o60Out)
    if (row.o43Out === 'pi') expect(reply.options[43]).toMatch(pi)
    else expect(reply.options[43]).toBe(row.o43Out)
    expect(reply.file).toBe(row.file)
    expect(textOption(reply, 67)).toBe(row.file === '' ? undefined : row.file)
    expect(textOption(reply, 209)).toBe(row.o209)
    expect(reply.siaddr).toBe('192.0.2.10')
    expect(textOption(reply, 66)).toBe('192.0.2.10')
    expect(reply.yiaddr === '0.0.0.0').toBe(row.mode !== 'server')
  })

  it('7 and 9 get identical replies (case 12)', () => {
    const reply = (o93: string) => {
      const answer = createRig().send(discover({ row: '', mode: 'proxy', o60: 'PXEClient', o93 }))
      return Buffer.from(shown(answer).packet.bytes).toString('hex')
    }
    expect(reply('00 09')).toBe(reply('00 07'))
  })
})
