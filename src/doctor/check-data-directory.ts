import type { ServiceFacts } from './check-service.ts'
import { type Finding, findingsOf } from './finding.ts'

export interface DataDirectoryFacts {
  readonly path: string
  readonly kind: 'directory' | 'absent' | 'other'
  /** Of the directory: its owner, and its permission bits. */
  readonly uid?: number
  readonly mode?: number
  /** This user may write into it, or make it where it is absent. */
  readonly isWritable: boolean
  /** This user; absent where the system has no users. */
  readonly ownUid?: number
}

const { ok, note, warning, problem } = findingsOf('data')

/** Whether the data directory is there, ours, and closed to others: it holds keys and verified files. */
export function checkDataDirectory(facts: DataDirectoryFacts, service: ServiceFacts): readonly Finding[] {
  const { path, kind, uid, mode = 0, isWritable, ownUid } = facts
  if (kind === 'other') return [problem(`${path} is no directory`, 'move it away, or change dataDir')]
  if (kind === 'absent') {
    return isWritable
      ? [ok(`${path} is not there yet and can be made`)]
      : [
          problem(
            `${path} is not there and this user may not make it`,
            `make it: install -d -m 700 -o pilotlight ${path}`,
          ),
        ]
  }
  const findings: Finding[] = []
  if (!isWritable) {
    findings.push(
      service.state === 'stopped'
        ? problem(
            `this user may not write into ${path}`,
            `give it to the user of the service: chown -R pilotlight ${path}`,
          )
        : note(`${path} belongs to another user, who runs the service`),
    )
  }
  if ((mode & 0o077) !== 0) {
    findings.push(
      warning(
        `${path} is open to other users (mode ${(mode & 0o777).toString(8)})`,
        `close it: chmod 700 ${path}`,
      ),
    )
  }
  if (ownUid === 0 && uid !== undefined && uid !== 0 && service.state === 'stopped') {
    findings.push(
      note(
        `${path} belongs to user ${uid}`,
        `run commands that write there as that user: files of root would be in the way of the service`,
      ),
    )
  }
  return findings.length > 0 ? findings : [ok(`${path} is there, writable and closed to others`)]
}
