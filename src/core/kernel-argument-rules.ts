/**
 * Arguments that name the files of a boot or start an installation. Another value would mix releases (G2) or install
 * where nobody armed an install, so they are ours alone and an operator's are refused, in every mode.
 */
const reservedKeys: ReadonlySet<string> = new Set([
  'initrd',
  'coreos.live.rootfs_url',
  'coreos.inst',
  'coreos.inst.install_dev',
  'coreos.inst.image_url',
  'coreos.inst.stream',
])

/** What stands before the first `=`; the whole word for a flag. */
export function argumentKey(argument: string): string {
  const equals = argument.indexOf('=')
  return equals < 0 ? argument : argument.slice(0, equals)
}

/** Why an operator may not give this argument; `undefined` when they may. Put into a sentence after the argument. */
export function operatorArgumentProblem(argument: string): string | undefined {
  if (reservedKeys.has(argumentKey(argument))) return 'the service sets it itself'
  return ipxeArgumentProblem(argument)
}

const printableAscii = /^[\x21-\x7e]+$/

/**
 * Why iPXE could not hand this argument to a kernel as it is; `undefined` when it can. iPXE splits on white space and
 * has no quoting; the words `||`, `&&` and `;` end a command, a word starting with `#` begins a comment, a line ending
 * in a backslash joins the next, `${` expands (field case 118). Bytes outside ASCII are refused because consoles and
 * firmware disagree about them.
 */
export function ipxeArgumentProblem(argument: string): string | undefined {
  const problem = wordProblem(argument)
  if (problem !== undefined) return problem
  if (argument === '||' || argument === '&&' || argument === ';') return 'iPXE would end the command there'
  if (argument.startsWith('#')) return 'iPXE would take it for a comment'
  if (argument.endsWith('\\')) return 'iPXE would join the next line'
  if (argument.includes('${')) return 'iPXE would expand it'
  return undefined
}

function wordProblem(argument: string): string | undefined {
  if (argument === '') return 'it is empty'
  return printableAscii.test(argument)
    ? undefined
    : 'it has a blank, a control character or a character outside ASCII'
}

/** The same for GRUB, which can quote whatever is one word (field case 119). */
export function grubArgumentProblem(argument: string): string | undefined {
  return wordProblem(argument)
}

/**
 * The same for PXELINUX and for those who read its files. It takes the rest of a line as it is. U-Boot expands `${x}`
 * and `$(x)`; petitboot and U-Boot look for the initrd behind the first `initrd=` on the line, whatever is before it.
 */
export function pxelinuxArgumentProblem(argument: string): string | undefined {
  const problem = wordProblem(argument)
  if (problem !== undefined) return problem
  if (/\$[{(]/.test(argument)) return 'U-Boot would expand it'
  return /initrd=/i.test(argument) ? 'petitboot would take it for the initrd' : undefined
}

const liveIgnitionUrl = /^(?:https?|tftp|s3|gs):\/\/[^/]/
const installIgnitionUrl = /^https?:\/\/[^/]/

/**
 * Why an Ignition URL cannot be used: the live system takes http, https, tftp, s3 and gs, the installer http and
 * https alone ("unknown protocol for URL"; facts/stream-metadata §12.2, §17).
 */
export function ignitionUrlProblem(url: string, mode: 'live' | 'install'): string | undefined {
  const isKnown = (mode === 'live' ? liveIgnitionUrl : installIgnitionUrl).test(url)
  if (isKnown) return ipxeArgumentProblem(url)
  return mode === 'live'
    ? 'an Ignition URL is http, https, tftp, s3 or gs'
    : 'an Ignition URL of an install is http or https'
}
