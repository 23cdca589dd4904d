import { userInfo } from 'node:os'

/** Who runs this command: the name of the user, or the number where the system knows no name (a container). */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? '?'}`
  }
}
