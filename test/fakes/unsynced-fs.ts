import { basename, dirname } from 'node:path'
import type { FileStat, FileSystem, OpenFile } from '../../src/artifacts/file-system.ts'
import { type FileIdentity, fileIdentity } from '../../src/core/file-identity.ts'

interface FileNode {
  readonly kind: 'file'
  data: Buffer
  mode: number
  modifiedAt: number
  readonly inode: number
  /** Stands for the time of the last change, whatever the clock says. */
  changes: number
  /** What the last fsync put on the disk; absent before the first. */
  synced?: { readonly data: Buffer; readonly mode: number; readonly changes: number }
}

interface DirectoryNode {
  readonly kind: 'directory'
  entries: Map<string, Node>
  /** The names that the last fsync of this directory put on the disk. */
  synced: Map<string, Node>
}

type Node = FileNode | DirectoryNode

export interface FsOperation {
  /** Counts from 0 over the whole life of the file system. */
  readonly index: number
  readonly kind: keyof FileSystem | keyof OpenFile
  readonly path: string
}

/**
 * What a crash leaves of everything that was not synced: nothing at all, everything (the process died, the machine
 * did not), or for each name and each file's data one of the two, or data of the new length that is partly zeros,
 * as `choose` says. Real file systems do all of these.
 */
export type Survival = 'nothing' | 'everything' | { readonly choose: () => number }

export interface UnsyncedFs extends FileSystem {
  /** How many operations there have been. */
  readonly operations: number
  /** The file system that the next start finds. */
  afterCrash(survival: Survival, options?: UnsyncedFsOptions): UnsyncedFs
  /** Every file by its path, for looking on from outside. */
  files(): ReadonlyMap<string, Buffer>
}

export interface UnsyncedFsOptions {
  /** Called before each operation; whatever it throws is what the operation fails with. */
  readonly before?: (operation: FsOperation) => void
  readonly freeBytes?: number
  readonly now?: () => number
}

/** A file system in memory that loses at a crash what was not synced: file data, and names in directories. */
export function createUnsyncedFs(options: UnsyncedFsOptions = {}, root = emptyDirectory()): UnsyncedFs {
  const { before = () => {}, freeBytes = 2 ** 40, now = () => 0 } = options
  let operations = 0

  async function step(kind: FsOperation['kind'], path: string): Promise<void> {
    const index = operations
    operations += 1
    before({ index, kind, path })
  }

  function find(path: string): Node | undefined {
    let node: Node | undefined = root
    for (const part of path.split('/').filter((name) => name !== '')) {
      node = node?.kind === 'directory' ? node.entries.get(part) : undefined
    }
    return node
  }

  function directory(path: string): DirectoryNode {
    const node = find(path)
    if (node?.kind !== 'directory') throw fsError('ENOENT', path)
    return node
  }

  function file(path: string): FileNode {
    const node = find(path)
    if (node?.kind !== 'file') throw fsError(node ? 'EISDIR' : 'ENOENT', path)
    return node
  }

  function open(node: FileNode, path: string): OpenFile {
    let isOpen = true
    return {
      async stat() {
        return describe(node)
      },
      async read(buffer, position) {
        await step('read', path)
        return node.data.copy(buffer, 0, position)
      },
      async write(buffer, position) {
        await step('write', path)
        if (!isOpen) throw fsError('EBADF', path)
        const data = Buffer.alloc(Math.max(node.data.length, position + buffer.length))
        node.data.copy(data)
        data.set(buffer, position)
        node.data = data
        node.modifiedAt = now()
        node.changes += 1
      },
      async setMode(mode) {
        await step('setMode', path)
        node.mode = mode
        node.changes += 1
      },
      async sync() {
        await step('sync', path)
        node.synced = { data: Buffer.from(node.data), mode: node.mode, changes: node.changes }
      },
      async close() {
        isOpen = false
      },
    }
  }

  return {
    get operations() {
      return operations
    },
    async openForRead(path) {
      await step('openForRead', path)
      return open(file(path), path)
    },
    async openForWrite(path) {
      await step('openForWrite', path)
      const node = file(path)
      if ((node.mode & 0o200) === 0) throw fsError('EACCES', path)
      return open(node, path)
    },
    async create(path) {
      await step('create', path)
      const parent = directory(dirname(path))
      if (parent.entries.has(basename(path))) throw fsError('EEXIST', path)
      const node = emptyFile(now())
      parent.entries.set(basename(path), node)
      return open(node, path)
    },
    async stat(path) {
      await step('stat', path)
      const node = find(path)
      return node && describe(node)
    },
    async list(path) {
      await step('list', path)
      const node = find(path)
      return node?.kind === 'directory' ? [...node.entries.keys()] : []
    },
    async makeDirectory(path) {
      await step('makeDirectory', path)
      let node = root
      for (const part of path.split('/').filter((name) => name !== '')) {
        const next = node.entries.get(part) ?? emptyDirectory()
        if (next.kind !== 'directory') throw fsError('ENOTDIR', path)
        node.entries.set(part, next)
        node = next
      }
    },
    async rename(from, to) {
      await step('rename', from)
      const source = directory(dirname(from))
      const node = source.entries.get(basename(from))
      if (!node) throw fsError('ENOENT', from)
      directory(dirname(to)).entries.set(basename(to), node)
      source.entries.delete(basename(from))
      if (node.kind === 'file') node.changes += 1
    },
    async remove(path) {
      await step('remove', path)
      const parent = find(dirname(path))
      if (parent?.kind === 'directory') parent.entries.delete(basename(path))
    },
    async syncDirectory(path) {
      await step('syncDirectory', path)
      const node = directory(path)
      node.synced = new Map(node.entries)
    },
    async freeBytes(path) {
      await step('freeBytes', path)
      return freeBytes
    },
    afterCrash(survival, next = {}) {
      return createUnsyncedFs(next, survive(root, survival))
    },
    files() {
      return new Map(filesBelow(root, ''))
    },
  }
}

