import type { StreamConfig } from '../config/config.ts'
import type { Catalog } from '../core/catalog.ts'
import type { LoaderCatalogue, LoaderFeatures, LoaderSet, ServedLoader } from '../core/loader.ts'
import type { LoaderSetStream, LoaderSummary, LoadersReport } from '../http/admin/operations.ts'
import { kernelProblem } from '../loaders/check-kernel.ts'

export interface LoadersView {
  readonly loaders: LoaderCatalogue
  readonly streams: ReadonlyMap<string, Pick<StreamConfig, 'loaderSet'>>
  readonly catalog: Catalog
}

/** Every loader that is served, what is not and why, and whether the Secure Boot sets start what their streams boot. */
export async function summarizeLoaders(view: LoadersView): Promise<LoadersReport> {
  const { loaders, refused, missing, sets } = view.loaders
  const ofSets = [...sets.values()]
  return {
    loaders: [
      ...[...loaders.values()].map((loader) => summaryOf(loader)),
      ...ofSets.flatMap(({ name, files }) => [...files.values()].map((loader) => summaryOf(loader, name))),
    ],
    refused: [
      ...refused.map(({ name, path, reason }) => ({ name, file: path, reason })),
      ...ofSets.flatMap((set) =>
        set.refused.map(({ name, path, reason }) => ({ name, set: set.name, file: path, reason })),
      ),
    ],
    missing: [...missing],
    sets: await Promise.all(
      ofSets.map(async (set) => ({
        name: set.name,
        directory: set.directory,
        architectures: [...set.architectures],
        problems: [...set.problems],
        streams: await streamsOf(set, view),
      })),
    ),
  }
}

function summaryOf(loader: ServedLoader, set?: string): LoaderSummary {
  const { name, path, platform, kind, version, features, sizeBytes, sha256, signer } = loader
  return {
    name,
    ...(set === undefined ? {} : { set }),
    file: path,
    ...(platform === undefined ? {} : { platform }),
    kind,
    ...(version === undefined ? {} : { version }),
    ...(features === undefined ? {} : { features: namesOf(features) }),
    sizeBytes,
    sha256,
    ...(signer === undefined ? {} : { signer }),
  }
}

function namesOf(features: LoaderFeatures): readonly string[] {
  return (['http', 'https', 'vlan'] as const).filter((feature) => features[feature])
}

/** Whether the set starts the current kernel of each stream that names it. */
async function streamsOf(
  set: LoaderSet,
  { streams, catalog }: LoadersView,
): Promise<readonly LoaderSetStream[]> {
  const found: LoaderSetStream[] = []
  for (const [stream, { loaderSet }] of streams) {
    if (loaderSet !== set.name) continue
    for (const { arch, current } of catalog.streams.get(stream)?.byArch.values() ?? []) {
      if (current === undefined || !set.architectures.includes(arch)) continue
      const kernel = current.kernelUncompressed ?? current.kernel
      const problem = await kernelProblem(set, arch, kernel.path)
      const { release } = current.bootimage
      found.push({ stream, arch, release, ...(problem === undefined ? {} : { problem }) })
    }
  }
  return found
}
