import { expect, it } from 'vitest'
import { runCommand } from '../fakes/command-line.ts'

it('the demo boots a bare machine by DHCP, TFTP and HTTP, and ends well', async () => {
  const { code, stdout, stderr } = await runCommand('demo', '--once')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/✓ DISCOVER from UEFI x64: the offer names snponly\.efi/)
  expect(stdout).toMatch(/✓ TFTP brings snponly\.efi whole/)
  expect(stdout).toMatch(/✓ DISCOVER from iPXE: the offer is http:\/\/127\.0\.0\.1:\d+\/boot\.ipxe/)
  expect(stdout).toMatch(/All \d+ checks passed/)
  expect(stdout).not.toContain('✗')
})
