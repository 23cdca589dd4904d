import { type Arch, parseArch } from '../../core/arch.ts'
import type { ArchMetadata, MetadataProblem } from '../metadata.ts'
import { type Field, invalidField, isAbsent, member, memberNames } from './field.ts'
import { readOrNote } from './problems.ts'

export interface ArchitectureEntries {
  readonly architectures: ReadonlyMap<Arch, ArchMetadata>
  readonly problems: readonly MetadataProblem[]
}

/**
 * Reads `architectures.<arch>` with `read`, each on its own. Architectures that we do not know are none of our
 * business; a document with none that we do know is not for us.
 *
 * @throws ServiceError METADATA_INVALID when nothing is there for any known architecture
 */
export function readArchitectures(
  document: Field,
  read: (arch: Arch, entry: Field, problems: MetadataProblem[]) => ArchMetadata,
): ArchitectureEntries {
  const field = member(document, 'architectures')
  const architectures = new Map<Arch, ArchMetadata>()
  const problems: MetadataProblem[] = []
  const seen = new Set<Arch>()
  for (const name of memberNames(field)) {
    const arch = parseArch(name)
    if (arch === undefined) continue
    const entry = member(field, name)
    if (seen.has(arch)) throw invalidField(entry, `one entry for ${arch}`, 'a second one in another spelling')
    seen.add(arch)
    const metadata = readOrNote(arch, problems, () => read(arch, entry, problems))
    if (metadata !== undefined) architectures.set(arch, metadata)
  }
  if (seen.size === 0)
    throw invalidField(field, 'x86_64, aarch64, ppc64le or s390x', 'no architecture that is known here')
  return { architectures, problems }
}

/** A platform that has to be there for network boot. */
export function metalOf(platforms: Field): Field {
  const metal = member(platforms, 'metal')
  if (isAbsent(metal)) throw invalidField(metal, 'platform metal')
  return metal
}
