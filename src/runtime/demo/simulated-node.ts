import { createHash } from 'node:crypto'
import { request } from 'undici'
import { failed, type IpxeMachine, type IpxeOutcome, ok, runIpxeScript } from './ipxe-script.ts'

/** One file that the node fetched, with the digest that it computed itself. */
export interface NodeFetch {
  readonly what: 'entry' | 'script' | 'kernel' | 'initrd' | 'rootfs'
  readonly url: string
  readonly sizeBytes: number
  readonly sha256: string
  readonly milliseconds: number
}

export interface NodeBoot {
  readonly script: string
  readonly kernelArguments: readonly string[]
  readonly fetches: readonly NodeFetch[]
  /** What the node's console showed. */
  readonly console: readonly string[]
}

export interface SimulatedNode {
  readonly baseUrl: string
  readonly mac: string
  /** `${buildarch}`: `x86_64`, `i386`, `arm64`. */
  readonly buildArch: string
  readonly platform: 'pcbios' | 'efi'
  /** Called after each fetch; the demo moves the stream from here. */
  readonly onFetched?: (fetch: NodeFetch) => Promise<void>
  /** How long `sleep` really takes, so that a demo does not wait as a machine does. */
  readonly sleep: (seconds: number) => Promise<void>
}

/**
 * Boots as a machine would: entry script, script, kernel, initramfs by the loader's rules, then HEAD and GET of the
 * rootfs as the initramfs does. Checks lengths as real clients do.
 * @throws Error when a fetch fails or the script never boots
 */
export async function bootSimulatedNode(node: SimulatedNode): Promise<NodeBoot> {
  const fetches: NodeFetch[] = []
  const consoleLines: string[] = []
  let script = ''
  let kernelArguments: readonly string[] = []
  const settings = new Map([
    ['netX/mac', node.mac],
    ['buildarch', node.buildArch],
    ['platform', node.platform],
  ])

  async function fetchAs(what: NodeFetch['what'], url: string): Promise<Buffer> {
    const startedAt = performance.now()
    const response = await request(url, { headersTimeout: 30_000, bodyTimeout: 30_000 })
    const body = Buffer.from(await response.body.arrayBuffer())
    if (response.statusCode !== 200)
      throw new Error(`${url} answered ${response.statusCode}: ${body.toString().trim()}`)
    if (Number(response.headers['content-length']) !== body.length) {
      throw new Error(`${url} announced ${response.headers['content-length']} bytes and sent ${body.length}`)
    }
    const sha256 = createHash('sha256').update(body).digest('hex')
    const fetch = { what, url, sizeBytes: body.length, sha256, milliseconds: performance.now() - startedAt }
    fetches.push(fetch)
    await node.onFetched?.(fetch)
    return body
  }

  const machine: IpxeMachine = {
    settings,
    async run(command, words): Promise<IpxeOutcome> {
      switch (command) {
        case 'echo':
          consoleLines.push(words.join(' '))
          return ok
        case 'sleep':
          await node.sleep(Number(words[0] ?? 0))
          return ok
        // The simulated NIC has link and address, the simulated CPU is a 64-bit one.
        case 'imgfree':
        case 'ifopen':
        case 'dhcp':
        case 'cpuid':
          return ok
        case 'chain': {
          const url = optionFree(words)[0] ?? ''
          const text = (await fetchAs('script', url)).toString()
          script = text
          return { kind: 'script', text }
        }
        case 'kernel': {
          const [url = '', ...rest] = optionFree(words)
          kernelArguments = rest
          await fetchAs('kernel', url)
          return ok
        }
        case 'initrd':
          await fetchAs('initrd', optionFree(words)[0] ?? '')
          return ok
        case 'boot':
        case 'exit':
          return { kind: 'left' }
        default:
          return failed
      }
    },
  }

  const entry = (await fetchAs('entry', `${node.baseUrl}/boot.ipxe`)).toString()
  await runIpxeScript(entry, machine)
  const rootfsUrl = kernelArguments
    .find((word) => word.startsWith('coreos.live.rootfs_url='))
    ?.slice('coreos.live.rootfs_url='.length)
  if (rootfsUrl !== undefined) {
    await expectHead(rootfsUrl)
    await fetchAs('rootfs', rootfsUrl)
  }
  return { script, kernelArguments, fetches, console: consoleLines }
}

/** The initramfs asks HEAD first and gives up on any error status or missing length. */
async function expectHead(url: string): Promise<void> {
  const head = await request(url, { method: 'HEAD' })
  await head.body.dump()
  if (head.statusCode !== 200) throw new Error(`HEAD ${url} answered ${head.statusCode}`)
  if (head.headers['content-length'] === undefined) throw new Error(`HEAD ${url} told no length`)
}

/** Words without `--name main` and such. */
function optionFree(words: readonly string[]): readonly string[] {
  const rest: string[] = []
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? ''
    if (word === '--autofree' || word === '--replace' || word === '-a') continue
    if (word.startsWith('--') || word === '-n' || word === '-t') index += 1
    else rest.push(word)
  }
  return rest
}
