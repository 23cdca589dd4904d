import { describe, expect, it } from 'vitest'
import { createTftpFiles } from '../../src/runtime/tftp-files.ts'
import type { TftpPath } from '../../src/tftp/file-name.ts'
import { classifyName } from '../../src/tftp/tftp-name.ts'
import { makeCatalog } from '../fakes/catalogs.ts'
import { loaderCatalogue, servedLoader } from '../fakes/doctor-facts.ts'
import { mac, makeHost, makeInventory } from '../fakes/machines.ts'

function filesFor(...hosts: Parameters<typeof makeHost>[0][]) {
  const files = createTftpFiles({
    catalog: { current: () => makeCatalog() },
    loaders: { current: () => loaderCatalogue([servedLoader('start4.elf')]) },
    renderer: { ipxeEntry: () => '#!ipxe' },
    onFileProblem: () => undefined,
    baseUrlOf: (address) => `http://${address}`,
    configFor: () => undefined,
    inventory: () => makeInventory({ hosts: hosts.map((host) => makeHost(host)) }),
  })
  const peer = { address: '192.0.2.55', port: 1025, localAddress: '192.0.2.10' }
  return (name: string) => files.open(classifyName(name as TftpPath), peer)
}

const refused = { kind: 'refused', code: 1, message: 'File not found' }
const served = expect.objectContaining({ kind: 'disk', path: '/usr/lib/ipxe/start4.elf' })

describe('a Raspberry Pi that asks below its serial number (field case 81)', () => {
  it('that nobody knows is refused at once, and finds the file at the root', () => {
    const open = filesFor()
    expect(open('9ffefdef/start4.elf')).toEqual(refused)
    expect(open('start4.elf')).toEqual(served)
  })

  it.each(['9ffefdef', '9FFEFDEF', '100000009ffefdef', '100000009FFEFDEF'])(
    'is a host by its serial %s, and its directory stands for the root',
    (serial) => {
      const open = filesFor({ serial })
      expect(open('9ffefdef/start4.elf')).toEqual(served)
      expect(open('9ffefdef/nothing.elf')).toEqual(refused)
      expect(open('00112233/start4.elf')).toEqual(refused)
    },
  )

  it('or by its MAC', () => {
    const open = filesFor({ macs: [mac('dc:a6:32:00:00:01')] })
    expect(open('dc-a6-32-00-00-01/start4.elf')).toEqual(served)
    expect(open('dc-a6-32-00-00-02/start4.elf')).toEqual(refused)
  })
})