const noIdentity = '0:0:0:0' as FileIdentity
let lastInode = 0

function emptyFile(modifiedAt: number): FileNode {
  lastInode += 1
  return { kind: 'file', data: Buffer.alloc(0), mode: 0o600, modifiedAt, inode: lastInode, changes: 0 }
}

function emptyDirectory(): DirectoryNode {
  return { kind: 'directory', entries: new Map(), synced: new Map() }
}

function survive(node: DirectoryNode, survival: Survival): DirectoryNode {
  const copies = new Map<Node, Node>()
  function copy(child: Node): Node {
    const made =
      copies.get(child) ?? (child.kind === 'file' ? surviveFile(child, survival) : survive(child, survival))
    copies.set(child, made)
    return made
  }
  const entries = new Map<string, Node>()
  for (const name of new Set([...node.entries.keys(), ...node.synced.keys()])) {
    const child = (pick(survival, 2) === 0 ? node.synced : node.entries).get(name)
    if (child) entries.set(name, copy(child))
  }
  return { kind: 'directory', entries, synced: new Map(entries) }
}

function surviveFile(node: FileNode, survival: Survival): FileNode {
  const { data, mode, modifiedAt, inode, changes, synced } = node
  const old = synced ?? { data: Buffer.alloc(0), mode: 0o600, changes: 0 }
  const torn = Buffer.alloc(data.length)
  old.data.copy(torn)
  const kept = [old, { data, mode, changes }, { data: torn, mode, changes }][pick(survival, 3)] ?? old
  const onDisk = { data: Buffer.from(kept.data), mode: kept.mode, changes: kept.changes }
  return { kind: 'file', ...onDisk, modifiedAt, inode, synced: onDisk }
}

/** 0: as it was last synced; 1: as it was; 2: something between. */
function pick(survival: Survival, choices: number): number {
  if (survival === 'nothing') return 0
  return survival === 'everything' ? 1 : Math.floor(survival.choose() * choices)
}

function* filesBelow(node: DirectoryNode, path: string): Generator<[string, Buffer]> {
  for (const [name, child] of node.entries) {
    if (child.kind === 'file') yield [`${path}/${name}`, child.data]
    else yield* filesBelow(child, `${path}/${name}`)
  }
}

function describe(node: Node): FileStat {
  if (node.kind === 'directory')
    return { kind: 'directory', sizeBytes: 0, modifiedAt: 0, identity: noIdentity }
  const { data, modifiedAt, inode, changes } = node
  const identity = fileIdentity({
    ino: BigInt(inode),
    size: BigInt(data.length),
    mtimeNs: BigInt(modifiedAt),
    ctimeNs: BigInt(changes),
  })
  return { kind: 'file', sizeBytes: data.length, modifiedAt, identity }
}

export function fsError(code: string, path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: ${path}`), { code })
}
