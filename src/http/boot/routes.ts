import { answerArtifact } from './artifact.ts'
import type { BootRequest, BootSources } from './boot-request.ts'
import { answerBootScript } from './boot-script.ts'
import { answerEntryScript } from './entry-script.ts'
import type { Reply } from './reply.ts'
import { answerStreamArtifact } from './stream-artifact.ts'
import { answerStreamDocument } from './stream-document.ts'

export interface BootRoute {
  /** `:name` stands for one part of the path. */
  readonly pattern: string
  readonly answer: (request: BootRequest, sources: BootSources) => Reply | Promise<Reply>
}

/** Everything that a node can fetch, each by GET and HEAD, without a login. */
export const bootRoutes: readonly BootRoute[] = [
  { pattern: '/boot.ipxe', answer: answerEntryScript },
  { pattern: '/autoexec.ipxe', answer: answerEntryScript },
  { pattern: '/ipxe', answer: answerBootScript },
  { pattern: '/artifacts/:sha256/:name', answer: answerArtifact },
  { pattern: '/streams/:document', answer: answerStreamDocument },
  { pattern: '/streams/:stream/:arch/:platform/:format/:artifact', answer: answerStreamArtifact },
]

export interface RouteMatch {
  readonly route: BootRoute
  readonly params: Readonly<Record<string, string>>
}

const compiled = bootRoutes.map((route) => ({ route, parts: route.pattern.split('/').slice(1) }))

/** The route of a parsed path; letter case counts. */
export function matchRoute(segments: readonly string[]): RouteMatch | undefined {
  for (const { route, parts } of compiled) {
    if (parts.length !== segments.length) continue
    if (!parts.every((part, index) => part.startsWith(':') || part === segments[index])) continue
    const params: Record<string, string> = {}
    parts.forEach((part, index) => {
      if (part.startsWith(':')) params[part.slice(1)] = segments[index] ?? ''
    })
    return { route, params }
  }
  return undefined
}
