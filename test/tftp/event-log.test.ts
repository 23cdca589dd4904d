import { describe, expect, it } from 'vitest'
import type { Log } from '../../src/core/log.ts'
import type { TftpEvent, TransferFigures } from '../../src/tftp/event.ts'
import { createTftpEventLog } from '../../src/tftp/event-log.ts'
import type { TftpPath } from '../../src/tftp/file-name.ts'
import { classifyName } from '../../src/tftp/tftp-name.ts'
import type { TransferOutcome } from '../../src/tftp/transfer.ts'

function setup() {
  const lines: { level: string; message: string; fields: Record<string, unknown> }[] = []
  const record = (level: string) => (fields: object, message: string) => {
    lines.push({ level, message, fields: { ...fields } })
  }
  const log: Log = {
    debug: record('debug'),
    info: record('info'),
    warn: record('warn'),
    error: record('error'),
  }
  let now = 1_800_000_000_000
  const write = createTftpEventLog(log, { now: () => now })
  return {
    lines,
    write,
    pass(ms: number) {
      now += ms
    },
    levels: () => lines.map(({ level }) => level),
  }
}

const client = { address: '192.0.2.55', port: 1025, localAddress: '192.0.2.10' }
const figures: TransferFigures = {
  sizeBytes: 1_048_576,
  deliveredBytes: 0,
  blockSize: 1468,
  windowSize: 4,
  repeatedBlocks: 0,
  durationMs: 12,
}

function named(path: string) {
  return classifyName(path as TftpPath)
}

function ended(outcome: TransferOutcome, more: Partial<TftpEvent & { type: 'ended' }> = {}): TftpEvent {
  return {
    type: 'ended',
    at: 0,
    client,
    name: named('ipxe.efi'),
    isSizeAsked: true,
    outcome,
    figures,
    ...more,
  }
}

function notServed(path: string, address = client.address): TftpEvent {
  const name = named(path)
  return {
    type: 'refused',
    at: 0,
    client: { ...client, address },
    reason: 'not-served',
    code: 1,
    message: 'no such file',
    displayName: path,
    name,
  }
}

describe('a boot in the log', () => {
  it('an ordinary run of EDK2 writes no warning and no error (cases 60, 165)', () => {
    const { write, levels } = setup()
    const abort = { code: 8, message: 'User aborted the transfer' }
    write({ type: 'requested', at: 0, client, name: named('ipxe.efi'), isSizeAsked: true })
    write(ended('aborted', { clientError: abort }))
    write({ type: 'requested', at: 0, client, name: named('ipxe.efi'), isSizeAsked: false })
    write(ended('served'))
    write(notServed('autoexec.ipxe'))
    write(notServed('revocations_sbat.efi'))
    write(notServed('shim/shim_certificate_0.efi'))
    write(notServed('grub/x86_64-efi/command.lst'))
    write(notServed('pxelinux.cfg/C0000237'))
    write(notServed('9ffefdef/start4.elf'))
    expect(levels()).toEqual(['debug', 'debug', 'info', ...Array(6).fill('debug')])
  })

  it.each([
    ['served-unconfirmed', 'info'],
    ['unanswered', 'debug'],
    ['stalled', 'warn'],
    ['read-failed', 'error'],
    ['client-confused', 'warn'],
    ['cancelled', 'debug'],
  ] as const)('%s is %s', (outcome, level) => {
    const { write, levels } = setup()
    write(ended(outcome))
    expect(levels()).toEqual([level])
  })

  it("a client's complaint about something else than a look at the size is a warning with its words", () => {
    const { write, lines } = setup()
    write(ended('aborted', { clientError: { code: 3, message: 'Disk full' } }))
    expect(lines[0]).toMatchObject({ level: 'warn', fields: { clientError: { message: 'Disk full' } } })
  })

  it('a missing loader is told, an empty or unreadable file is an error (case 83)', () => {
    const { write, levels } = setup()
    write(notServed('snponly.efi'))
    for (const reason of ['file-empty', 'file-unreadable'] as const) {
      write({ ...notServed('ipxe.efi'), reason } as TftpEvent)
    }
    write({ ...notServed('../x'), reason: 'name-refused' } as TftpEvent)
    expect(levels()).toEqual(['info', 'error', 'info'])
  })
})

describe('noise (case 84)', () => {
  it('one line a minute for the same client and name, and the next says how many were left out', () => {
    const { write, lines, pass } = setup()
    for (let times = 0; times < 30; times += 1) {
      write(notServed('autoexec.ipxe'))
      pass(1_000)
    }
    expect(lines).toHaveLength(1)
    pass(30_000)
    write(notServed('autoexec.ipxe'))
    expect(lines).toHaveLength(2)
    expect(lines[1]?.fields.suppressed).toBe(29)
  })

  it('another name or another client has a line of its own', () => {
    const { write, lines } = setup()
    write(notServed('autoexec.ipxe'))
    write(notServed('boot.ipxe'))
    write(notServed('autoexec.ipxe', '192.0.2.56'))
    expect(lines).toHaveLength(3)
  })

  it('twenty thousand machines and invented names do not flood it', () => {
    const { write, lines, pass } = setup()
    for (let at = 0; at < 20_000; at += 1) {
      write(notServed(`no-such-${at}`, `10.0.${at >> 8}.${at & 255}`))
      if (at % 1_000 === 0) pass(100)
    }
    expect(lines.length).toBeLessThanOrEqual(600)
    write({ ...notServed('ipxe.efi'), reason: 'file-empty' } as TftpEvent)
    expect(lines.at(-1)?.level).toBe('error')
    pass(60_000)
    write(notServed('another'))
    expect(lines.at(-1)?.fields.file).toBe('another')
  })

  it('a limit that is hit by many is told once a minute', () => {
    const { write, lines, levels } = setup()
    for (let at = 0; at < 500; at += 1) {
      write({
        type: 'ignored',
        at: 0,
        client: { ...client, address: `10.0.0.${at % 250}` },
        reason: 'limit-total',
      })
    }
    expect(levels()).toEqual(['warn'])
    write({ type: 'ignored', at: 0, client, reason: 'malformed' })
    write({ type: 'ignored', at: 0, client, reason: 'malformed' })
    expect(levels()).toEqual(['warn', 'debug'])
    expect(lines).toHaveLength(2)
  })

  it('every file that is served has its line', () => {
    const { write, lines } = setup()
    write(ended('served'))
    write(ended('served'))
    expect(lines).toHaveLength(2)
  })

  it('kernel segmentation that failed is told once', () => {
    const { write, levels } = setup()
    write({ type: 'segmentation-failed', at: 0, client, cause: new Error('EIO') })
    write({ type: 'segmentation-failed', at: 0, client, cause: new Error('EIO') })
    expect(levels()).toEqual(['info'])
  })
})
