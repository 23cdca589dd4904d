import type { ServedLoader } from '../core/loader.ts'
import { issuerName, subjectName } from './certificates.ts'
import type { LoaderFile } from './read-loader-file.ts'

/** A file that was read, as it is served under a name. */
export function servedLoader(name: string, file: LoaderFile): ServedLoader {
  const { path, sizeBytes, modifiedAt, sha256, inspection } = file
  const { kind, platform, version, features, signers } = inspection
  const [signer] = signers
  return {
    name,
    path,
    sizeBytes,
    modifiedAt,
    sha256,
    kind,
    ...(platform === undefined ? {} : { platform }),
    ...(version === undefined ? {} : { version }),
    ...(features === undefined ? {} : { features }),
    ...(signer === undefined ? {} : { signer: { name: subjectName(signer), issuer: issuerName(signer) } }),
  }
}
