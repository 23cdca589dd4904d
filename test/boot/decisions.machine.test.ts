import { describe, expect, it } from 'vitest'
import { saidAtHome, wordOf } from './boot-report.ts'
import { bootProblem } from './boot-site.ts'
import { expectRelease } from './expect-boot.ts'
import { makeRelease } from './payload.ts'
import { withBootSite } from './with-boot-site.ts'

const mac = '52:54:00:77:00:01'

describe.skipIf(bootProblem() !== undefined)('what a machine gets', () => {
  const name =
    'G5 G12 a pinned host boots the pinned release with its secret config, and reports that it runs'
  it.concurrent(name, (test) =>
    withBootSite(test, 'bios-pxe, pinned host', async (site) => {
      const pinned = makeRelease(site.upstream, '44.20261001.3.0', 'x86_64', { isUnique: true })
      const current = makeRelease(site.upstream, '44.20261101.3.0', 'x86_64', { isUnique: true })
      const host = {
        id: 'n01',
        macs: [mac],
        profile: 'node',
        pin: { release: pinned.release, reason: 'NIC regression' },
        ignition: { inline: JSON.stringify({ ignition: { version: '3.4.0' } }) },
      }
      site.configure({
        mode: 'proxy',
        firmware: 'bios-pxe',
        hosts: [host],
      })
      site.sync(pinned, current)
      const reports = site.asking('/api/v1/reports')
      const report = await site.boot({
        mode: 'proxy',
        firmware: 'bios-pxe',
        options: ['--on', '^NODE told booted', reports.command],
      })
      expectRelease(report, pinned)
      expect(saidAtHome(report, 'told booted')).toBe('ok')
      expect(reports.answer()).toMatchObject({ items: [{ host: 'n01', status: 'booted' }] })
      const ignitionUrl = wordOf(report.node.cmdline ?? undefined, 'ignition.config.url') ?? ''
      const tokens = [...ignitionUrl.matchAll(/\/ignition\/(.{64})$/g)].map(([, token]) => token)
      for (const { target, status } of report.http) {
        const [, token] = /^\/report\/(.{64})$/.exec(target) ?? []
        if (status === 200 && token !== undefined) tokens.push(token)
      }
      expect(tokens).toHaveLength(2)
      for (const token of tokens) expect(site.log()).not.toContain(token)
    }),
  )

  it.concurrent('an unknown machine hears nothing from us and goes its own way', (test) =>
    withBootSite(test, 'bios-pxe, unknown machine', async (site) => {
      site.publish(makeRelease(site.upstream, '44.20261101.3.0', 'x86_64'))
      site.configure({
        mode: 'proxy',
        firmware: 'bios-pxe',
        hosts: [{ id: 'another', macs: ['52:54:00:77:00:99'], profile: 'node' }],
      })
      const report = await site.boot({
        mode: 'proxy',
        firmware: 'bios-pxe',
        options: ['--expect', 'No bootable device'],
      })
      expect(report.problem).toBeNull()
      expect(report.dhcp.filter(({ from }) => from.startsWith('192.0.2.10 '))).toEqual([])
      expect(report.dhcp.some(({ type, from }) => type === 'OFFER' && from.startsWith('192.0.2.1 '))).toBe(
        true,
      )
      expect([report.tftp, report.http]).toEqual([[], []])
    }))

  it.concurrent.for(['bios-pxe', 'uefi-ipxe', 'uefi-pxe'] as const)(
    '%s: an installed machine goes on to its disk',
    (firmware, test) =>
      withBootSite(test, `${firmware}, local boot`, async (site) => {
        site.publish(makeRelease(site.upstream, '44.20261101.3.0', 'x86_64'))
        site.configure({
          mode: 'proxy',
          firmware,
          hosts: [{ id: 'n01', macs: [mac], profile: 'node', mode: 'local' }],
        })
        const report = await site.boot({
          mode: 'proxy',
          firmware,
          options: ['--disk', '--expect', '^NODE disk'],
        })
        expect(report.problem).toBeNull()
        expect(report.http.filter(({ target }) => target.startsWith('/artifacts/'))).toEqual([])
      }),
  )

  it.concurrent('G11 a machine waits for its bootimage, and boots it when it is there', (test) =>
    withBootSite(test, 'bios-pxe, waits', async (site) => {
      const made = makeRelease(site.upstream, '44.20261101.3.0', 'x86_64')
      site.configure({ mode: 'proxy', firmware: 'bios-pxe' })
      const report = await site.boot({
        mode: 'proxy',
        firmware: 'bios-pxe',
        isEmpty: true,
        options: ['--on', 'this machine waits for', site.prepareMove(made)],
      })
      expectRelease(report, made)
      expect(wordOf(saidAtHome(report, 'marker'), 'firmware')).toBe('bios')
    }))

  it.concurrent('in the style binl, the boot file comes from port 4011', (test) =>
    withBootSite(test, 'uefi-pxe, style binl', async (site) => {
      const made = makeRelease(site.upstream, '44.20261101.3.0', 'x86_64')
      site.publish(made)
      site.configure({ mode: 'proxy', firmware: 'uefi-pxe', dhcp: { style: 'binl' } })
      const report = await site.boot({ mode: 'proxy', firmware: 'uefi-pxe' })
      expectRelease(report, made)
      const [offer] = report.dhcp.filter(
        ({ from, type }) => type === 'OFFER' && from.startsWith('192.0.2.10 '),
      )
      expect(offer?.options).not.toHaveProperty('43 vendor')
      const answers = report.dhcp.filter(({ from }) => from === '192.0.2.10 port 4011')
      expect(answers.map(({ type, to, file }) => [type, to.split(' ').at(-1), file])).toContainEqual([
        'ACK',
        '4011',
        'snponly.efi',
      ])
    }))
})
