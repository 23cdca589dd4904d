import { join } from 'node:path'
import type { Sha256 } from '../core/digest.ts'
import type { FileSystem } from './file-system.ts'
import { type Layout, parseIncomingName } from './layout.ts'
import { storing } from './storage-error.ts'

/** An unfinished download is worth continuing for a day; then upstream has probably moved on. */
const resumableForMs = 24 * 60 * 60 * 1000
const largestNoteBytes = 16 * 1024

/** Where an unfinished file came from, and what tells whether it is still the same file there. */
export interface ResumeNote {
  readonly url: string
  /** A strong `ETag`, or `Last-Modified` (RFC 9110 §13.1.5). */
  readonly validator: string
  readonly totalBytes?: number
}

export interface ResumableFile {
  readonly path: string
  readonly sizeBytes: number
  readonly note: ResumeNote
}

interface Place {
  readonly fs: FileSystem
  readonly layout: Layout
}

/** Removes what cannot be continued: no note, nothing in it, too old, or not ours. @throws ServiceError STORAGE_FAILED */
export async function cleanIncoming({ fs, layout, now }: Place & { readonly now: number }): Promise<void> {
  const names = await storing('listing', layout.incoming, () => fs.list(layout.incoming))
  const kept = new Set<string>()
  for (const name of names) {
    if (parseIncomingName(name)?.isResumeNote === false && (await isResumable(name))) kept.add(name)
  }
  for (const name of names) {
    if (kept.has(name) || kept.has(name.replace(/\.resume$/, ''))) continue
    const path = join(layout.incoming, name)
    const isDirectory = (await fs.stat(path))?.kind === 'directory'
    if (!isDirectory) await storing('removing', path, () => fs.remove(path))
  }

  async function isResumable(name: string): Promise<boolean> {
    const path = join(layout.incoming, name)
    const stat = await fs.stat(path)
    if (stat?.kind !== 'file' || stat.sizeBytes === 0) return false
    if (Math.abs(now - stat.modifiedAt) > resumableForMs) return false
    return (await readNote(fs, layout.resumeNote(path))) !== undefined
  }
}

/** Every unfinished file of a digest, largest first. */
export async function listResumable(
  { fs, layout }: Place,
  sha256: Sha256,
): Promise<readonly ResumableFile[]> {
  const names = await storing('listing', layout.incoming, () => fs.list(layout.incoming))
  const found: ResumableFile[] = []
  for (const name of names) {
    const parsed = parseIncomingName(name)
    if (parsed?.sha256 !== sha256 || parsed.isResumeNote) continue
    const path = join(layout.incoming, name)
    const stat = await fs.stat(path)
    const note = await readNote(fs, layout.resumeNote(path))
    if (stat?.kind === 'file' && note) found.push({ path, sizeBytes: stat.sizeBytes, note })
  }
  return found.sort((left, right) => right.sizeBytes - left.sizeBytes)
}

/** Bytes of a digest that need not be fetched again if all goes well. */
export async function resumableBytes(place: Place, sha256: Sha256): Promise<number> {
  return (await listResumable(place, sha256))[0]?.sizeBytes ?? 0
}

/**
 * Written before the first byte of the file, and not synced: a lost note costs a download, and a note that does not
 * fit its file is caught by the digest.
 */
export async function writeNote(
  { fs, layout }: Place,
  incomingFile: string,
  note: ResumeNote,
): Promise<void> {
  const path = layout.resumeNote(incomingFile)
  await storing('writing', path, async () => {
    const file = await fs.create(path)
    try {
      await file.write(Buffer.from(JSON.stringify(note)), 0)
    } finally {
      await file.close()
    }
  })
}

async function readNote(fs: FileSystem, path: string): Promise<ResumeNote | undefined> {
  const stat = await fs.stat(path)
  if (stat?.kind !== 'file' || stat.sizeBytes > largestNoteBytes) return undefined
  const file = await storing('opening', path, () => fs.openForRead(path))
  try {
    const bytes = Buffer.alloc(stat.sizeBytes)
    await file.read(bytes, 0)
    return parseNote(bytes.toString())
  } finally {
    await file.close()
  }
}

/** A crash can leave anything in a file that was not synced. */
function parseNote(text: string): ResumeNote | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const { url, validator, totalBytes } = value as Record<string, unknown>
  if (typeof url !== 'string' || typeof validator !== 'string') return undefined
  // The validator goes into a request header.
  if (!/^[\x20-\x7e]{1,1024}$/.test(validator)) return undefined
  const hasTotal = typeof totalBytes === 'number' && Number.isSafeInteger(totalBytes) && totalBytes > 0
  return hasTotal ? { url, validator, totalBytes } : { url, validator }
}
