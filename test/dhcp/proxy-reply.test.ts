import { describe, expect, it } from 'vitest'
import { createRig, proxySettings, shown, silenceOf, textOption } from './engine-support.ts'
import { fixture, hex, option, request, toHex } from './support.ts'

const machineId = '61 11 00 47 09 cd 85 54 3f 99 41 b0 f1 52 54 00 ab cd ef'
const pxeClass = '3c 09 50 58 45 43 6c 69 65 6e 74'
const tftpServer = '42 0a 31 39 32 2e 30 2e 32 2e 31 30'
const snponly = '73 6e 70 6f 6e 6c 79 2e 65 66 69'

/** The header of a reply: the first 236 bytes, built from what a client looks at. */
function header(fields: { xid: string; flags: string; ciaddr?: string; file: string }): string {
  const bytes = Buffer.alloc(236)
  bytes.set(
    hex(
      `02 01 06 00 ${fields.xid} 00 00 ${fields.flags} ${fields.ciaddr ?? '00 00 00 00'} 00 00 00 00 c0 00 02 0a`,
    ),
  )
  bytes.set(hex('52 54 00 ab cd ef'), 28)
  bytes.write('192.0.2.10', 44)
  bytes.write(fields.file, 108)
  return toHex(bytes)
}

function bytesOf(answer: ReturnType<ReturnType<typeof createRig>['send']>): string {
  if (answer.kind === 'silent') throw new Error(answer.reason)
  return toHex(answer.bytes)
}

describe('a proxy offer, byte by byte', () => {
  it('to EDK2 PXE, style direct (case 3)', () => {
    const expected = [
      header({ xid: '5b 1a 2c 3d', flags: '80 00', file: 'snponly.efi' }),
      '63 82 53 63 35 01 02 36 04 c0 00 02 0a',
      `${pxeClass} 2b 04 06 01 08 ff ${tftpServer} ${machineId}`,
      `43 0b ${snponly} 00 ff`,
    ].join(' ')
    expect(bytesOf(createRig().send(fixture('edk2-pxe-x64-discover')))).toBe(expected)
  })

  it('to EDK2 PXE, style binl: no option 43, the file all the same (case 4)', () => {
    const expected = [
      header({ xid: '5b 1a 2c 3d', flags: '80 00', file: 'snponly.efi' }),
      '63 82 53 63 35 01 02 36 04 c0 00 02 0a',
      `${pxeClass} ${tftpServer} ${machineId}`,
      `43 0b ${snponly} 00 ff`,
    ].join(' ')
    const rig = createRig({ settings: { ...proxySettings, style: 'binl' } })
    expect(bytesOf(rig.send(fixture('edk2-pxe-x64-discover')))).toBe(expected)
  })

  it('to EDK2 HTTP Boot: its class, a URL, no option 43 (case 51)', () => {
    const url = 'http://192.0.2.10:8080/loaders/snponly.efi'
    const expected = [
      header({ xid: '5b 1a 2c 40', flags: '80 00', file: url }),
      '63 82 53 63 35 01 02 36 04 c0 00 02 0a',
      `3c 0a 48 54 54 50 43 6c 69 65 6e 74 ${tftpServer} ${machineId}`,
      `43 2a ${toHex(Buffer.from(url))} 00 ff`,
    ].join(' ')
    expect(bytesOf(createRig().send(fixture('edk2-http-x64-discover')))).toBe(expected)
  })

  it('to an iPXE ROM: the script', () => {
    const url = 'http://192.0.2.10:8080/boot.ipxe'
    const expected = [
      header({ xid: '1b e4 c7 a1', flags: '00 00', file: url }),
      '63 82 53 63 35 01 02 36 04 c0 00 02 0a',
      `${pxeClass} 2b 04 06 01 08 ff ${tftpServer} ${machineId}`,
      `43 20 ${toHex(Buffer.from(url))} 00 ff`,
    ].join(' ')
    expect(bytesOf(createRig().send(fixture('ipxe-bios-discover')))).toBe(expected)
  })

  it('to a Raspberry Pi ROM: the menu item that it looks for, and no PAD before END (cases 42 and 43)', () => {
    const reply = shown(createRig().send(fixture('raspberry-pi-4-discover')))
    expect(reply.options[43]).toBe(
      '06 01 03 0a 04 00 50 58 45 09 14 00 00 11 52 61 73 70 62 65 72 72 79 20 50 69 20 42 6f 6f 74 ff',
    )
    expect(textOption(reply, 60)).toBe('PXEClient')
    expect(textOption(reply, 66)).toBe('192.0.2.10')
    expect(reply.siaddr).toBe('192.0.2.10')
    expect(toHex(reply.packet.bytes)).toMatch(/43 0c 62 6f 6f 74 63 6f 64 65 2e 62 69 6e ff( 00)*$/)
  })
})

