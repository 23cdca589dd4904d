import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

/** The text of a file, or why it cannot be had, as the rest of a sentence that begins with the file. */
export type FileText = { readonly text: string } | { readonly problem: string; readonly isDenied?: boolean }

/**
 * Reads a file of UTF-8 text. Links are followed, because mounted ConfigMaps and Secrets are made of them; pipes,
 * devices and folders are refused, and so is more than `maxBytes`, also when it grows while it is read.
 */
export function readTextFile(path: string, maxBytes: number): FileText {
  try {
    // Opening a pipe would otherwise wait for somebody to write into it.
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const stat = fstatSync(descriptor)
      if (stat.isDirectory()) return { problem: 'is a folder' }
      if (!stat.isFile()) return { problem: 'is not a regular file' }
      const buffer = Buffer.alloc(Math.min(stat.size, maxBytes) + 1)
      const length = readInto(descriptor, buffer)
      if (length > maxBytes) return { problem: `has more than ${maxBytes / 1024 / 1024} MiB` }
      if (length === buffer.length) return { problem: 'changed while it was read' }
      return { text: new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, length)) }
    } finally {
      closeSync(descriptor)
    }
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    return { problem: reasonOf(cause), isDenied: code === 'EACCES' || code === 'EPERM' }
  }
}

function readInto(descriptor: number, buffer: Buffer): number {
  let length = 0
  while (length < buffer.length) {
    const bytes = readSync(descriptor, buffer, length, buffer.length - length, null)
    if (bytes === 0) break
    length += bytes
  }
  return length
}

export function reasonOf(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException
  switch (code) {
    case 'ENOENT':
      return 'does not exist'
    case 'EACCES':
    case 'EPERM':
      return 'may not be read by this user'
    case 'EISDIR':
      return 'is a folder'
    case 'ENOTDIR':
      return 'is not a folder'
    case 'ELOOP':
      return 'is a link to itself'
    case 'ERR_ENCODING_INVALID_ENCODED_DATA':
      return 'is not UTF-8 text'
    default:
      return `cannot be read (${message})`
  }
}
