import { openNodeConnection } from './node-connection.mjs'
import { bootQueryOf } from './seed.mjs'

/**
 * Nodes that get power at the same moment, from their script on: script, kernel, initramfs, rootfs. Prints one line of
 * JSON.
 *
 * hall-client.mjs ORIGIN NODES
 */
const [origin, nodes] = process.argv.slice(2)
const bootIds = []
let failed = 0

/** Each node has its own, as in a hall: the service has limits for each. */
function addressOf(index) {
  return `127.1.${index >> 8}.${index & 255}`
}

async function boot(index) {
  const connection = openNodeConnection({ url: origin, from: addressOf(index) })
  try {
    const { text } = await connection.get(`${origin}/ipxe?${bootQueryOf(index)}`, { isText: true })
    bootIds.push(/\?boot=([\w-]+)/.exec(text)[1])
    const kernel = /^kernel .*?(http:\S+)/m.exec(text)[1]
    const initramfs = /^initrd .*?(http:\S+)/m.exec(text)[1]
    const rootfs = /coreos\.live\.rootfs_url=(\S+)/.exec(text)[1]
    for (const url of [kernel, initramfs, rootfs]) {
      const { pathname, search } = new URL(url)
      await connection.get(origin + pathname + search)
    }
  } finally {
    connection.close()
  }
}

const startedAt = performance.now()
await Promise.all(
  Array.from({ length: Number(nodes) }, (_, index) =>
    boot(index).catch(({ message }) => {
      failed += 1
      process.stderr.write(`hall-client: ${message}\n`)
    }),
  ),
)
console.log(JSON.stringify({ seconds: (performance.now() - startedAt) / 1000, failed, bootIds }))
