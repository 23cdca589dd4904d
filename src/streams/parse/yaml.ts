import { Lexer, parseDocument } from 'yaml'
import { ServiceError } from '../../core/errors.ts'
import { visibleText } from '../../core/visible-text.ts'

/** Kubernetes itself refuses ConfigMaps above 1 MiB. */
const maxCharacters = 1024 * 1024
/** A manifest has some hundred pieces, however long the texts in it are; a hostile one can keep the parser busy. */
const maxPieces = 10_000

/**
 * YAML as manifests use it: one document, no aliases (they can blow up a small file without end), no key twice.
 *
 * @throws ServiceError METADATA_INVALID
 */
export function parseYaml(text: string): unknown {
  if (text.length > maxCharacters) throw unreadable(`YAML of more than ${maxCharacters} characters`)
  refuseTooManyPieces(text)
  try {
    const document = parseDocument(text, { uniqueKeys: true, prettyErrors: true })
    const [error] = document.errors
    if (error !== undefined) throw error
    return document.toJS({ maxAliasCount: 0 })
  } catch (cause) {
    throw unreadable(`not valid YAML (${visibleText((cause as Error).message, 160)})`, cause)
  }
}

function refuseTooManyPieces(text: string): void {
  let pieces = 0
  for (const _ of new Lexer().lex(text))
    if (++pieces > maxPieces) throw unreadable(`YAML of more than ${maxPieces} pieces`)
}

function unreadable(what: string, cause?: unknown): ServiceError {
  return new ServiceError(
    'METADATA_INVALID',
    `the document is ${what}`,
    { field: '', found: what, expected: 'YAML' },
    cause,
  )
}
