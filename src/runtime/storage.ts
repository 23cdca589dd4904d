import type { BlobStore } from '../artifacts/blob-store.ts'
import { openBlobStore } from '../artifacts/create-blob-store.ts'
import { nodeFileSystem } from '../artifacts/file-system.ts'
import { layoutOf } from '../artifacts/layout.ts'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { type BlobIndex, openBlobIndex } from '../rollout/blob-index.ts'
import { type Ledger, openLedger } from '../rollout/ledger.ts'
import { type DataDirectory, openDataDirectory } from '../state/data-directory.ts'
import { openStateStore } from '../state/open-state-store.ts'
import type { StateStore } from '../state/store.ts'
import { type DocumentArchive, openDocumentArchive } from '../streams/document-archive.ts'

/** Everything durable, open, with this process as its owner. */
export interface Storage {
  readonly directory: DataDirectory
  readonly store: StateStore
  readonly blobs: BlobStore
  readonly blobIndex: BlobIndex
  readonly archive: DocumentArchive
  readonly ledger: Ledger
  close(): Promise<void>
}

/**
 * Takes the lock of the data directory and opens what is in it; cleans up what a crash left behind (G7).
 * @throws ServiceError DATA_DIRECTORY_*, STATE_*, STORAGE_FAILED
 */
export async function openStorage(options: {
  readonly dataDirectory: string
  readonly clock: Clock
  readonly log: Log
}): Promise<Storage> {
  const { clock, log } = options
  const directory = openDataDirectory({
    directory: options.dataDirectory,
    clock,
    pid: process.pid,
    onWarning: (text) => log.warn({ place: text }, 'the data directory is more open than it should be'),
  })
  let store: StateStore | undefined
  try {
    store = await openStateStore({ file: directory.stateFile, backups: directory.backups, log })
    const opened = store
    const blobs = await openBlobStore({ fs: nodeFileSystem, layout: layoutOf(directory.path), clock })
    const [blobIndex, ledger] = await Promise.all([
      openBlobIndex({ blobs, records: opened, clock, log }),
      openLedger(opened),
    ])
    const archive = await openDocumentArchive({
      directory: directory.metadata,
      fs: nodeFileSystem,
      log,
    })
    return {
      directory,
      store: opened,
      blobs,
      blobIndex,
      archive,
      ledger,
      async close() {
        await opened.close()
        directory.release()
      },
    }
  } catch (error) {
    await store?.close()
    directory.release()
    throw error
  }
}
