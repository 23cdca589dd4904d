import { suggestion } from '../config/suggest.ts'
import { type Arch, architectures, parseArch } from '../core/arch.ts'
import { ServiceError } from '../core/errors.ts'

/** The architecture of an option. @throws ServiceError USAGE */
export function readArch(text: string): Arch {
  const arch = parseArch(text)
  if (arch !== undefined) return arch
  throw new ServiceError('USAGE', `--arch ${text}: the architecture is not known`, {
    field: 'arch',
    hint: suggestion(text, architectures) ?? `one of ${architectures.join(', ')}`,
  })
}
