import type { BootEvent } from '../boot-event.ts'
import type { FileFacts } from './attempt-facts.ts'
import { FileParts } from './file-parts.ts'
import { type FileEvent, type FileRole, fileRoleOf } from './file-role.ts'

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }
type Sent = Extract<BootEvent, { type: 'artifact-sent' }>
type Progress = Extract<BootEvent, { type: 'artifact-progress' }>
type Tftp = Extract<BootEvent, { type: 'tftp-started' | 'tftp-ended' }>

/** What became of each file of a boot; of the last one of its role, where there are several. */
export class FileLog {
  readonly #files = new Map<FileRole, Mutable<FileFacts>>()
  readonly #parts = new Map<FileRole, FileParts>()
  /** How often each loader went out whole. */
  #loaders: Map<string, number> | undefined

  get files(): ReadonlyMap<FileRole, FileFacts> {
    return this.#files
  }

  isWhole(role: FileRole): boolean {
    return (this.#files.get(role)?.wholes ?? 0) > 0
  }

  /** A new decision makes the machine fetch everything anew; its loader it has. */
  restart(): void {
    for (const role of this.#files.keys()) {
      if (role === 'loader' || role === 'script') continue
      this.#files.delete(role)
      this.#parts.delete(role)
    }
  }

  note(event: FileEvent, at: number, lastAt: number, count: number): void {
    if (event.type === 'artifact-sent') this.#sent(event, at, lastAt, count)
    else if (event.type === 'artifact-progress') this.#progress(event, at)
    else if (event.type !== 'tftp-refused') this.#tftp(event, at, lastAt, count)
  }

  #sent(event: Sent, at: number, lastAt: number, count: number): void {
    if (event.status >= 400) return
    const file = this.#fileOf(fileRoleOf(event), event.name, at)
    file.lastAt = lastAt
    if (event.totalBytes !== undefined) file.totalBytes = event.totalBytes
    if (event.loaderArch !== undefined) file.loaderArch = event.loaderArch
    if (event.method === 'HEAD') {
      file.heads += count
      file.firstHeadAt ??= at
      file.lastHeadAt = lastAt
      return
    }
    const { fromBytes = 0, sentBytes, totalBytes = sentBytes, completed } = event
    const parts = this.#partsOf(file.role)
    parts.add(fromBytes, fromBytes + sentBytes)
    // Also in parts, in any order: what broke off goes on where it did.
    if (completed && (event.status === 200 || parts.covers(totalBytes))) {
      parts.clear()
      this.#whole(file, lastAt, count, totalBytes)
    } else if (!completed) cut(file, lastAt, count, fromBytes + sentBytes)
    else {
      file.isOpen = false
      // Of one that was there as a whole already, a part says nothing new.
      if (file.wholes === 0) file.reachedBytes = parts.bytes
    }
  }

  #partsOf(role: FileRole): FileParts {
    const known = this.#parts.get(role)
    if (known !== undefined) return known
    const parts = new FileParts()
    this.#parts.set(role, parts)
    return parts
  }

  #progress(event: Progress, at: number): void {
    const file = this.#fileOf(fileRoleOf(event), event.name, at)
    const goesOn = file.isOpen && event.reachedBytes >= file.reachedBytes
    file.before = goesOn ? { at: file.lastAt, bytes: file.reachedBytes } : undefined
    file.lastAt = at
    file.isOpen = true
    file.reachedBytes = event.reachedBytes
    file.totalBytes = event.totalBytes
    if (event.loaderArch !== undefined) file.loaderArch = event.loaderArch
  }

  #tftp(event: Tftp, at: number, lastAt: number, count: number): void {
    const file = this.#fileOf(fileRoleOf(event), event.file, at)
    file.lastAt = lastAt
    if (event.type === 'tftp-started') {
      file.isOpen = true
      return
    }
    if (event.loaderArch !== undefined) file.loaderArch = event.loaderArch
    if (event.totalBytes !== undefined) file.totalBytes = event.totalBytes
    file.clientError = event.clientError
    if (event.isWhole) this.#whole(file, lastAt, count, event.totalBytes ?? event.sentBytes)
    else cut(file, lastAt, count, event.sentBytes)
  }

  #fileOf(role: FileRole, name: string | undefined, at: number): Mutable<FileFacts> {
    const known = this.#files.get(role)
    if (known !== undefined) {
      if (name !== undefined) known.name = name
      return known
    }
    const file: Mutable<FileFacts> = {
      role,
      name,
      startedAt: at,
      lastAt: at,
      heads: 0,
      firstHeadAt: undefined,
      lastHeadAt: undefined,
      wholes: 0,
      repeats: 0,
      wholeAt: undefined,
      cuts: 0,
      cutAt: undefined,
      isOpen: false,
      reachedBytes: 0,
      totalBytes: undefined,
      before: undefined,
      loaderArch: undefined,
      clientError: undefined,
    }
    this.#files.set(role, file)
    return file
  }

  #whole(file: Mutable<FileFacts>, at: number, count: number, totalBytes: number): void {
    file.wholes += count
    file.wholeAt = at
    file.isOpen = false
    file.cuts = 0
    file.reachedBytes = totalBytes
    file.totalBytes = totalBytes
    if (file.role !== 'loader') return
    this.#loaders ??= new Map()
    const ofName = (this.#loaders.get(file.name ?? '') ?? 0) + count
    this.#loaders.set(file.name ?? '', ofName)
    file.repeats = Math.max(file.repeats, ofName)
  }
}

function cut(file: Mutable<FileFacts>, at: number, count: number, reachedBytes: number): void {
  file.cuts += count
  file.cutAt = at
  file.isOpen = false
  file.reachedBytes = reachedBytes
}
