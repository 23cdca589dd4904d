import { createInterface } from 'node:readline'
import type { ReadStream } from 'node:tty'
import { ServiceError } from '../../core/errors.ts'
import type { CliInput } from '../context.ts'

/** The input of this process. Questions go to stderr, because stdout holds the result alone. */
export function createStandardInput(
  stdin: NodeJS.ReadableStream & Partial<Pick<ReadStream, 'isTTY'>>,
  stderr: NodeJS.WritableStream,
): CliInput {
  return {
    isTTY: stdin.isTTY === true,

    ask(question) {
      return new Promise((resolve) => {
        const lines = createInterface({ input: stdin, output: stderr })
        // A closed input and Ctrl-C are answers, too: none.
        lines.once('close', () => resolve(undefined))
        lines.once('SIGINT', () => {
          stderr.write('\n')
          lines.close()
        })
        lines.question(question, (answer) => {
          resolve(answer)
          lines.close()
        })
      })
    },

    async readAll(maxBytes) {
      const pieces: Buffer[] = []
      let size = 0
      for await (const piece of stdin) {
        const bytes = Buffer.from(piece)
        size += bytes.length
        if (size > maxBytes) {
          throw new ServiceError('USAGE', `standard input has more than ${maxBytes} bytes`)
        }
        pieces.push(bytes)
      }
      try {
        return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces))
      } catch (cause) {
        throw new ServiceError('USAGE', 'standard input is not UTF-8 text', {}, cause)
      }
    },
  }
}
