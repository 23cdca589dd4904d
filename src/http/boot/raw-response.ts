import { STATUS_CODES } from 'node:http'
import { plainText } from './content-type.ts'

/**
 * A whole response as text, for requests that never became one: what the parser refused still gets an answer in the
 * letter case that loaders read, and then the end of its connection.
 */
export function rawResponse(status: number, text: string, allow?: string): string {
  const body = `${text}\n`
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}`,
    `Content-Type: ${plainText}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(allow === undefined ? [] : [`Allow: ${allow}`]),
    'Cache-Control: no-store',
    'Connection: close',
    '',
    body,
  ].join('\r\n')
}

/** What to say to a request that could not be read, by the code of Node's parser. */
export function answerToUnreadable(code: string | undefined): {
  readonly status: number
  readonly text: string
} {
  if (code === 'HPE_HEADER_OVERFLOW') return { status: 431, text: 'The header of this request is too large.' }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { status: 408, text: 'The request did not arrive in time.' }
  return { status: 400, text: 'This is not an HTTP request that can be read.' }
}
