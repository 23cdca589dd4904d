import type { BootRequest, BootSources } from './boot-request.ts'
import { renderScript } from './render-script.ts'
import type { Reply } from './reply.ts'

/** `/boot.ipxe` and `/autoexec.ipxe`: the same text for every machine. */
export function answerEntryScript({ baseUrl }: BootRequest, { renderer, log }: BootSources): Reply {
  return renderScript(() => renderer.ipxeEntry({ baseUrl }), baseUrl, log)
}
