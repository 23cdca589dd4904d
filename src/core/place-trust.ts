/** A file or directory as the system shows it. */
export interface OwnedPlace {
  readonly path: string
  /** Its owner. */
  readonly uid: number
  /** Permission bits, with the sticky bit. */
  readonly mode: number
}

/** Who may change what is in a place, besides those who should. */
export interface Distrust {
  /** `group` is a matter of taste: a volume of Kubernetes belongs to a group, and that to nobody else. */
  readonly by: 'owner' | 'everybody' | 'group'
  /** A clause about the place. */
  readonly why: string
  /** A command for a shell. */
  readonly fix: string
}

const othersMayWrite = 0o002
const groupMayWrite = 0o020

/**
 * Whether others can put things into a place that a user is about to believe: what `sshd` asks of a home directory
 * (`StrictModes`). Root can do so anyhow.
 * @param ownUid the user who is to believe it
 */
export function distrustOf({ path, uid, mode }: OwnedPlace, ownUid: number): Distrust | undefined {
  if (uid !== ownUid && uid !== 0) {
    const why = `it belongs to user ${uid}, and this is user ${ownUid}`
    return { by: 'owner', why, fix: `chown -R ${ownUid} ${quoted(path)}` }
  }
  if ((mode & othersMayWrite) !== 0) {
    return {
      by: 'everybody',
      why: `every user may write there (${octal(mode)})`,
      fix: `chmod o-w ${quoted(path)}`,
    }
  }
  if ((mode & groupMayWrite) === 0) return undefined
  return { by: 'group', why: `its group may write there (${octal(mode)})`, fix: `chmod g-w ${quoted(path)}` }
}

function octal(mode: number): string {
  return `mode ${(mode & 0o7777).toString(8).padStart(4, '0')}`
}

function quoted(path: string): string {
  return /^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}
