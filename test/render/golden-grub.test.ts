import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import type { Arch } from '../../src/core/arch.ts'
import type { BootDecision } from '../../src/core/boot-decision.ts'
import type { Firmware } from '../../src/core/client.ts'
import { reason } from '../../src/core/reason.ts'
import { makeCatalog } from '../fakes/catalogs.ts'
import { expectGolden } from '../fakes/golden.ts'
import { grubCommands } from '../fakes/grub.ts'
import { makeClient } from '../fakes/machines.ts'
import { playScenario, scenarios } from '../fakes/script-scenarios.ts'
import { context, rendererOver } from '../fakes/scripts.ts'

const machines: readonly (readonly [Arch, Firmware])[] = [
  ['x86_64', 'bios'],
  ['x86_64', 'uefi'],
  ['aarch64', 'uefi'],
  ['ppc64le', 'open-firmware'],
]
const baseUrl = 'http://192.0.2.10'

const rendered: (readonly [string, string])[] = []

function golden(file: string, make: () => string): void {
  it(file, () => {
    const script = make()
    rendered.push([file, script])
    expectGolden(file, script)
  })
}

describe('each decision as a GRUB script', () => {
  for (const [name, scenario] of Object.entries(scenarios)) {
    for (const [arch, firmware] of machines) {
      golden(`grub/${name}-${arch}-${firmware}.cfg`, () => {
        const { catalog, client, decision } = playScenario(scenario, arch, { firmware, loader: 'grub' })
        return rendererOver(catalog).grub(decision, client, { ...context, baseUrl })
      })
    }
  }

  golden('grub/chainload.cfg', () => {
    const decision: BootDecision = {
      kind: 'chainload',
      loader: 'ipxe.efi',
      reasons: [reason('host-unknown')],
    }
    return rendererOver(makeCatalog()).grub(decision, makeClient(), { ...context, baseUrl })
  })

  golden('grub/entry.cfg', () => rendererOver(makeCatalog()).grubEntry({ baseUrl }))
  golden('grub/entry-other-port.cfg', () =>
    rendererOver(makeCatalog()).grubEntry({ baseUrl: `${baseUrl}:8080` }),
  )
})

/** Found by their absence, where they are not in a build: `smbios` and `net_bootp` fail and are only missed. */
const commands = new Set([
  '[',
  'boot',
  'chainloader',
  'echo',
  'exit',
  'initrd',
  'insmod',
  'linux',
  'net_bootp',
  'search',
  'set',
  'sleep',
  'smbios',
  'source',
  'true',
])
const keywords = new Set(['if', 'then', 'elif', 'else', 'fi', 'for', 'while', 'do', 'done'])

/** Each command with its words; variables stand as `$name`. */
function commandsOf(script: string): readonly (readonly string[])[] {
  const plain = grubCommands(script).map(({ words }) =>
    words.map((word) => word.map((piece) => ('text' in piece ? piece.text : `$${piece.variable}`)).join('')),
  )
  return plain
    .filter(([first]) => first !== 'for')
    .map((words) => words.slice(words.findIndex((word) => !keywords.has(word))))
    .filter(([first]) => first !== undefined && !keywords.has(first))
}

