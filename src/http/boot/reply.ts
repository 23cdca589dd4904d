import type { Arch } from '../../core/arch.ts'
import type { BootId } from '../../core/boot-event.ts'
import type { ServedFile } from '../../core/catalog.ts'
import type { ServedLoader } from '../../core/loader.ts'
import { plainText } from './content-type.ts'

/**
 * Names and values in turn, as Node takes raw headers, in the letter case in which they are sent: some loaders compare
 * it (field case 89).
 */
export type HeaderLines = readonly string[]

/** A body that is in memory. */
export interface ContentReply {
  readonly kind: 'content'
  readonly status: number
  readonly contentType: string
  readonly headers: HeaderLines
  readonly body: string | Buffer
  /** Strong tag with its quotes; where there is one, preconditions count. */
  readonly etag?: string
  /** A name that loaders try on their way to another: its absence is nothing to tell anybody (field case 84). */
  readonly isProbe?: boolean
  /** The first script, which finds out who asks; the name under which it was asked for. */
  readonly entryName?: string
}

/** What can be sent from disk: a verified file of the catalog, or a loader as it was when it was catalogued. */
export type SentFile =
  | ServedFile
  | (Pick<ServedLoader, 'name' | 'path' | 'sizeBytes' | 'modifiedAt' | 'sha256'> & {
      readonly role: 'loader'
      readonly arch?: Arch
    })

/** A file; ranges and preconditions are answered when it is open. */
export interface FileReply {
  readonly kind: 'file'
  readonly file: SentFile
  readonly headers: HeaderLines
  readonly bootId?: BootId
}

export type Reply = ContentReply | FileReply

/** Names never mean other bytes, so nobody has to ask again. */
export const immutable: HeaderLines = ['Cache-Control', 'public, max-age=31536000, immutable']
/** May be kept, must be asked for again: what it names moves with the stream. */
export const revalidate: HeaderLines = ['Cache-Control', 'no-cache']
export const noStore: HeaderLines = ['Cache-Control', 'no-store']

/** Seconds after which a node may ask again for what is being fetched. */
export const retryAfterSeconds = 10

/** A short text that tells whoever reads it what to do. */
export function textReply(status: number, text: string, headers: HeaderLines = []): ContentReply {
  return {
    kind: 'content',
    status,
    contentType: plainText,
    headers: [...noStore, ...headers],
    body: `${text}\n`,
  }
}

/** A script for a loader. Scripts are decisions of one moment: nobody may keep them. */
export function scriptReply(script: string, status = 200): ContentReply {
  return { kind: 'content', status, contentType: plainText, headers: noStore, body: script }
}

export function notFound(text: string): ContentReply {
  return textReply(404, text)
}

/** For names that a loader walks through, most of which are not here. */
export function notHere(text: string): ContentReply {
  return { ...textReply(404, text), isProbe: true }
}

/** Comes with Retry-After, which makes an iPXE ask again by itself, without end. */
export function notYet(text: string, seconds: number = retryAfterSeconds): ContentReply {
  return textReply(503, text, ['Retry-After', String(seconds)])
}
