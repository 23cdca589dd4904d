import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fixture, toHex } from '../dhcp/support.ts'
import { createLab, type Lab, labProblem, type Namespace } from './namespaces.ts'
import { bootStep, startLabService, wireUp } from './service-lab.ts'

const tshark = 'tshark'
const hasTshark = execFileSync('sh', ['-c', `command -v ${tshark} || true`]).length > 0
const problem = labProblem() ?? (hasTshark ? undefined : 'needs tshark (apt install tshark)')
if (problem) console.log(`captured packets are not opened: ${problem}`)

let lab: Lab
let directory: string
beforeEach(() => {
  if (problem) return
  lab = createLab()
  directory = mkdtempSync(join(tmpdir(), 'pilotlight-capture-'))
})
afterEach(async () => {
  if (problem) return
  await lab.stop()
  rmSync(directory, { recursive: true, force: true })
})

const machine = '52:54:00:ab:cd:ef'
/** That the captured REQUEST takes. */
const address = '192.0.2.55'

/** Broadcasts a packet of real firmware from the port of DHCP clients. */
function broadcast(client: Namespace, name: string): void {
  const script = `
    const socket = require('node:dgram').createSocket({ type: 'udp4', reuseAddr: true })
    socket.bind(68, () => {
      socket.setBroadcast(true)
      const bytes = Buffer.from('${toHex(fixture(name)).replaceAll(' ', '')}', 'hex')
      socket.send(bytes, 67, '192.0.2.255', (error) => {
        if (error) throw error
        socket.close()
      })
    })`
  client.run(process.execPath, '-e', script)
}

/** Fields of the packets that a display filter of tshark picks. */
function fieldsOf(file: string, filter: string, ...fields: readonly string[]): readonly string[] {
  const wanted = fields.flatMap((field) => ['-e', field])
  const checks = ['-o', 'ip.check_checksum:TRUE', '-o', 'udp.check_checksum:TRUE']
  const text = execFileSync(tshark, ['-r', file, ...checks, '-Y', filter, '-T', 'fields', ...wanted], {
    stdio: ['ignore', 'pipe', 'ignore'],
    encoding: 'utf8',
  })
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}

describe.skipIf(problem !== undefined)('the packets of a boot, as pilotlight capture writes them', () => {
  it('are what tshark reads: DHCP with its options, TFTP from request to end, true addresses and checksums', async () => {
    const [server, client] = wireUp(lab, 's', 'c') as [Namespace, Namespace]
    server.run('ip', 'addr', 'add', '192.0.2.10/24', 'dev', 'eth0')
    client.run('ip', 'addr', 'add', `${address}/24`, 'dev', 'eth0')
    const boot = { dhcp: { mode: 'proxy', interface: 'eth0' } }
    const service = await startLabService(server, { directory, boot })
    broadcast(client, 'edk2-pxe-x64-discover')
    broadcast(client, 'edk2-pxe-x64-request')
    const fetched = bootStep<{ sizeBytes: number }>(client, {
      do: 'tftp',
      address: '192.0.2.10',
      name: 'snponly.efi',
    })
    bootStep(client, { do: 'tftp', address: '192.0.2.10', name: 'missing.efi' })

    const file = join(directory, 'boot.pcap')
    expect(service.pilotlight('capture', machine, file).status).toBe(0)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(file).subarray(0, 4).toString('hex')).toBe('a1b2c3d4')

    const dhcp = fieldsOf(
      file,
      'dhcp',
      'dhcp.option.dhcp',
      'ip.src',
      'ip.dst',
      'dhcp.hw.mac_addr',
      'dhcp.file',
    )
    expect(dhcp.map((line) => line.split('\t'))).toEqual([
      ['1', '0.0.0.0', '255.255.255.255', machine, ''],
      ['2', '192.0.2.10', '255.255.255.255', machine, 'snponly.efi'],
      ['3', '0.0.0.0', '255.255.255.255', machine, ''],
    ])
    expect(fieldsOf(file, 'dhcp.option.vendor_class_id', 'dhcp.option.vendor_class_id')[0]).toContain(
      'PXEClient',
    )

    const requests = fieldsOf(file, 'tftp.opcode == 1', 'ip.src', 'udp.dstport', 'tftp.source_file')
    expect(requests).toEqual([`${address}\t69\tsnponly.efi`, `${address}\t69\tmissing.efi`])
    expect(fieldsOf(file, 'tftp.opcode == 5', 'tftp.error.code').length).toBe(1)
    const blocks = fieldsOf(file, 'tftp.opcode == 3', 'tftp.block').map(Number)
    expect(blocks[0]).toBe(1)
    expect(blocks.at(-1)).toBe(Math.max(...blocks))
    expect(fieldsOf(file, 'tftp.opcode == 4', 'tftp.block').map(Number).at(-1)).toBe(blocks.at(-1))
    // The bytes of a file are not in it: DATA ends after its header, and says how long it was.
    const lengths = fieldsOf(file, 'tftp.opcode == 3', 'frame.cap_len', 'frame.len').map((line) =>
      line.split('\t'),
    )
    expect(lengths.every(([kept]) => kept === '46')).toBe(true)
    expect(Number(lengths[0]?.[1])).toBeGreaterThan(500)
    expect(fetched.sizeBytes).toBe(service.loader.bytes.length)

    expect(fieldsOf(file, 'ip.checksum.status != 1 || udp.checksum.status == 0', 'frame.number')).toEqual([])
    expect(fieldsOf(file, '_ws.malformed && !(tftp.opcode == 3)', 'frame.number')).toEqual([])
  })

  it('are none where capture is off', async () => {
    const [server, client] = wireUp(lab, 's', 'c') as [Namespace, Namespace]
    server.run('ip', 'addr', 'add', '192.0.2.10/24', 'dev', 'eth0')
    client.run('ip', 'addr', 'add', `${address}/24`, 'dev', 'eth0')
    const boot = { dhcp: { mode: 'proxy', interface: 'eth0' } }
    const service = await startLabService(server, { directory, boot, config: { capture: 'off' } })
    broadcast(client, 'edk2-pxe-x64-discover')
    expect(service.pilotlight('capture', machine, join(directory, 'none.pcap')).status).toBe(2)
  })
})
