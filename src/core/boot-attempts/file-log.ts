import type { BootEvent } from '../boot-event.ts'
import type { FileFacts } from './attempt-facts.ts'
import { type FileEvent, type FileRole, fileRoleOf } from './file-role.ts'

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }
type Sent = Extract<BootEvent, { type: 'artifact-sent' }>

/** What became of each file of a boot; the last of its role, where there are several. */
export function createFileLog() {
  const files = new Map<FileRole, Mutable<FileFacts>>()
  const wholesByName = new Map<string, number>()

  function fileOf(role: FileRole, name: string | undefined, at: number): Mutable<FileFacts> {
    const known = files.get(role)
    if (known !== undefined) {
      known.lastAt = Math.max(known.lastAt, at)
      if (name !== undefined) known.name = name
      return known
    }
    const file: Mutable<FileFacts> = {
      role,
      name,
      startedAt: at,
      lastAt: at,
      heads: 0,
      wholes: 0,
      repeats: 0,
      cuts: 0,
      isOpen: false,
      reachedBytes: 0,
    }
    files.set(role, file)
    return file
  }

  function whole(file: Mutable<FileFacts>, at: number, count: number, totalBytes: number): void {
    file.wholes += count
    const ofName = (wholesByName.get(`${file.role} ${file.name}`) ?? 0) + count
    wholesByName.set(`${file.role} ${file.name}`, ofName)
    file.repeats = Math.max(file.repeats, ofName)
    file.wholeAt ??= at
    file.isOpen = false
    file.cuts = 0
    file.reachedBytes = totalBytes
    file.totalBytes = totalBytes
  }

  function cut(file: Mutable<FileFacts>, at: number, count: number, reachedBytes: number): void {
    file.cuts += count
    file.cutAt = at
    file.isOpen = false
    file.reachedBytes = reachedBytes
  }

  function sent(event: Sent, at: number, lastAt: number, count: number): void {
    if (event.status >= 400) return
    const file = fileOf(fileRoleOf(event), event.name, at)
    file.lastAt = lastAt
    if (event.totalBytes !== undefined) file.totalBytes = event.totalBytes
    if (event.loaderArch !== undefined) file.loaderArch = event.loaderArch
    if (event.method === 'HEAD') {
      file.heads += count
      file.firstHeadAt ??= at
      file.lastHeadAt = lastAt
      return
    }
    const { sentBytes, totalBytes = sentBytes } = event
    // A part that goes on where the last transfer broke off ends with the file.
    const isWhole = event.status === 200 || file.reachedBytes + sentBytes >= totalBytes
    if (event.completed && isWhole) whole(file, lastAt, count, totalBytes)
    else if (event.completed) file.isOpen = false
    else cut(file, lastAt, count, Math.max(event.status === 200 ? 0 : file.reachedBytes, sentBytes))
  }

  return {
    files: files as ReadonlyMap<FileRole, FileFacts>,
    note(event: FileEvent, at: number, lastAt: number, count: number): void {
      if (event.type === 'tftp-refused') return
      if (event.type === 'artifact-sent') {
        sent(event, at, lastAt, count)
        return
      }
      if (event.type === 'artifact-progress') {
        const file = fileOf(fileRoleOf(event), event.name, at)
        const isNew = !file.isOpen || event.reachedBytes < file.reachedBytes
        if (!isNew) file.before = { at: file.lastAt, bytes: file.reachedBytes }
        else file.before = undefined
        file.lastAt = at
        file.isOpen = true
        file.reachedBytes = event.reachedBytes
        file.totalBytes = event.totalBytes
        if (event.loaderArch !== undefined) file.loaderArch = event.loaderArch
        return
      }
      const file = fileOf(fileRoleOf(event), event.file, at)
      file.lastAt = lastAt
      if (event.type === 'tftp-started') {
        file.isOpen = true
        return
      }
      if (event.loaderArch !== undefined) file.loaderArch = event.loaderArch
      if (event.totalBytes !== undefined) file.totalBytes = event.totalBytes
      file.clientError = event.clientError
      if (event.isWhole) whole(file, lastAt, count, event.totalBytes ?? event.sentBytes)
      else cut(file, lastAt, count, event.sentBytes)
    },
    /** A new decision makes the machine fetch everything anew; its loader it has. */
    restart(): void {
      for (const role of files.keys()) if (role !== 'loader' && role !== 'script') files.delete(role)
    },
    isWhole(role: FileRole): boolean {
      return (files.get(role)?.wholes ?? 0) > 0
    },
  }
}
