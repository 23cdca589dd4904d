import { createHash } from 'node:crypto'
import { lstat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BootService } from '../../src/boot/boot-service.ts'
import type { ArtifactRole } from '../../src/core/artifact.ts'
import type { BootDecision } from '../../src/core/boot-decision.ts'
import type { BootEvent, BootId } from '../../src/core/boot-event.ts'
import { artifactsOf, type Bootimage } from '../../src/core/bootimage.ts'
import type { Catalog, CatalogStream, ReadyBootimage, ServedFile } from '../../src/core/catalog.ts'
import type { BootClient } from '../../src/core/client.ts'
import { parseSha256, type Sha256 } from '../../src/core/digest.ts'
import { type FileIdentity, fileIdentity } from '../../src/core/file-identity.ts'
import { type LoaderCatalogue, noLoaders } from '../../src/core/loader.ts'
import { type Reason, reason } from '../../src/core/reason.ts'
import { nobodySeen, type SeenMachines } from '../../src/core/seen-machines.ts'
import {
  type BootListener,
  type BootListenerLimits,
  type BootListenerOptions,
  createBootListener,
} from '../../src/http/boot/boot-listener.ts'
import type { Renderer } from '../../src/render/renderer.ts'
import { makeBootimage } from './bootimages.ts'
import { readOnce, status } from './catalogs.ts'
import { createManualTime, type ManualTime } from './manual-time.ts'
import { createRecordingLog } from './recording-log.ts'
import { makeTemporaryDirectory, type TemporaryDirectory } from './temporary-directory.ts'

const modifiedAt = Date.UTC(2026, 10, 1, 12, 0, 0)
const follows: readonly [Reason] = [reason('host-unknown')]

/** A boot service that decides what the test says and keeps what was asked. */
export interface ScriptedBootService extends BootService {
  decide: (client: BootClient) => BootDecision
  readonly answered: BootClient[]
  readonly explained: BootClient[]
  readonly touched: BootId[]
}

export function createScriptedBootService(): ScriptedBootService {
  const answered: BootClient[] = []
  const explained: BootClient[] = []
  const touched: BootId[] = []
  return {
    decide: () => ({ kind: 'ignore', reasons: follows }),
    answered,
    explained,
    touched,
    answer(client) {
      answered.push(client)
      const bootId = `boot${String(answered.length).padStart(18, '0')}` as BootId
      return { decision: this.decide(client), bootId }
    },
    explain(client) {
      explained.push(client)
      return this.decide(client)
    },
    touch: (bootId) => void touched.push(bootId),
  }
}

/** Scripts that only say what they were made from. */
export const plainRenderer: Renderer = {
  ipxe: (decision, _client, { baseUrl, bootId }) => `#!ipxe\n# ${decision.kind} ${bootId} ${baseUrl}\nexit\n`,
  ipxeEntry: ({ baseUrl }) => `#!ipxe\nchain ${baseUrl}/ipxe\n`,
  grub: (decision, _client, { baseUrl, bootId }) => `# ${decision.kind} ${bootId} ${baseUrl}\n`,
  grubEntry: ({ baseUrl }) => `source ${baseUrl}/grub/boot\n`,
  pxelinux: (decision, _client, { baseUrl, bootId, fetch }) =>
    `# ${decision.kind} ${bootId} ${baseUrl} ${fetch}\n`,
}

export interface BootRig {
  readonly port: number
  readonly listener: BootListener
  readonly service: ScriptedBootService
  readonly events: BootEvent[]
  /** `<route> <method> <status>` of every request. */
  readonly requests: string[]
  readonly problems: string[]
  readonly log: ReturnType<typeof createRecordingLog>
  readonly time: ManualTime
  readonly directory: TemporaryDirectory
  readonly bootimage: Bootimage
  readonly image: ReadyBootimage
  /** What is served now; a test may put another one in its place. */
  catalog: Catalog
  renderer: Renderer
  loaders: LoaderCatalogue
  seen: SeenMachines
  /** Writes a file and makes it servable. */
  addFile(name: string, role: ArtifactRole, bytes: Buffer): Promise<ServedFile>
  stop(): Promise<void>
}

export interface BootRigOptions
  extends Partial<Pick<BootListenerOptions, 'urls' | 'ignoredMachines' | 'kernel' | 'secrets'>> {
  readonly limits?: Partial<BootListenerLimits>
}

/** The kernel's bytes; the other files of the rig are told apart by their own. */
export function bytesOf(name: string, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  for (let at = 0; at < length; at += 1) bytes[at] = (at * 31 + (at >> 8) + name.length) & 0xff
  return bytes
}

async function identityOf(path: string): Promise<FileIdentity> {
  return fileIdentity(await lstat(path, { bigint: true }))
}

