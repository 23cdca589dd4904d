import Type from 'typebox'
import type { AdminApp, RouteOptions } from '../create-admin-app.ts'

const text = Type.String({ minLength: 1, maxLength: 256 })

/** What names a machine, in a query and in a body alike. */
export const machineProperties = {
  mac: Type.Optional(text),
  uuid: Type.Optional(text),
  serial: Type.Optional(text),
  host: Type.Optional(text),
  arch: Type.Optional(text),
  platform: Type.Optional(Type.Enum(['pcbios', 'efi'])),
}

const Query = Type.Object(machineProperties, { additionalProperties: false })

/** `GET /api/v1/explain?mac=…`: what that machine would boot and why, without a trace (G10). */
export async function explainRoutes(app: AdminApp, { operations }: RouteOptions): Promise<void> {
  app.get('/explain', { schema: { querystring: Query } }, async ({ query }) => operations.explain(query))
}
