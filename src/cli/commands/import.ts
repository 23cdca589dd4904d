import { basename, resolve } from 'node:path'
import type { Command } from 'commander'
import { readTextFile } from '../../config/read-text-file.ts'
import { ServiceError } from '../../core/errors.ts'
import type { ImportReport } from '../../http/admin/operations.ts'
import { examples, type RunCommand } from '../command.ts'
import { exitCode } from '../exit-codes.ts'
import { renderFields, renderTable, type TableStyle } from '../output/table.ts'

/** Real documents have below 2 MiB. */
const maxDocumentBytes = 16 * 1024 * 1024

export function addImport(program: Command, run: RunCommand): void {
  program
    .command('import')
    .description('take a metadata document into the archive, so that its releases can be pinned')
    .argument('<file>', 'stream metadata, release metadata, meta.json, rhcos.json or a ConfigMap')
    .requiredOption('--stream <name>', 'the stream that its releases belong to')
    .addHelpText(
      'after',
      `\nWhat the stream hands out does not change.\nExits with 1 when it is no usable metadata, 2 for a file or a stream that is not there.\n${examples(
        'pilotlight import rhcos-4.16.json --stream rhcos-4.16',
      )}`,
    )
    .action((file: string, { stream }: { stream: string }) =>
      run(async (session) => {
        const text = readDocument(resolve(session.context.cwd, file))
        return session.withOperations(
          async (operations) => {
            const report = await operations.importDocument({ stream, name: basename(file), text })
            session.print({ json: report, text: (style) => reportText(report, style) })
            return exitCode.ok
          },
          { mayCreate: true },
        )
      }),
    )
}

/** Documents are text; what is none (a pipe, a device, a picture) is refused before it is read. */
function readDocument(path: string): string {
  const found = readTextFile(path, maxDocumentBytes)
  if ('text' in found) return found.text
  const code = found.isDenied === true ? 'PERMISSION_DENIED' : 'USAGE'
  throw new ServiceError(code, `${path} cannot be read: it ${found.problem}`, {
    field: 'file',
    hint: 'a document is a regular file of UTF-8 text; save what comes from a pipe to a file first',
  })
}

function reportText({ format, stream, digest, releases, problems }: ImportReport, style: TableStyle): string {
  const head = renderFields([
    ['format', format],
    ['stream', stream],
    ['digest', digest],
  ])
  const table = renderTable(
    [{ title: 'ARCH' }, { title: 'RELEASE' }, { title: 'KIND' }],
    releases.map(({ arch, release, kind }) => [arch, release, kind]),
    style,
  )
  const notes =
    problems.length === 0
      ? ''
      : `\n${renderTable(
          [{ title: 'NOT USABLE' }],
          problems.map((text) => [text]),
          style,
        )}`
  return `${head}\n${table}${notes}`
}
