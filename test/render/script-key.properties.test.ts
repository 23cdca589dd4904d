import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BootClient } from '../../src/core/client.ts'
import { decideBoot } from '../../src/core/decide-boot.ts'
import type { Host } from '../../src/core/host.ts'
import type { Renderer } from '../../src/render/renderer.ts'
import { makeBootimage } from '../fakes/bootimages.ts'
import { makeCatalog, status } from '../fakes/catalogs.ts'
import { makeClient, makeHost, makeInventory } from '../fakes/machines.ts'
import { context, rendererOver } from '../fakes/scripts.ts'

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const pinned = makeBootimage({ release: '43.1' })
const catalog = makeCatalog({ current: makeBootimage(), releases: [status(pinned)] })

const host: fc.Arbitrary<Partial<Host>> = fc.record({
  id: fc.constantFrom('n01', 'n02'),
  mode: fc.constantFrom('live', 'live', 'install', 'local', 'hold'),
  pins: maybe(fc.constantFrom([{ release: '43.1' }], [{ release: '42.1' }])),
  kernelArguments: maybe(fc.array(fc.constantFrom('a', 'b', 'a=b', 'rd.bootif=0'), { maxLength: 2 })),
  ignition: maybe(fc.constantFrom({ url: 'http://x/y' }, { url: 'http://x/z' }, { inline: '{}' })),
  install: fc.record({
    device: fc.constantFrom('/dev/sda', 'sdb'),
    generation: maybe(fc.constantFrom(1, 2)),
  }),
  localBoot: maybe(fc.constantFrom('exit', 'exit 1', 'http-404')),
  holdReason: maybe(fc.constantFrom('x', 'y')),
  platformId: maybe(fc.constantFrom('metal', 'qemu')),
  rootfs: maybe(fc.constantFrom('url', 'initrd')),
})

const client: fc.Arbitrary<Partial<BootClient>> = fc.record({
  firmware: fc.constantFrom('bios', 'uefi', 'unknown'),
  arch: fc.constantFrom('x86_64', 'aarch64'),
})

const used = rendererOver(catalog)
/** Keeps two scripts and no more, so two others make it forget. */
const forgetful = rendererOver(catalog, { cachedScripts: 1 })

function renderWith(
  renderer: Renderer,
  said: Partial<Host>,
  says: Partial<BootClient>,
  baseUrl: string,
): string {
  const machine = makeClient(says)
  const inventory = makeInventory({ hosts: [makeHost({ stream: 'fcos-stable', ...said })] })
  const decision = decideBoot(machine, { catalog, inventory, now: 0 })
  return renderer.ipxe(decision, machine, { ...context, baseUrl })
}

describe('a script that was kept', () => {
  it('is the script that would be rendered now, whatever one thing changed since', () => {
    const baseUrl = fc.constantFrom('http://192.0.2.10', 'http://192.0.2.11')
    const fields = [
      'id',
      'mode',
      'pins',
      'kernelArguments',
      'ignition',
      'install',
      'localBoot',
      'holdReason',
    ] as const
    const field = fc.constantFrom(...fields, 'platformId', 'rootfs', 'nothing')
    fc.assert(
      fc.property(host, host, client, client, field, baseUrl, (said, other, says, saysNow, changed, url) => {
        renderWith(used, said, says, 'http://192.0.2.10')
        const now = changed === 'nothing' ? said : { ...said, [changed]: other[changed] }
        const saysAfter = changed === 'nothing' ? saysNow : says
        forgetful.ipxeEntry({ baseUrl: 'http://192.0.2.20' })
        forgetful.ipxeEntry({ baseUrl: 'http://192.0.2.21' })
        expect(renderWith(used, now, saysAfter, url)).toBe(renderWith(forgetful, now, saysAfter, url))
      }),
      { numRuns: 2000 },
    )
  })
})
