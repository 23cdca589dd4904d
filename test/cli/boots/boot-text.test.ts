import { describe, expect, test } from 'vitest'
import { bootScreen, bootText, stepLine } from '../../../src/cli/boots/boot-text.ts'
import type { BootDetail } from '../../../src/http/admin/schemas/boots.ts'
import { sampleBootDetail, stuckBoot } from '../../fakes/boot-operations.ts'

const plain = { color: false }
const [firstStep] = sampleBootDetail.steps
if (firstStep === undefined) throw new Error('the sample has steps')

/** Markup, colours, a forged line, a word that runs backwards, and 64 KiB. */
const hostile = `<b>\u001b[31m\r\nforged\u202e${'x'.repeat(65_536)}`
const hostileBoot: BootDetail = {
  ...sampleBootDetail,
  ...stuckBoot,
  host: hostile,
  mac: hostile,
  address: hostile,
  firmware: hostile,
  serial: hostile,
  osVersion: hostile,
  release: hostile,
  reason: hostile,
  reasons: [{ code: 'x', text: hostile }],
  steps: [{ ...firstStep, text: hostile }],
  diagnosis: { code: 'overdue', text: hostile, remedy: hostile, at: hostile },
}

describe('a boot as text', () => {
  test('has the diagnosis with what to do above the picture', () => {
    const text = bootText({ ...sampleBootDetail, ...stuckBoot }, plain)
    const lines = text.split('\n')
    expect(
      lines.indexOf('✗ offer-not-followed: It was offered snponly.efi 4 times and asked for nothing.'),
    ).toBeGreaterThan(0)
    expect(text).toMatch(/asked for nothing\.\n {2}-> See that another DHCP server[^█]*\n\ndhcp +█/)
  })

  test('says how often and how long a step was repeated', () => {
    expect(stepLine({ ...firstStep, count: 4, lastAt: '2026-11-29T12:00:28.000Z' })).toMatch(
      /offered snponly\.efi \(4 times in 28 s\)$/,
    )
  })

  test('what a machine says can neither colour the terminal, nor forge a line, nor fill it', () => {
    const text = bootText(hostileBoot, plain)
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    expect(text).not.toMatch(/^forged/m)
    expect(text.length).toBeLessThan(6_000)
  })
})

describe('a boot on a terminal', () => {
  test.each([
    [20, 10],
    [1, 1],
    [20, 2],
    [80, 24],
    [200, 60],
  ])('%d columns and %d rows hold it', (width, height) => {
    for (const boot of [sampleBootDetail, hostileBoot]) {
      const lines = bootScreen(boot, { width, height })
      expect(lines.length).toBeGreaterThan(0)
      expect(lines.length).toBeLessThanOrEqual(height)
      for (const line of lines) expect([...line].length).toBeLessThanOrEqual(width)
      expect(lines.join('')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    }
  })

  test('a small one shows who, how far, and the last step, each whole', () => {
    const done = { ...sampleBootDetail, transfer: undefined, host: undefined } as unknown as BootDetail
    expect(bootScreen(done, { width: 20, height: 8 })).toEqual([
      '52:54:00:ab:cd:ef',
      'running in rootfs,',
      'since 41 s',
      '+30 s · rootfs 412',
      'of 1021 MiB, 38',
      'MiB/s',
    ])
  })

  test('what is wrong and what to do come before the picture, where there is no room for both', () => {
    const lines = bootScreen({ ...sampleBootDetail, ...stuckBoot }, { width: 40, height: 6 })
    expect(lines.join(' ')).toContain('✗ offer-not-followed: It was offered')
    expect(lines.join(' ')).toContain('-> See that another')
    expect(lines.join(' ')).not.toContain('█')
  })

  test('a transfer has a bar', () => {
    expect(bootScreen(sampleBootDetail, { width: 80, height: 24 })).toContain(
      `[${'█'.repeat(24)}${' '.repeat(36)}]`,
    )
  })
})
