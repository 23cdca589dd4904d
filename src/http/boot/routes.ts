import { answerArtifact } from './artifact.ts'
import type { BootRequest, BootSources } from './boot-request.ts'
import { answerBootScript } from './boot-script.ts'
import { answerEntryScript } from './entry-script.ts'
import { answerIgnition } from './ignition.ts'
import { answerLoader } from './loader.ts'
import { answerGrubScript, answerPxelinuxScript } from './loader-script.ts'
import type { Reply } from './reply.ts'
import { answerReport } from './report.ts'
import { answerStreamArtifact } from './stream-artifact.ts'
import { answerStreamDocument } from './stream-document.ts'

export interface BootRoute {
  /** `:name` stands for one part of the path, or for what follows the letters before it. */
  readonly pattern: string
  /** Default: GET and HEAD. */
  readonly method?: 'POST'
  readonly answer: (request: BootRequest, sources: BootSources) => Reply | Promise<Reply>
}

/** Everything that a node can fetch or tell, without a login. */
export const bootRoutes: readonly BootRoute[] = [
  { pattern: '/boot.ipxe', answer: answerEntryScript },
  { pattern: '/autoexec.ipxe', answer: answerEntryScript },
  { pattern: '/ipxe', answer: answerBootScript },
  { pattern: '/grub/boot', answer: answerGrubScript },
  { pattern: '/grub/:name', answer: answerGrubScript },
  { pattern: '/grub/:folder/:name', answer: answerGrubScript },
  { pattern: '/grub.cfg:key', answer: answerGrubScript },
  { pattern: '/pxelinux.cfg/:name', answer: answerPxelinuxScript },
  // Loaders look for their configurations beside themselves as well.
  { pattern: '/loaders/grub.cfg:key', answer: answerGrubScript },
  { pattern: '/loaders/:set/grub.cfg:key', answer: answerGrubScript },
  { pattern: '/loaders/pxelinux.cfg/:name', answer: answerPxelinuxScript },
  { pattern: '/loaders/:file', answer: answerLoader },
  { pattern: '/loaders/:set/:file', answer: answerLoader },
  { pattern: '/loaders/:set/:folder/:file', answer: answerLoader },
  // Where shim looks for its second stage when it lost its own folder (field case 26).
  { pattern: '/grubx64.efi', answer: answerLoader },
  { pattern: '/grubaa64.efi', answer: answerLoader },
  { pattern: '/artifacts/:sha256/:name', answer: answerArtifact },
  { pattern: '/ignition/:token', answer: answerIgnition },
  { pattern: '/report/:token', method: 'POST', answer: answerReport },
  { pattern: '/streams/:document', answer: answerStreamDocument },
  { pattern: '/streams/:stream/:arch/:platform/:format/:artifact', answer: answerStreamArtifact },
]

export interface RouteMatch {
  readonly route: BootRoute
  readonly params: Readonly<Record<string, string>>
}

interface PatternPart {
  /** All of a part that has no name, else what it begins with. */
  readonly letters: string
  readonly name?: string
}

const compiled = bootRoutes.map((route) => ({
  route,
  parts: route.pattern.split('/').slice(1).map(patternPart),
}))

function patternPart(text: string): PatternPart {
  const [letters = '', name] = text.split(':')
  return name === undefined ? { letters } : { letters, name }
}

/** The route of a parsed path; letter case counts. */
export function matchRoute(segments: readonly string[]): RouteMatch | undefined {
  for (const { route, parts } of compiled) {
    if (parts.length !== segments.length) continue
    if (!parts.every((part, index) => matches(part, segments[index] ?? ''))) continue
    const params: Record<string, string> = {}
    parts.forEach(({ letters, name }, index) => {
      if (name !== undefined) params[name] = (segments[index] ?? '').slice(letters.length)
    })
    return { route, params }
  }
  return undefined
}

function matches({ letters, name }: PatternPart, segment: string): boolean {
  return name === undefined ? segment === letters : segment.startsWith(letters)
}
