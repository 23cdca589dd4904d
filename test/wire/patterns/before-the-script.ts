import type { BootPatternCode } from '../../../src/core/boot-pattern.ts'
import { minutes, type Scenario, seconds, siteServer, startLoader } from './scenario.ts'

/** As EDK2 asks before it gives up, nearly; fewer are left alone, the more of a machine that nobody knows. */
const askForWholeRun: Scenario['act'] = async (machine, lab) => {
  for (let count = 0; count < 4; count += 1) {
    if (count > 0) await lab.pass(8 * seconds)
    await machine.discover()
  }
}

/** Patterns of firmware and loaders. The first one needs a wire on which no other DHCP server was seen yet. */
export const beforeTheScript = {
  'offer-not-followed': [
    {
      situation: 'four DISCOVERs of UEFI, our offers, and nothing more on a wire without a DHCP server',
      async act(machine, lab) {
        await askForWholeRun(machine, lab)
        await lab.seen(/offered snponly\.efi/)
        await lab.pass(91 * seconds)
      },
      text: /offered snponly\.efi 4 times .*No other DHCP server was seen/,
      remedy: /A proxy gives no addresses.*dhcpStyle: binl for 52:54:00/,
    },
    {
      situation: 'the address of the site taken, and nothing fetched here',
      async act(machine, lab) {
        await machine.discover()
        machine.takesAddressOf(siteServer)
        await lab.seen(/takes 127\.\S+ of 192\.0\.2\.1/)
        await lab.pass(46 * seconds)
      },
      text: /took the address of 192\.0\.2\.1 and then fetched nothing here/,
      remedy: /may name a boot file itself/,
    },
    {
      situation: 'our own address offered, and not taken',
      addresses: 'ours',
      async act(machine, lab) {
        await askForWholeRun(machine, lab)
        await lab.seen(/offered 127\.0\.9\.\d+ and snponly\.efi/)
        await lab.pass(91 * seconds)
      },
      text: /offered snponly\.efi 4 times and did not follow/,
      remedy: /Our answers do not reach it/,
    },
    {
      situation: 'our own address taken, and nothing fetched',
      addresses: 'ours',
      async act(machine, lab) {
        await machine.accept(await machine.discover())
        await lab.seen(/acknowledged 127\.0\.9\.\d+/)
        await lab.pass(91 * seconds)
      },
      text: /fetch/,
      remedy: /See that it reaches this service by TFTP/,
    },
  ],
  'offers-not-merged': [
    {
      situation: 'four DISCOVERs, our offers, none taken, where others take addresses of the site',
      async act(machine, lab) {
        await askForWholeRun(machine, lab)
        await lab.pass(36 * seconds)
      },
      text: /offered snponly\.efi 4 times and took nothing, though 192\.0\.2\.1 gives addresses/,
    },
  ],
  'boot-server-type-zero': [
    {
      situation: 'port 4011 asked for type 0, told the file, and nothing fetched',
      async act(machine, lab) {
        await machine.discover()
        machine.takesAddressOf(siteServer)
        await machine.askBootServer(0)
        await lab.seen(/on port 4011/)
        await lab.pass(46 * seconds)
      },
      text: /asked port 4011 for boot server type 0 once/,
    },
  ],
  'http-client-without-url': [
    {
      situation: 'UEFI HTTP Boot that takes the offer of the site',
      architecture: 16,
      bootClass: 'HTTPClient',
      async act(machine, lab) {
        await machine.discover()
        machine.takesAddressOf(siteServer)
        await lab.seen(/takes 127\.\S+ of 192\.0\.2\.1/)
        await lab.pass(46 * seconds)
      },
      text: /boots by HTTP and took the offer of 192\.0\.2\.1; http:\S+ was not fetched/,
    },
  ],
  'loader-of-wrong-architecture': [
    {
      situation: 'UEFI for x64 that fetches an iPXE for arm64',
      async act(machine, lab) {
        await startLoader(machine, lab, 'snponly-arm64.efi')
        await lab.pass(11 * seconds)
      },
      text: /It is x86_64 and fetched snponly-arm64\.efi, which is for aarch64/,
    },
    {
      situation: 'the same over HTTP, by a file name of the site',
      async act(machine, lab) {
        await machine.discover()
        machine.takesAddressOf(siteServer)
        await lab.seen(/takes 127\.\S+ of 192\.0\.2\.1/)
        await machine.get('/loaders/snponly-arm64.efi')
        await lab.seen(/snponly-arm64\.efi sent/)
        await lab.pass(11 * seconds)
      },
      text: /It is x86_64 and fetched snponly-arm64\.efi, which is for aarch64/,
    },
  ],
  'loader-loop': [
    {
      situation: 'the same loader three times, and never a script',
      async act(machine, lab) {
        for (let count = 1; count <= 3; count += 1) {
          await startLoader(machine, lab, 'snponly.efi', count)
          await lab.pass(15 * seconds)
        }
      },
      text: /It fetched snponly\.efi 3 times and never a script/,
    },
    {
      situation: 'the same loader in three boots, each after its machine was started again',
      async act(machine, lab) {
        for (let count = 1; count <= 3; count += 1) {
          await startLoader(machine, lab)
          await lab.pass(4 * minutes)
        }
      },
      text: /It fetched snponly\.efi 3 times and never a script/,
    },
  ],
  'script-not-fetched': [
    {
      situation: 'a loader that went out whole, and silence',
      async act(machine, lab) {
        await startLoader(machine, lab)
        await lab.pass(3 * minutes + 1 * seconds)
      },
      text: /snponly\.efi went out whole, and it was not heard of in the 3 min after/,
    },
    {
      situation: 'an iPXE that asks for an address and then fetches no script',
      async act(machine, lab) {
        await startLoader(machine, lab)
        await machine.discover({ isIpxe: true })
        await lab.seen(/from iPXE/)
        await lab.pass(3 * minutes + 1 * seconds)
      },
      text: /it started and asked for an address, and fetched no script, in the 3 min after/,
      remedy: /The loader runs and does not reach the script/,
    },
  ],
} satisfies Partial<Record<BootPatternCode, readonly Scenario[]>>
