import type { StreamConfig } from '../../config/config.ts'
import type { Catalog } from '../../core/catalog.ts'
import type { LoaderCatalogue } from '../../core/loader.ts'
import { type Finding, findingsOf } from '../../doctor/finding.ts'
import { summarizeLoaders } from '../summarize-loaders.ts'

/** Whether each loader set starts the kernels of the streams that name it, under Secure Boot. */
export interface KernelCheck {
  problems(
    loaders: LoaderCatalogue,
    streams: ReadonlyMap<string, Pick<StreamConfig, 'loaderSet'>>,
    catalog: Catalog,
  ): Promise<readonly Finding[]>
}

const { problem } = findingsOf('loaders')

/** A kernel has 15 MB, so the answer stands until a loader, a current bootimage or the configuration changes. */
export function createKernelCheck(): KernelCheck {
  let looked: { readonly key: string; readonly findings: readonly Finding[] } | undefined

  return {
    async problems(loaders, streams, catalog) {
      const key = keyOf(loaders, streams, catalog)
      if (looked?.key === key) return looked.findings
      const { sets } = await summarizeLoaders({ loaders, streams, catalog })
      const findings = sets.flatMap(({ name, streams: ofSet }) =>
        ofSet.flatMap(({ stream, arch, release, problem: text }) =>
          text === undefined
            ? []
            : [
                problem(
                  `stream ${stream}: with loader set ${name} no ${arch} machine boots under Secure Boot: the kernel of ${release} ${text}`,
                  `name the loader set of that signer in streams.${stream}.loaderSet, or take it out`,
                ),
              ],
        ),
      )
      looked = { key, findings }
      return findings
    },
  }
}

function keyOf(
  { sets }: LoaderCatalogue,
  streams: ReadonlyMap<string, Pick<StreamConfig, 'loaderSet'>>,
  catalog: Catalog,
): string {
  const files = [...sets.values()].map(({ name, files: all }) => [
    name,
    ...[...all.values()].map(({ sha256 }) => sha256),
  ])
  const kernels = [...streams].flatMap(([name, { loaderSet }]) =>
    loaderSet === undefined
      ? []
      : [
          name,
          loaderSet,
          ...[...(catalog.streams.get(name)?.byArch.values() ?? [])].map(
            ({ current }) => current?.kernel.sha256 ?? '',
          ),
        ],
  )
  return JSON.stringify([files, kernels])
}
