import { gzipSync } from 'node:zlib'

/** A compressed cpio archive (`newc`, as the kernel unpacks it) with one file, to be put behind an initramfs. */
export function cpioArchive(name: string, content: string): Buffer {
  const archive = Buffer.concat([
    member(name, Buffer.from(content), 0o100644),
    member('TRAILER!!!', Buffer.alloc(0), 0),
  ])
  return gzipSync(archive, { level: 9 })
}

/** Thirteen fields of eight hexadecimal digits, the name, the content; both filled up to four bytes. */
function member(name: string, content: Buffer, mode: number): Buffer {
  const [inode, owner, group, links, time, major, minor] = [1, 0, 0, 1, 0, 0, 0]
  const fields = [inode, mode, owner, group, links, time, content.length, major, minor, major, minor]
  const header = [...fields, name.length + 1, 0].map((value) => value.toString(16).padStart(8, '0')).join('')
  return Buffer.concat([filled(Buffer.from(`070701${header}${name}\0`)), filled(content)])
}

function filled(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)])
}
