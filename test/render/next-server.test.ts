import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const textsBelow = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

/** Beside a DHCP server of the site, `${next-server}` is that server's, mostly the router. */
describe('no script asks whoever the address came from (field case 30)', () => {
  const files = ['templates', 'test/golden/ipxe', 'test/golden/grub', 'test/golden/pxelinux'].flatMap(
    textsBelow,
  )

  it('there are templates and rendered scripts to look at', () => {
    expect(files.length).toBeGreaterThan(20)
  })

  it.each(files.map((path) => [path.slice(root.length + 1), path]))('%s', (_, path) => {
    expect(readFileSync(path, 'utf8')).not.toMatch(
      /next-server|\$\{filename\}|pxe_default_server|net_default_server/,
    )
  })
})
