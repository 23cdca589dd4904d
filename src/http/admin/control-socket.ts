import { lstat, stat, unlink } from 'node:fs/promises'
import { connect, type Server } from 'node:net'
import { dirname, relative } from 'node:path'
import { ServiceError } from '../../core/errors.ts'
import { distrustOf } from '../../core/place-trust.ts'
import type { AdminApp } from './create-admin-app.ts'

export interface ControlSocket {
  readonly path: string
  /** Closes the app and removes the socket. May be called twice. */
  close(): Promise<void>
}

/** `sun_path` holds 108 bytes on Linux, 104 on BSD, the last one zero; longer paths would be cut silently. */
const maxPathBytes = 103

export type SocketAnswer = 'answers' | 'stale' | 'absent' | 'denied'

/** Whether a service answers at a socket. What is no socket at all counts as an error. */
export async function probeControlSocket(path: string): Promise<SocketAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path: shortestPath(path) })
    socket.once('connect', () => {
      socket.destroy()
      resolve('answers')
    })
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') resolve('absent')
      else if (error.code === 'ECONNREFUSED') resolve('stale')
      else if (error.code === 'EACCES' || error.code === 'EPERM') resolve('denied')
      // A full backlog: somebody listens and is busy.
      else if (error.code === 'EAGAIN') resolve('answers')
      else reject(error)
    })
  })
}

/**
 * Why what answers at a socket may be no service of ours: whoever may write into its directory can put one there. The
 * service is this user's; root also speaks with that of the user whose data directory it is. `undefined` when it is to
 * be trusted, or when there is nothing.
 */
export async function controlSocketDistrust(
  path: string,
  ownUid: number | undefined = process.geteuid?.(),
): Promise<{ readonly why: string; readonly hint: string } | undefined> {
  if (ownUid === undefined) return undefined
  const place = dirname(path)
  const socket = await lstat(path).catch(() => undefined)
  const directory = await stat(place).catch(() => undefined)
  if (socket === undefined || directory === undefined) return undefined
  const isOurs = socket.uid === ownUid || (ownUid === 0 && socket.uid === directory.uid)
  if (!isOurs) {
    return {
      why: `the service at ${path} belongs to another user (${socket.uid}; the directory to ${directory.uid})`,
      hint: `if ${socket.uid} is the user of the service, run this command as that user: sudo -u '#${socket.uid}' …`,
    }
  }
  const distrust = distrustOf({ path: place, uid: directory.uid, mode: directory.mode & 0o7777 }, socket.uid)
  if (distrust === undefined || distrust.by === 'group') return undefined
  return { why: `${place} is not safe to use: ${distrust.why}`, hint: distrust.fix }
}

/**
 * Makes an admin app answer on a socket file that never, not even for a moment, is open to other users.
 * A socket that a killed process left behind is removed; one that somebody answers on is not.
 * @throws ServiceError DATA_DIRECTORY_LOCKED when a service answers there, PERMISSION_DENIED, LISTEN_FAILED
 */
export async function listenControlSocket({
  app,
  path,
}: {
  app: AdminApp
  path: string
}): Promise<ControlSocket> {
  const bindPath = shortestPath(path)
  if (Buffer.byteLength(bindPath) > maxPathBytes) {
    throw new ServiceError('LISTEN_FAILED', `the path of the control socket is too long: ${path}`, {
      path,
      hint: `choose a data directory whose path has fewer than ${maxPathBytes - 'control.sock'.length} bytes`,
    })
  }
  await removeStaleSocket(path)
  await app.ready()
  await bindPrivately(app.server, bindPath).catch(async (error: NodeJS.ErrnoException) => {
    // libuv says EACCES for a missing directory, too.
    const isDenied = error.code === 'EACCES' && (await directoryExists(dirname(path)))
    throw new ServiceError(
      isDenied ? 'PERMISSION_DENIED' : 'LISTEN_FAILED',
      `the control socket ${path} could not be opened`,
      { path, hint: 'its directory must exist and be writable for this user' },
      error,
    )
  })

  let closing: Promise<void> | undefined
  return {
    path,
    close() {
      closing ??= closeApp(app)
      return closing
    },
  }
}

async function closeApp(app: AdminApp): Promise<void> {
  // The framework does not know that its server listens, and so would wait for idle connections.
  app.server.closeAllConnections()
  await app.close()
}

/** A path relative to the working directory names the same file in fewer bytes, where the data directory is below it. */
function shortestPath(path: string): string {
  const fromHere = relative(process.cwd(), path)
  return Buffer.byteLength(path) > maxPathBytes && fromHere.length < path.length ? fromHere : path
}

async function directoryExists(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}

async function removeStaleSocket(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined)
  if (found === undefined) return
  if (!found.isSocket()) {
    throw new ServiceError('LISTEN_FAILED', `${path} is in the way: it is not a socket`, {
      path,
      hint: 'move it away, if nothing needs it',
    })
  }
  const answer = await probeControlSocket(path)
  if (answer === 'answers') {
    throw new ServiceError('DATA_DIRECTORY_LOCKED', `another pilotlight answers at ${path}`, { path })
  }
  if (answer === 'stale') await unlink(path)
}

/** The file is created inside `listen`, before it returns, with the mode that the umask leaves: 0600. */
function bindPrivately(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    const umask = process.umask(0o177)
    try {
      server.listen({ path }, () => {
        server.removeListener('error', reject)
        resolve()
      })
    } finally {
      process.umask(umask)
    }
  })
}
