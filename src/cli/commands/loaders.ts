import type { Command } from 'commander'
import type { LoaderSummary, LoadersReport } from '../../http/admin/operations.ts'
import { examples, type RunCommand } from '../command.ts'
import { exitCode } from '../exit-codes.ts'
import { formatBytes } from '../output/format.ts'
import { type Column, renderTable, type TableStyle } from '../output/table.ts'

const columns: readonly Column[] = [
  { title: 'NAME' },
  { title: 'FOR' },
  { title: 'KIND' },
  { title: 'VERSION', canShrink: true },
  { title: 'CAN' },
  { title: 'SIZE', align: 'right' },
  { title: 'FILE', canShrink: true },
  { title: 'SIGNER', canShrink: true },
]

export function addLoaders(program: Command, run: RunCommand): void {
  program
    .command('loaders')
    .description('list the loaders that are served, what is missing and what supplies it')
    .addHelpText(
      'after',
      `\nWhat a loader can do is read from its bytes; "?" stands where it is compressed.\nFirmware does not tell that Secure Boot is on: secureBoot of a host, group or profile chooses the shim of its\nstream's loader set.\nExits with 1 when a set cannot do what it is for.\n${examples('pilotlight loaders', 'pilotlight loaders --output json')}`,
    )
    .action(() =>
      run((session) =>
        session.withOperations(async (operations) => {
          const report = await operations.loaders()
          session.print({ json: report, text: (style) => reportText(report, style) })
          const isBad = report.sets.some(
            ({ problems, streams }) => problems.length > 0 || streams.some(hasProblem),
          )
          return isBad ? exitCode.failed : exitCode.ok
        }),
      ),
    )
}

function hasProblem({ problem }: LoadersReport['sets'][number]['streams'][number]): boolean {
  return problem !== undefined
}

function reportText({ loaders, refused, missing, sets }: LoadersReport, style: TableStyle): string {
  const sections = [renderTable(columns, loaders.map(rowOf), style)]
  if (sets.length > 0) sections.push(['Secure Boot sets:', ...sets.flatMap(setLines)].join('\n').concat('\n'))
  if (refused.length > 0) {
    const lines = refused.map(({ name, set, file, reason }) => `  ${placed(name, set)}  ${file}: ${reason}`)
    sections.push(['Not served:', ...lines, ''].join('\n'))
  }
  if (missing.length > 0) {
    const width = Math.max(...missing.map(({ name }) => name.length))
    const lines = missing.map(({ name, remedy }) => `  ${name.padEnd(width)}  ${remedy}`)
    sections.push(['Missing:', ...lines, ''].join('\n'))
  }
  return sections.join('\n')
}

function rowOf(loader: LoaderSummary): string[] {
  const { name, set, platform, kind, version, features, sizeBytes, file, signer } = loader
  return [
    placed(name, set),
    platform ?? '-',
    kind === 'unknown' ? '-' : kind,
    version ?? '-',
    featureText(kind, features),
    formatBytes(sizeBytes),
    file,
    signer === undefined ? '-' : signer.name,
  ]
}

function featureText(kind: string, features: readonly string[] | undefined): string {
  if (features === undefined) return kind === 'ipxe' ? '?' : '-'
  return features.length === 0 ? '-' : features.join(' ')
}

function setLines({
  name,
  directory,
  architectures,
  problems,
  streams,
}: LoadersReport['sets'][number]): string[] {
  const good = architectures.length === 0 ? 'boots nothing' : `boots ${architectures.join(', ')}`
  return [
    `  ${name}  ${directory}: ${good}`,
    ...problems.map((problem) => `    ${problem}`),
    ...streams.map(
      ({ stream, arch, release, problem }) =>
        `    ${stream} ${release} for ${arch}: ${problem === undefined ? 'its kernel is trusted' : `its kernel ${problem}`}`,
    ),
  ]
}

function placed(name: string, set: string | undefined): string {
  return set === undefined ? name : `${set}/${name}`
}
