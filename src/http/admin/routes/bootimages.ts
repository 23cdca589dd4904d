import Type from 'typebox'
import { type Arch, architectures, parseArch } from '../../../core/arch.ts'
import { usageError } from '../api-error.ts'
import type { AdminApp, RouteOptions } from '../create-admin-app.ts'

const Query = Type.Object(
  {
    stream: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    arch: Type.Optional(Type.String({ minLength: 1, maxLength: 32 })),
  },
  { additionalProperties: false },
)

function readArch(text: string): Arch {
  const arch = parseArch(text)
  if (arch !== undefined) return arch
  throw usageError('the architecture is not known', {
    field: 'arch',
    hint: `allowed: ${architectures.join(', ')}`,
  })
}

/** `GET /api/v1/bootimages?stream=&arch=`: what is known, with state and progress (field case 147). */
export async function bootimageRoutes(app: AdminApp, { operations }: RouteOptions): Promise<void> {
  app.get('/bootimages', { schema: { querystring: Query } }, async ({ query: { stream, arch } }) => ({
    bootimages: await operations.bootimages({
      ...(stream !== undefined && { stream }),
      ...(arch !== undefined && { arch: readArch(arch) }),
    }),
  }))
}
