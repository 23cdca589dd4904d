import Type from 'typebox'
import type { AdminApp, RouteOptions } from '../create-admin-app.ts'

const Query = Type.Object({}, { additionalProperties: false })

/** `GET /api/v1/streams`: every configured stream, its freshness and where it stands for each architecture. */
export async function streamRoutes(app: AdminApp, { operations }: RouteOptions): Promise<void> {
  app.get('/streams', { schema: { querystring: Query } }, async () => ({
    streams: await operations.streams(),
  }))
}
