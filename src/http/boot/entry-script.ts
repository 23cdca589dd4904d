import type { BootRequest, BootSources } from './boot-request.ts'
import { renderScript } from './render-script.ts'
import type { ContentReply, Reply } from './reply.ts'

/** `/boot.ipxe` and `/autoexec.ipxe`: the same text for every machine. */
export function answerEntryScript({ baseUrl, path }: BootRequest, { renderer, log }: BootSources): Reply {
  return asEntry(
    renderScript(() => renderer.ipxeEntry({ baseUrl }), baseUrl, log),
    path,
  )
}

/**
 * `/ipxe` for nobody: the same script, which finds out what is missing and asks. So an iPXE that was sent here without
 * a query boots, and whoever looks with curl reads what to add.
 */
export function answerNobody({ baseUrl, path }: BootRequest, { renderer, log }: BootSources): Reply {
  const note = [
    '# /ipxe needs to know the machine, and nothing was said of it. This script finds it out and asks again.',
    `# By hand: ${baseUrl}/ipxe?mac=52:54:00:ab:cd:ef&arch=x86_64&platform=efi`,
    '# The same without booting it: pilotlight explain --mac 52:54:00:ab:cd:ef --arch x86_64',
  ].join('\n')
  const script = () => renderer.ipxeEntry({ baseUrl }).replace('\n', () => `\n${note}\n`)
  return asEntry(renderScript(script, baseUrl, log), path)
}

function asEntry(reply: ContentReply, path: readonly string[]): Reply {
  return reply.status === 200 ? { ...reply, entryName: path.at(-1) ?? '' } : reply
}
