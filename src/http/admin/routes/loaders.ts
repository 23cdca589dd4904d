import Type from 'typebox'
import type { AdminApp, RouteOptions } from '../create-admin-app.ts'

const Query = Type.Object({}, { additionalProperties: false })

/** `GET /api/v1/loaders`: iPXE, GRUB and shim as they are served, what is missing, and the Secure Boot sets. */
export async function loaderRoutes(app: AdminApp, { operations }: RouteOptions): Promise<void> {
  app.get('/loaders', { schema: { querystring: Query } }, async () => operations.loaders())
}
