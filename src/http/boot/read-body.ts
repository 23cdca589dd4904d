import type { IncomingMessage } from 'node:http'

export type Body =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'too-long' }
  | { readonly kind: 'not-text' }
  /** The client left before it was whole. */
  | { readonly kind: 'gone' }

/** A report has some hundred bytes. */
export const maxBodyBytes = 16 * 1024

/** Reads a body of text, bounded; what is too long is not kept. Silence ends with the connection's own timeout. */
export function readBody(request: IncomingMessage, maxBytes = maxBodyBytes): Promise<Body> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let length = 0
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= maxBytes) chunks.push(chunk)
      else resolve({ kind: 'too-long' })
    })
    request.on('end', () => resolve(textOf(Buffer.concat(chunks))))
    request.on('close', () => resolve({ kind: 'gone' }))
    request.on('error', () => resolve({ kind: 'gone' }))
  })
}

function textOf(bytes: Buffer): Body {
  try {
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    return { kind: 'not-text' }
  }
}
