import { layoutOf } from '../artifacts/layout.ts'
import { pathText } from '../config/config-path.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { type ConfigProblem, problemAt } from '../config/problem.ts'
import { parseSha256 } from '../core/digest.ts'
import type { AdminOperations } from '../http/admin/operations.ts'
import { kernelProblem } from '../loaders/check-kernel.ts'
import { readLoaderSet } from '../loaders/read-loader-set.ts'

/**
 * Streams whose loader set does not start the kernel that they hand out now, under Secure Boot: a mistake in the
 * configuration that its text alone does not show. Each at its `loaderSet`, with the reason.
 */
export async function checkKernels({
  loaded,
  operations,
}: {
  readonly loaded: LoadedConfig
  readonly operations: Pick<AdminOperations, 'bootimages'>
}): Promise<readonly ConfigProblem[]> {
  const { config, origins } = loaded
  const layout = layoutOf(config.dataDir)
  const problems: ConfigProblem[] = []
  for (const { name, loaderSet } of config.streams.values()) {
    const directory = loaderSet === undefined ? undefined : config.boot.loaders.sets.get(loaderSet)
    if (loaderSet === undefined || directory === undefined) continue
    const set = readLoaderSet(loaderSet, directory)
    for (const { arch, release, roles, artifacts } of await operations.bootimages({ stream: name })) {
      const sha256 = parseSha256(artifacts.find(({ role }) => role === 'kernel')?.sha256 ?? '')
      if (!roles.includes('current') || sha256 === undefined || !set.architectures.includes(arch)) continue
      const problem = await kernelProblem(set, arch, layout.blob(sha256))
      if (problem === undefined) continue
      const path = ['streams', name, 'loaderSet']
      const origin = origins.get(pathText(path))
      problems.push(
        problemAt(
          origin?.kind === 'file' ? origin : { file: 'default' },
          path,
          `with loader set ${loaderSet} no ${arch} machine boots under Secure Boot: the kernel of ${release} ${problem}`,
          'name the loader set of that signer, or take it out',
        ),
      )
    }
  }
  return problems
}
