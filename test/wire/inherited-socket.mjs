// A process that was given a listening socket as descriptor 3, as a service manager gives it; ends with its stdin.
import { createBootListener } from '../../dist/http/boot/boot-listener.js'

const listener = createBootListener({
  catalog: {
    current: () => ({
      revision: 1,
      streams: new Map(),
      ready: new Map(),
      files: new Map(),
      awaited: new Set(),
    }),
  },
  bootService: {},
  renderer: { ipxeEntry: ({ baseUrl }) => `#!ipxe\nchain ${baseUrl}/ipxe\n` },
  log: { debug() {}, info() {}, warn() {}, error() {} },
  clock: { now: () => 0 },
})
await listener.listen({ fd: 3 })
process.stdout.write('listening\n')
process.stdin.resume().on('end', () => listener.close())