describe('a proxy offer', () => {
  it('names one server everywhere: siaddr, sname, options 54 and 66 (cases 20, 21, 28)', () => {
    const reply = shown(createRig().send(fixture('edk2-pxe-x64-discover')))
    expect(reply.siaddr).toBe('192.0.2.10')
    expect(reply.sname).toBe('192.0.2.10')
    expect(reply.options[54]).toBe('c0 00 02 0a')
    expect(reply.options[66]).toBe(toHex(Buffer.from('192.0.2.10')))
  })

  it('never names an address for the client', () => {
    for (const name of [
      'edk2-pxe-x64-discover',
      'ipxe-bios-discover',
      'bios-rom-discover',
      'raspberry-pi-4-discover',
    ]) {
      const reply = shown(createRig().send(fixture(name)))
      expect([reply.type, reply.yiaddr, reply.options[51]]).toEqual([2, '0.0.0.0', undefined])
    }
  })

  it('of style binl still tells a BIOS and an iPXE to use the file (case 4)', () => {
    const rig = createRig({ settings: { ...proxySettings, style: 'binl' } })
    expect(shown(rig.send(fixture('bios-rom-discover'))).options[43]).toBe('06 01 08 ff')
    expect(shown(rig.send(fixture('ipxe-efi-discover'))).options[43]).toBe('06 01 08 ff')
    expect(shown(rig.send(fixture('edk2-pxe-arm64-discover'))).options[43]).toBeUndefined()
  })

  it('of a host has the style of that host', () => {
    const binl = createRig({ advice: { kind: 'live', style: 'binl' } })
    expect(shown(binl.send(fixture('edk2-pxe-x64-discover'))).options[43]).toBeUndefined()
    const direct = createRig({
      settings: { ...proxySettings, style: 'binl' },
      advice: { kind: 'live', style: 'direct' },
    })
    expect(shown(direct.send(fixture('edk2-pxe-x64-discover'))).options[43]).toBe('06 01 08 ff')
  })

  it('is at least 300 bytes long and fits what every client takes', () => {
    const bytes = createRig().send(request({ options: `35 01 01 ${option(60, 'PXEClient')} 5d 02 00 00 ff` }))
    expect(shown(bytes).packet.bytes.length).toBe(300)
  })

  it.each([
    ['flag set', '8000'],
    ['flag clear', '0000'],
  ])('goes to the limited broadcast, %s (case 34)', (_, flags) => {
    const options = `35 01 01 ${option(60, 'PXEClient')} 5d 02 00 07 ff`
    const reply = shown(createRig().send(request({ options, flags: Number.parseInt(flags, 16) })))
    expect(reply.to).toBe('255.255.255.255:68')
    expect(reply.packet.flags).toBe(Number.parseInt(flags, 16))
  })

  // The relay could not reach a client without an address in any other way; ROMs of iPXE do not set the flag.
  it.each([0, 0x8000])(
    'to a relayed client goes to the relay, once, to be broadcast (case 32, flags %d)',
    (flags) => {
      const options = `35 01 01 ${option(60, 'PXEClient')} 5d 02 00 07 52 06 01 04 00 00 00 07 ff`
      const reply = shown(
        createRig().send(request({ options, flags, giaddr: '198.51.100.1', hops: 3, xid: 0x01020304 })),
      )
      expect(reply.to).toBe('198.51.100.1:67')
      expect(reply.packet).toMatchObject({ giaddr: 0xc6336401, xid: 0x01020304, flags: 0x8000, hops: 0 })
      expect(toHex(reply.packet.chaddr)).toBe('52 54 00 ab cd ef')
    },
  )

  it('returns option 82 as it came and last, and none when none came (case 36)', () => {
    const options = `35 01 01 ${option(60, 'PXEClient')} 5d 02 00 07 52 06 01 04 00 00 00 07`
    const reply = shown(createRig().send(request({ options: `${options} ff`, giaddr: '198.51.100.1' })))
    expect(toHex(reply.packet.bytes)).toMatch(/ 65 66 69 00 52 06 01 04 00 00 00 07 ff( 00)*$/)
    expect(shown(createRig().send(fixture('edk2-pxe-x64-discover'))).options[82]).toBeUndefined()
  })
})

