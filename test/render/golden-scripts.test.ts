import { describe, expect, it } from 'vitest'
import type { Arch } from '../../src/core/arch.ts'
import type { BootDecision } from '../../src/core/boot-decision.ts'
import type { BootClient, Firmware } from '../../src/core/client.ts'
import { reason } from '../../src/core/reason.ts'
import { makeCatalog } from '../fakes/catalogs.ts'
import { expectGolden } from '../fakes/golden.ts'
import { ipxeLines } from '../fakes/ipxe.ts'
import { makeClient } from '../fakes/machines.ts'
import { playScenario, type Scenario, scenarios } from '../fakes/script-scenarios.ts'
import { baseUrl, context, rendererOver } from '../fakes/scripts.ts'

const machines: readonly (readonly [Arch, Firmware])[] = [
  ['x86_64', 'bios'],
  ['x86_64', 'uefi'],
  ['aarch64', 'uefi'],
]

function render(
  scenario: Scenario,
  arch: Arch,
  firmware: Firmware,
  sketch: Partial<BootClient> = {},
): string {
  const { catalog, client, decision } = playScenario(scenario, arch, { firmware, ...sketch })
  return rendererOver(catalog).ipxe(decision, client, context)
}

const rendered: (readonly [string, string])[] = []

describe('each decision as an iPXE script', () => {
  for (const [name, scenario] of Object.entries(scenarios)) {
    for (const [arch, firmware] of machines) {
      const file = `ipxe/${name}-${arch}-${firmware}.ipxe`
      it(file, () => {
        const script = render(scenario, arch, firmware)
        rendered.push([file, script])
        expectGolden(file, script)
      })
    }
  }

  it('ipxe/chainload.ipxe', () => {
    const decision: BootDecision = {
      kind: 'chainload',
      loader: 'ipxe.efi',
      reasons: [reason('host-unknown')],
    }
    const script = rendererOver(makeCatalog()).ipxe(decision, makeClient(), context)
    rendered.push(['chainload', script])
    expectGolden('ipxe/chainload.ipxe', script)
  })

  it('ipxe/entry.ipxe', () => {
    const script = rendererOver(makeCatalog()).ipxeEntry({ baseUrl })
    rendered.push(['entry', script])
    expectGolden('ipxe/entry.ipxe', script)
  })
})

/** What Debian 12's iPXE of 2019 has (facts/netboot-clients §7). */
const oldestCommands = new Set([
  'boot',
  'chain',
  'clear',
  'dhcp',
  'echo',
  'exit',
  'goto',
  'imgfree',
  'inc',
  'initrd',
  'iseq',
  'isset',
  'kernel',
  'sanboot',
  'set',
  'sleep',
])

describe('every script', () => {
  it('is there to be looked at', () => {
    expect(rendered.length).toBe(Object.keys(scenarios).length * machines.length + 2)
  })

  it('begins with its magic line and ends with a line break, without CR or BOM (field case 115)', () => {
    for (const [, script] of rendered) {
      expect(Buffer.from(script).subarray(0, 7).toString('hex')).toBe('2321697078650a')
      expect(script).not.toMatch(/[\r\0\uFEFF]/)
      expect(script.endsWith('\n')).toBe(true)
      expect(script.endsWith('\n\n')).toBe(false)
    }
  })

  it('frees images first, so that nothing slips into the initrd (facts §12)', () => {
    for (const [file, script] of rendered) expect([file, ipxeLines(script)[0]]).toEqual([file, ['imgfree']])
  })

  it('uses the smallest command set; only the guarded cpuid is beyond it', () => {
    for (const [file, script] of rendered) {
      for (const words of ipxeLines(script)) {
        for (const command of commandsOf(words)) {
          if (command[0] === 'cpuid') expect(words.at(-1)).toBe('||')
          else expect([file, oldestCommands.has(command[0] ?? '')]).toEqual([file, true])
        }
      }
    }
  })

  it('tries every fetch again (field case 128)', () => {
    for (const [, script] of rendered) {
      for (const words of ipxeLines(script)) {
        if (!['chain', 'kernel', 'initrd', 'boot'].includes(words[0] ?? '')) continue
        expect(words.slice(-3)).toEqual(['||', 'goto', 'retry'])
      }
    }
  })

  it('names the booting NIC, never net0 (field case 113)', () => {
    for (const [, script] of rendered) expect(script).not.toMatch(/net\d/)
  })

  it('has only absolute URLs, with the address that was given', () => {
    for (const [, script] of rendered) {
      for (const words of ipxeLines(script)) {
        if (!['chain', 'kernel', 'initrd'].includes(words[0] ?? '')) continue
        const url = words.find((word) => word.includes('/'))
        expect(url?.startsWith(`${baseUrl}/`)).toBe(true)
      }
    }
  })

  it('G10 says decision, host, boot and reasons in comments', () => {
    for (const [file, script] of rendered) {
      if (file === 'entry') continue
      const [, subject, host, because] = script.split('\n')
      expect(subject).toMatch(/^# Pilotlight: (live|install|wait|hold|local|ignore|chainload)\b/)
      expect(host).toMatch(/^# Host: (n01|unknown), boot AAECAwQFBgcICQoLDA0ODw$/)
      expect(because).toMatch(/^# Reason: \S/)
    }
  })

  it('never prints a word that echo would take for an option', () => {
    for (const [, script] of rendered) {
      for (const words of ipxeLines(script)) {
        if (words[0] === 'echo') expect(words[1] ?? '').not.toMatch(/^-/)
      }
    }
  })
})

function commandsOf(words: readonly string[]): readonly (readonly string[])[] {
  const commands: string[][] = [[]]
  for (const word of words) {
    if (word === '||' || word === '&&' || word === ';') commands.push([])
    else commands.at(-1)?.push(word)
  }
  return commands.filter((command) => command.length > 0)
}

describe('values that a client reports', () => {
  const hostile = ['a && shell', 'x || reboot', '${cwduri}', '%0Ashell', 'x\nshell', 'x\\', '# x']

  it.each(hostile)('serial %j gives the bytes of a clean client (field case 117)', (serial) => {
    for (const scenario of Object.values(scenarios)) {
      expect(render(scenario, 'x86_64', 'uefi', { serial, address: serial })).toBe(
        render(scenario, 'x86_64', 'uefi'),
      )
    }
  })
})