/** The listener on a free port of loopback, over one verified bootimage on disk. */
export async function startBootRig(options: BootRigOptions = {}): Promise<BootRig> {
  const directory = await makeTemporaryDirectory()
  const log = createRecordingLog()
  const time = createManualTime(Date.UTC(2026, 10, 29))
  const service = createScriptedBootService()
  const events: BootEvent[] = []
  const requests: string[] = []
  const problems: string[] = []
  const files = new Map<Sha256, ServedFile>()

  async function addFile(name: string, role: ArtifactRole, bytes: Buffer): Promise<ServedFile> {
    const sha256 = parseSha256(createHash('sha256').update(bytes).digest('hex')) as Sha256
    const path = join(directory.path, sha256)
    await writeFile(path, bytes)
    await utimes(path, modifiedAt / 1000, modifiedAt / 1000)
    const file = {
      sha256,
      name,
      role,
      sizeBytes: bytes.length,
      path,
      modifiedAt,
      identity: await identityOf(path),
    }
    files.set(sha256, file)
    return file
  }

  const sketch = makeBootimage()
  const signaturePath = join(directory.path, 'kernel.sig')
  await writeFile(signaturePath, 'a detached signature')
  const kernel = {
    ...(await addFile('fcos-live-kernel.x86_64', 'kernel', bytesOf('kernel', 10_000))),
    signaturePath,
    signatureIdentity: await identityOf(signaturePath),
  }
  files.set(kernel.sha256, kernel)
  const initramfs = await addFile(
    'fcos-live-initramfs.x86_64.img',
    'initramfs',
    bytesOf('initramfs', 3_000_000),
  )
  const rootfs = await addFile('fcos-live-rootfs.x86_64.img', 'rootfs', bytesOf('rootfs', 5_000_001))
  const bootimage: Bootimage = {
    ...sketch,
    kernel: { ...sketch.kernel, ...pick(kernel) },
    initramfs: { ...sketch.initramfs, ...pick(initramfs) },
    rootfs: { ...sketch.kernel, ...pick(rootfs), role: 'rootfs' },
  }
  const image: ReadyBootimage = { bootimage, kernel, initramfs, rootfs, disks: new Map() }

  const empty: CatalogStream = {
    name: 'fcos-next',
    architectures: ['x86_64'],
    byArch: new Map(),
    health: {
      ...readOnce,
      error: { code: 'UPSTREAM_UNREACHABLE', message: 'nothing answered' },
    },
  }
  const target = makeBootimage({ stream: 'fcos-testing', release: '45.1.2.3' })
  const fetching: CatalogStream = {
    name: 'fcos-testing',
    architectures: ['x86_64'],
    byArch: new Map([
      [
        'x86_64',
        { arch: 'x86_64', previous: [], target: status(target, 'downloading'), releases: new Map() },
      ],
    ]),
    health: readOnce,
  }
  const stable: CatalogStream = {
    name: 'fcos-stable',
    label: 'stable',
    lastModified: Date.UTC(2026, 10, 2, 8, 0, 0),
    architectures: ['x86_64'],
    byArch: new Map([['x86_64', { arch: 'x86_64', current: image, previous: [], releases: new Map() }]]),
    health: readOnce,
  }
  const rig: Omit<BootRig, 'port' | 'listener'> = {
    service,
    events,
    requests,
    problems,
    log,
    time,
    directory,
    bootimage,
    image,
    renderer: plainRenderer,
    loaders: noLoaders,
    seen: nobodySeen,
    catalog: {
      revision: 1,
      streams: new Map([stable, fetching, empty].map((stream) => [stream.name, stream])),
      ready: new Map([[bootimage.id, image]]),
      files,
      awaited: new Set(artifactsOf(target).map(({ sha256 }) => sha256)),
    },
    addFile,
    async stop() {
      await listener.close()
      await directory.remove()
    },
  }
  const listener = createBootListener({
    ...options,
    catalog: { current: () => rig.catalog },
    bootService: service,
    renderer: {
      ipxe: (...given) => rig.renderer.ipxe(...given),
      ipxeEntry: (...given) => rig.renderer.ipxeEntry(...given),
      grub: (...given) => rig.renderer.grub(...given),
      grubEntry: (...given) => rig.renderer.grubEntry(...given),
      pxelinux: (...given) => rig.renderer.pxelinux(...given),
    },
    log,
    clock: time,
    onEvent: (event) => void events.push(event),
    onRequest: (route, method, answered) => void requests.push(`${route ?? '-'} ${method} ${answered}`),
    loaders: { current: () => rig.loaders },
    seen: {
      macOf: (address) => rig.seen.macOf(address),
      addressOf: (mac) => rig.seen.addressOf(mac),
      machineOf: (mac) => rig.seen.machineOf(mac),
    },
    onFileProblem: (sha256, problem) => void problems.push(`${sha256} ${problem}`),
    onLoaderProblem: (name, problem) => void problems.push(`${name} ${problem}`),
  })
  const { port } = await listener.listen({ host: '127.0.0.1', port: 0 })
  return Object.assign(rig, { port, listener })
}

function pick({ sha256, name }: ServedFile) {
  return { sha256, name }
}
