import { readFile, stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import type { Command } from 'commander'
import { ServiceError } from '../../core/errors.ts'
import type { ImportReport } from '../../http/admin/operations.ts'
import { examples, type RunCommand } from '../command.ts'
import { exitCode, isPermissionProblem } from '../exit-codes.ts'
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
      `\nWhat the stream hands out does not change.\n${examples(
        'pilotlight import rhcos-4.16.json --stream rhcos-4.16',
      )}`,
    )
    .action((file: string, { stream }: { stream: string }) =>
      run(async (session) => {
        const text = await readDocument(resolve(session.context.cwd, file))
        return session.withOperations(async (operations) => {
          const report = await operations.importDocument({ stream, name: basename(file), text })
          session.print({ json: report, text: (style) => reportText(report, style) })
          return exitCode.ok
        })
      }),
    )
}

async function readDocument(path: string): Promise<string> {
  try {
    const { size } = await stat(path)
    if (size > maxDocumentBytes) {
      throw new ServiceError('METADATA_INVALID', `${path} is too long to be metadata: ${size} bytes`)
    }
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof ServiceError) throw error
    const code = isPermissionProblem(error) ? 'PERMISSION_DENIED' : 'USAGE'
    throw new ServiceError(
      code,
      `${path} cannot be read`,
      { hint: 'check the name and its permissions' },
      error,
    )
  }
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
