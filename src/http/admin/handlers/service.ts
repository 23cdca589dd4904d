import { type Arch, architectures, parseArch } from '../../../core/arch.ts'
import { usageError } from '../api-error.ts'
import type { Handlers } from '../endpoint.ts'
import type { AdminOperations } from '../operations.ts'
import type { serviceEndpoints } from '../service-endpoints.ts'

/** Streams, files and decisions: each endpoint and the operation that answers it. */
export function serviceHandlers(operations: AdminOperations): Handlers<typeof serviceEndpoints> {
  return {
    listStreams: async () => ({ streams: await operations.streams() }),
    listBootimages: async ({ query: { stream, arch } }) => ({
      bootimages: await operations.bootimages({
        ...(stream !== undefined && { stream }),
        ...(arch !== undefined && { arch: readArch(arch) }),
      }),
    }),
    listLoaders: () => operations.loaders(),
    explain: ({ query }) => operations.explain(query),
    render: async ({ body }) => ({ script: await operations.render(body) }),
    sync: ({ body }) => operations.sync(body),
    verify: () => operations.verify(),
    gc: ({ body }) => operations.gc(body),
    importDocument: ({ body }) => operations.importDocument(body),
    reload: () => operations.reload(),
    listWebhooks: async () => ({ webhooks: await operations.webhooks() }),
    testWebhook: ({ params }) => operations.testWebhook(params.name),
  }
}

function readArch(text: string): Arch {
  const arch = parseArch(text)
  if (arch !== undefined) return arch
  throw usageError('the architecture is not known', {
    field: 'arch',
    hint: `allowed: ${architectures.join(', ')}`,
  })
}
