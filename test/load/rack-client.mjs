import { Worker } from 'node:worker_threads'
import { ok, runIpxeScript } from '../../dist/runtime/demo/ipxe-script.js'
import { openNodeConnection } from './node-connection.mjs'
import { openRackDhcp } from './rack-dhcp.mjs'
import { fetchFile } from './tftp-transfer.mjs'

/**
 * Machines that get power at the same moment and boot as UEFI does: DHCP, loader by TFTP, DHCP as iPXE, its scripts,
 * kernel and initramfs. Prints one line of JSON.
 *
 * rack-client.mjs '{"nodes":1000,"loaderSha256":"…","files":{"kernel":"…","initramfs":"…"},"readersAtOnce":64}'
 */
const { nodes, loaderSha256, files, readersAtOnce } = JSON.parse(process.argv[2])
/** As UEFI asks for. */
const windowSize = 4
/** When each node had come so far, after all got power. */
const reachedMs = { address: [], loader: [], script: [], files: [] }
const problems = {}
const addresses = new Set()
let tftpRepeats = 0
let bytes = 0

const downloads = new Map()
const reader = new Worker(new URL('rack-downloads.mjs', import.meta.url), {
  workerData: { atOnce: readersAtOnce },
})
reader.on('message', (done) => {
  downloads.get(done.index)(done)
})
const dhcp = await openRackDhcp()

async function bootNode(index) {
  const mac = macOf(index)
  const first = await dhcp.lease({ mac, isIpxe: false })
  const from = first.address
  if (addresses.has(from)) throw new Error('DHCP: an address was given twice')
  addresses.add(from)
  reached('address')
  await fetchLoader({ address: first.server, name: first.bootFile, from })
  reached('loader')
  const second = await dhcp.lease({ mac, isIpxe: true })
  if (second.address !== from) throw new Error('DHCP: another address for the same machine')
  const wanted = await runScripts({ url: second.bootFile, mac, from })
  const done = await new Promise((resolve) => {
    downloads.set(index, resolve)
    reader.postMessage({ index, from, files: wanted })
  })
  bytes += done.bytes
  if (done.problem !== undefined) throw new Error(done.problem)
  reached('files')
}

function reached(stage) {
  reachedMs[stage].push(performance.now() - startedAt)
}

async function fetchLoader({ address, name, from }) {
  const file = { address, name, from, windowSize }
  const looked = await fetchFile({ ...file, isLook: true })
  const fetched = await fetchFile(file)
  tftpRepeats += looked.repeats + fetched.repeats
  if (fetched.sha256 === undefined) throw new Error('loader: did not come')
  if (fetched.sha256 !== loaderSha256) throw new Error('loader: wrong bytes')
}

/** Runs the entry script and the one it leads to; the files that the last one names, in its order. */
async function runScripts({ url, mac, from }) {
  const connection = openNodeConnection({ url, from })
  const wanted = []
  const settings = new Map([
    ['netX/mac', mac],
    ['netX/ip', from],
    ['buildarch', 'x86_64'],
    ['platform', 'efi'],
  ])
  async function getScript(address) {
    const { text } = await connection.get(address, { isText: true })
    return text
  }
  async function run(command, words) {
    const address = words.find((word) => word.startsWith('http:'))
    switch (command) {
      case 'chain': {
        const text = await getScript(address)
        reached('script')
        return { kind: 'script', text }
      }
      case 'kernel':
        wanted.push({ role: 'kernel', url: address, sha256: files.kernel })
        return ok
      case 'initrd':
        wanted.push({ role: 'initramfs', url: address, sha256: files.initramfs })
        return ok
      case 'boot':
        return { kind: 'left' }
      case 'echo':
      case 'imgfree':
        return ok
      default:
        throw new Error(`script: ${command} instead of a boot`)
    }
  }
  try {
    await runIpxeScript(await getScript(url), { settings, run })
  } catch ({ message }) {
    throw new Error(`script: ${message}`)
  } finally {
    connection.close()
  }
  const roles = wanted.map(({ role }) => role).join(' ')
  if (roles !== 'kernel initramfs') throw new Error(`script: names ${roles || 'no file'}`)
  return wanted
}

function macOf(index) {
  const digits = index.toString(16).padStart(4, '0')
  return `52:54:00:00:${digits.slice(0, 2)}:${digits.slice(2)}`
}

const startedAt = performance.now()
await Promise.all(
  Array.from({ length: nodes }, async (_, index) => {
    await bootNode(index).catch(({ message }) => {
      problems[message] = (problems[message] ?? 0) + 1
    })
  }),
)
const seconds = (performance.now() - startedAt) / 1000
dhcp.close()
await reader.terminate()
console.log(JSON.stringify({ reachedMs, seconds, bytes, problems, dhcpRepeats: dhcp.repeats(), tftpRepeats }))