describe('a proxy is silent', () => {
  it.each([
    ['to machines that do not ask to boot (case 40)', 'udhcpc-discover', 'not-a-boot-client'],
    ['to GRUB’s own DHCP', 'grub-net-bootp-discover', 'not-a-boot-client'],
    ['to U-Boot, which does not call itself PXE (case 27)', 'u-boot-arm64-discover', 'not-pxe-by-name'],
    ['to a REQUEST, which is for the site’s server (case 22)', 'edk2-pxe-x64-request', 'not-for-proxy'],
  ])('%s', (_, name, reason) => expect(silenceOf(createRig().send(fixture(name)))).toBe(reason))

  it('to a PXE client that names an architecture of HTTP Boot, and tells that they contradict', () => {
    const rig = createRig()
    const answer = rig.send(request({ options: `35 01 01 ${option(60, 'PXEClient')} 5d 02 00 10 ff` }))
    expect(silenceOf(answer)).toBe('pxe-class-with-http-architecture')
    expect(rig.events.types()).toContain('client-contradicts-itself')
  })

  it('with the reason of the decision', () => {
    expect(silenceOf(createRig({ advice: { kind: 'ignore' } }).send(fixture('edk2-pxe-x64-discover')))).toBe(
      'decision-ignore',
    )
    const local = createRig({ advice: { kind: 'local', method: 'dhcp-silent' } })
    expect(silenceOf(local.send(fixture('edk2-pxe-x64-discover')))).toBe('local-boot-silent')
  })

  it('and never refuses, whatever the message (case 22)', () => {
    for (let type = 0; type < 256; type++) {
      const options = `35 01 ${type.toString(16).padStart(2, '0')} ${option(60, 'PXEClient')} 5d 02 00 07 32 04 0a 00 00 01 ff`
      for (const port of ['server', 'proxy'] as const) {
        const answer = createRig().send(request({ options, ciaddr: '10.0.0.1' }), { port, from: '10.0.0.1' })
        expect(answer.kind).not.toBe('refuse')
      }
    }
  })
})

describe('port 4011', () => {
  it('acknowledges EDK2 to the port that it asked from, byte by byte (case 7)', () => {
    const rig = createRig()
    const answer = rig.send(fixture('edk2-pxe-x64-4011'), {
      port: 'proxy',
      from: '192.0.2.55',
      fromPort: 4011,
    })
    const expected = [
      header({ xid: '5b 1a 2c 3e', flags: '00 00', ciaddr: 'c0 00 02 37', file: 'snponly.efi' }),
      '63 82 53 63 35 01 05 36 04 c0 00 02 0a',
      `${pxeClass} ${tftpServer} ${machineId}`,
      `43 0b ${snponly} 00 ff`,
    ].join(' ')
    expect(bytesOf(answer)).toBe(expected)
    expect(shown(answer).to).toBe('192.0.2.55:4011')
  })

  it('acknowledges the iPXE ROM after a menu: the script, and its menu item back (case 19)', () => {
    const reply = shown(
      createRig().send(fixture('ipxe-bios-4011'), { port: 'proxy', from: '192.0.2.55', fromPort: 68 }),
    )
    expect(reply).toMatchObject({
      type: 5,
      to: '192.0.2.55:68',
      yiaddr: '0.0.0.0',
      siaddr: '192.0.2.10',
      file: 'http://192.0.2.10:8080/boot.ipxe',
    })
    expect(reply.options[43]).toBe('06 01 08 47 04 80 00 00 00 ff')
    expect(reply.packet.xid).toBe(0)
  })

  it.each(['direct', 'binl'] as const)('answers with the boot file in style %s too', (style) => {
    const rig = createRig({ settings: { ...proxySettings, style } })
    const reply = shown(
      rig.send(fixture('edk2-pxe-x64-4011'), { port: 'proxy', from: '192.0.2.55', fromPort: 68 }),
    )
    expect(reply).toMatchObject({ type: 5, file: 'snponly.efi', to: '192.0.2.55:68' })
  })

  it.each([
    ['a DISCOVER', '01', '192.0.2.55', 'boot-server-request-wrong-type'],
    ['no type', undefined, '192.0.2.55', 'message-type-missing'],
    ['a request from nowhere', '03', '0.0.0.0', 'boot-server-request-without-address'],
  ])('is silent to %s', (_, type, from, reason) => {
    const options = `${type === undefined ? '' : `35 01 ${type}`} ${option(60, 'PXEClient')} 5d 02 00 07 ff`
    expect(silenceOf(createRig().send(request({ options }), { port: 'proxy', from }))).toBe(reason)
  })

  it('leaves a menu item of an absurd length out', () => {
    const item = `2b 16 47 14 ${'41'.repeat(20)}`
    const options = `35 01 03 ${option(60, 'PXEClient')} 5d 02 00 07 ${item} ff`
    const reply = shown(
      createRig().send(request({ options, ciaddr: '192.0.2.55' }), { port: 'proxy', from: '192.0.2.55' }),
    )
    expect(reply.options[43]).toBeUndefined()
  })
})
