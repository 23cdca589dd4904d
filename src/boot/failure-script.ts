import { macWithHyphens } from '../core/mac.ts'
import type { NamingLoader, ScriptName } from './script-name.ts'

export interface FailedQuestion {
  readonly loader: NamingLoader
  readonly name: ScriptName
  readonly baseUrl: string
  readonly fetch: 'http' | 'tftp'
}

/**
 * A configuration that only says that none could be made, waits and asks again. Made without templates, which may be
 * what failed; the code is one of ours, so nothing in it needs quoting.
 */
export function failureScript(question: FailedQuestion, code: string): string {
  const what = `Pilotlight could not make a boot script for this machine (${code}), see its log`
  const lines = question.loader === 'grub' ? grubLines(what, question) : pxelinuxLines(what, question)
  return `${lines.join('\n')}\n`
}

function grubLines(what: string, { baseUrl }: FailedQuestion): readonly string[] {
  const server = /^http:\/\/([^/]+)$/.exec(baseUrl)?.[1]
  const again =
    server === undefined
      ? []
      : ['if [ "$pilotlight_asks" != yes ]; then', `  configfile (http,${server})/grub/grub.cfg`, 'fi']
  return [
    `# ${what}`,
    'set answered=yes',
    `echo '${what}'`,
    "echo 'Asking again in 30 seconds'",
    'sleep 30',
    ...again,
  ]
}

function pxelinuxLines(what: string, { name, baseUrl, fetch }: FailedQuestion): readonly string[] {
  const file = name.by === 'mac' ? `01-${macWithHyphens(name.mac)}` : 'default'
  return [
    `# ${what}`,
    `SAY ${what}`,
    'SAY Asking again in 30 seconds',
    'DEFAULT pilotlight',
    'PROMPT 1',
    'TIMEOUT 300',
    'TOTALTIMEOUT 600',
    'LABEL pilotlight',
    `CONFIG ${fetch === 'tftp' ? '' : baseUrl}/pxelinux.cfg/${file}`,
  ]
}
