import { isServiceError } from '../../core/errors.ts'
import type { Log } from '../../core/log.ts'
import { type ContentReply, scriptReply } from './reply.ts'

/**
 * A script that is complete, or an answer that says so: never half of one. The 500 carries a script too, for loaders
 * that run what they get; the others repeat the request, as the entry script tells them.
 */
export function renderScript(render: () => string, baseUrl: string, log: Log): ContentReply {
  try {
    return scriptReply(render())
  } catch (error) {
    const code = isServiceError(error) ? error.code : 'UNEXPECTED'
    log.error({ code, err: error }, 'boot script could not be made')
    return scriptReply(failureScript(code, baseUrl), 500)
  }
}

function failureScript(code: string, baseUrl: string): string {
  return [
    '#!ipxe',
    `# Pilotlight could not make the boot script of this machine: ${code}. Its log says more.`,
    ':retry',
    `echo Pilotlight could not make a boot script for this machine (${code}); see its log`,
    'echo Asking again in 30 seconds',
    'sleep 30',
    `chain ${baseUrl}/boot.ipxe || goto retry`,
    'goto retry',
    '',
  ].join('\n')
}
