import type { BootService } from '../../boot/boot-service.ts'
import type { SecretService } from '../../boot/secret-service.ts'
import type { TraceId } from '../../core/boot-event.ts'
import type { CatalogSource } from '../../core/catalog.ts'
import type { Clock } from '../../core/clock.ts'
import type { Sha256 } from '../../core/digest.ts'
import type { LoaderSource } from '../../core/loader.ts'
import type { Log } from '../../core/log.ts'
import type { SeenMachines } from '../../core/seen-machines.ts'
import type { Renderer } from '../../render/renderer.ts'
import type { FileProblem } from './open-files.ts'
import type { Body } from './read-body.ts'

/** A request after its target was parsed; everything in it is bounded. */
export interface BootRequest {
  /** One that its route takes. */
  readonly method: 'GET' | 'HEAD' | 'POST'
  /** Parts of the path, decoded, without empty ones. */
  readonly path: readonly string[]
  /** Named parts of the route's pattern. */
  readonly params: Readonly<Record<string, string>>
  /** Raw text after the `?`. */
  readonly query: string
  /** For URLs in the answer; without a slash at the end. */
  readonly baseUrl: string
  /** IP address that asks. */
  readonly address: string
  /** The trace that the request belongs to, where it says so. */
  readonly trace?: TraceId
  /** Reads the body of a POST, whole or not at all. */
  readBody(): Promise<Body>
}

/** What the answers are made from. */
export interface BootSources {
  readonly catalog: CatalogSource
  readonly bootService: BootService
  readonly renderer: Renderer
  readonly loaders: LoaderSource
  /** Ignition configs and reports. */
  readonly secrets: SecretService
  readonly clock: Clock
  /** Whom DHCP has seen, for loaders that say little of who they are. */
  readonly seen: SeenMachines
  /** What a machine gets that is to be ignored: a script that leaves network boot, or a 404. */
  readonly ignoredMachines: 'script' | 'http-404'
  /** A verified file, or its signature, is not on disk as it was. */
  readonly onFileProblem: (sha256: Sha256, problem: FileProblem) => void
  readonly log: Log
}
