declare const fileIdentityBrand: unique symbol

/**
 * Tells one state of one file from every other: inode, size, time of the last change of its content and time of the
 * last change of anything about it, both in ns. Two files, or one file before and after a change, never share one,
 * also where somebody kept size and time (`cp -p`, `rsync -a`, `touch -r`): the kernel sets the last of these itself,
 * and no program can set it back. A copy, a move to another disk or a `chown` makes a new one without any harm; whoever
 * compares reads the file again then. Device numbers are left out: they are not the same after every reboot.
 */
export type FileIdentity = string & { readonly [fileIdentityBrand]: true }

/** What `fs.stat` says with `bigint: true`. */
export interface FileIdentityFacts {
  readonly ino: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}

export function fileIdentity({ ino, size, mtimeNs, ctimeNs }: FileIdentityFacts): FileIdentity {
  return `${ino}:${size}:${mtimeNs}:${ctimeNs}` as FileIdentity
}

/** Whether both tell of the same bytes of the same file: a rename or a `chmod` between them does no harm. */
export function isSameContent(one: FileIdentity, other: FileIdentity): boolean {
  return withoutChangeTime(one) === withoutChangeTime(other)
}

function withoutChangeTime(identity: FileIdentity): string {
  return identity.slice(0, identity.lastIndexOf(':'))
}

/** Reads a stored one back; `undefined` for anything else. */
export function parseFileIdentity(text: string): FileIdentity | undefined {
  return /^\d{1,20}:\d{1,20}:-?\d{1,20}:-?\d{1,20}$/.test(text) ? (text as FileIdentity) : undefined
}
