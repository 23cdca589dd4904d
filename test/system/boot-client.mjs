// One step of a boot, from another network namespace: node boot-client.mjs DIST '{"do":"discover","device":"eth0",…}'.
// Prints what came as one line of JSON.
import { createHash, randomInt } from 'node:crypto'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const [dist, json] = process.argv.slice(2)
const load = (path) => import(pathToFileURL(resolve(dist, path)).href)
const { formatIpv4 } = await load('core/ipv4.js')
const { parseMac } = await load('core/mac.js')
const step = JSON.parse(json)
const digest = (bytes) => ({
  sizeBytes: bytes.length,
  sha256: createHash('sha256').update(bytes).digest('hex'),
})

const steps = {
  /** Broadcasts a DISCOVER; every answer within `forMs`, or the first with `isFirstEnough`. */
  async discover({
    device,
    mac = '52:54:00:00:00:01',
    architecture = 7,
    bootClass,
    isIpxe,
    forMs,
    xid = randomInt(2 ** 32),
    isFirstEnough,
  }) {
    const { openDhcpClient } = await load('runtime/clients/dhcp-client.js')
    const { loadDeviceSockets } = await load('dhcp/bind-to-device.js')
    const client = await openDhcpClient({ port: 68, device, devices: await loadDeviceSockets() })
    const question = { xid, mac: parseMac(mac), architecture, bootClass, isIpxe }
    const replies = await client.ask(
      question,
      { address: '255.255.255.255', port: 67 },
      { forMs, isEnough: () => isFirstEnough === true },
    )
    await client.close()
    const text = (address) => (address === undefined ? undefined : formatIpv4(address))
    return replies.map(({ from, address, server, nextServer, bootFile }) => ({
      from,
      address: text(address),
      server: text(server),
      nextServer: text(nextServer),
      bootFile,
    }))
  },
  async tftp({ address, name, blockSize }) {
    const { fetchByTftp } = await load('runtime/clients/fetch-by-tftp.js')
    const { bytes, ...outcome } = await fetchByTftp({ address, port: 69, name, blockSize })
    return { ...outcome, ...(bytes === undefined ? {} : digest(bytes)) }
  },
  async http({ url }) {
    const response = await fetch(url)
    const bytes = Buffer.from(await response.arrayBuffer())
    return { status: response.status, ...digest(bytes), text: bytes.toString('latin1', 0, 200) }
  },
}
process.stdout.write(`${JSON.stringify(await steps[step.do](step))}\n`)