describe('every GRUB script', () => {
  it('is there to be looked at', () => {
    expect(rendered.length).toBe(Object.keys(scenarios).length * machines.length + 3)
  })

  it('names files by server and path, never bare (field case 99)', () => {
    const isAbsolute = /^\(http,192\.0\.2\.10(?::8080)?\)\/./
    // The boot loader of a disk is named with its disk.
    const isOnDisk = /^\((?:\$root\)\$file|hd0\)\+1)$/
    let files = 0
    for (const [name, script] of rendered) {
      for (const [command = '', ...words] of commandsOf(script)) {
        const named =
          { linux: words.slice(0, 1), initrd: words, source: words, chainloader: words }[command] ?? []
        for (const word of named) {
          expect([name, word, isAbsolute.test(word) || isOnDisk.test(word)]).toEqual([name, word, true])
          files += 1
        }
      }
    }
    expect(files).toBeGreaterThan(100)
  })

  it('tells no initrd to the kernel: GRUB hands them over (facts §12.4)', () => {
    for (const [, script] of rendered) expect(script).not.toContain('initrd=')
  })

  it('has nothing that only iPXE has', () => {
    for (const [, script] of rendered) expect(script).not.toMatch(/\$\{net|#!ipxe|imgfree|sanboot|--name/)
  })

  it('uses commands that network builds of GRUB have', () => {
    for (const [name, script] of rendered) {
      for (const [command = ''] of commandsOf(script)) {
        expect([name, command, commands.has(command)]).toEqual([name, command, true])
      }
    }
  })

  it('G10 says decision, host, boot and reasons in comments', () => {
    for (const [file, script] of rendered) {
      if (file.includes('/entry')) continue
      const [subject, host, because] = script.split('\n')
      expect(subject).toMatch(/^# Pilotlight: (live|install|wait|hold|local|ignore|chainload)\b/)
      expect(host).toMatch(/^# Host: (n01|unknown), boot AAECAwQFBgcICQoLDA0ODw$/)
      expect(because).toMatch(/^# Reason: \S/)
      expect(script).toContain('\nset answered=yes\n')
    }
  })

  it('ends with a line break and has neither CR nor an empty line', () => {
    for (const [, script] of rendered) expect(script).toMatch(/^(?:[^\r\n]+\n)+$/)
  })

  const checker = '/usr/bin/grub-script-check'
  const isHere = (() => {
    try {
      execFileSync(checker, ['--version'], { stdio: 'ignore' })
      return true
    } catch {
      console.info(`not checked: ${checker} is not installed (Debian package grub-common)`)
      return false
    }
  })()

  it.skipIf(!isHere)("is one to GRUB's own parser", () => {
    for (const [, script] of rendered) expect(() => execFileSync(checker, { input: script })).not.toThrow()
    expect(() => execFileSync(checker, { input: 'if true; then\n', stdio: 'pipe' })).toThrow()
  })
})

describe('the port in a GRUB script (field case 98)', () => {
  const scenario = scenarios.live
  if (scenario === undefined) throw new Error('unreachable')
  const { catalog, client, decision } = playScenario(scenario, 'x86_64', { firmware: 'uefi' })
  const scriptAt = (url: string) => rendererOver(catalog).grub(decision, client, { ...context, baseUrl: url })

  it.each([
    ['http://192.0.2.10', '(http,192.0.2.10)/artifacts/'],
    ['http://192.0.2.10:80', '(http,192.0.2.10)/artifacts/'],
    ['http://192.0.2.10:8080', '(http,192.0.2.10:8080)/artifacts/'],
    ['http://[2001:db8::10]', '(http,[2001:db8::10])/artifacts/'],
    ['http://[2001:db8::10]:8080', '(http,[2001:db8::10]:8080)/artifacts/'],
    ['http://boot.example', '(http,boot.example)/artifacts/'],
  ])('%s is named as %s', (url, device) => {
    expect(scriptAt(url)).toContain(`linux '${device}`)
  })

  it('is warned about where it is not 80', () => {
    expect(scriptAt('http://192.0.2.10:8080')).toContain(
      '# Port 8080: some builds of GRUB ask port 80 all the same.\n',
    )
    expect(scriptAt('http://192.0.2.10')).not.toContain('# Port')
  })

  it('https is a mistake in the configuration, which names the host (field case 100)', () => {
    expect(() => scriptAt('https://192.0.2.10')).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining('host n01 is booted by GRUB'),
      }),
    )
    expect(() => rendererOver(catalog).grubEntry({ baseUrl: 'https://192.0.2.10' })).toThrow(/no https/)
  })
})
