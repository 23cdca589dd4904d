import type { FileIdentity } from '../core/file-identity.ts'
import type { TftpError } from './packet.ts'
import type { TftpName } from './tftp-name.ts'

/** Who asks, and which of our addresses it asked. */
export interface TftpPeer {
  readonly address: string
  readonly port: number
  readonly localAddress: string
}

/** What a script is for: the first one, which finds out who asks, or the one that was decided for a machine. */
export type FileUse = 'entry-script' | 'boot-script'

/** A file made for this request, such as a script: whole, in memory, small. */
export interface RenderedFile {
  readonly kind: 'rendered'
  readonly bytes: Buffer
  readonly use?: FileUse
}

/** A regular file on disk. */
export interface DiskFile {
  readonly kind: 'disk'
  /** Absolute. */
  readonly path: string
  readonly sizeBytes: number
  /** Changes when the content does: a digest, or path, size and time. Files of one id share what is held in memory. */
  readonly id: string
  /** Of the file as it was verified: bytes of any other are not sent. */
  readonly identity?: FileIdentity
  /** It is another one now. */
  readonly onChanged?: () => void
}

export type TftpFile = RenderedFile | DiskFile

export type TftpAnswer = TftpFile | ({ readonly kind: 'refused' } & TftpError)

/**
 * Where TFTP gets what it serves. An answer that is there at once may be given at once.
 * A name that nothing is known about is refused with code 1 quickly: loaders walk through lists of names.
 */
export interface TftpFiles {
  open(name: TftpName, client: TftpPeer): TftpAnswer | Promise<TftpAnswer>
}
