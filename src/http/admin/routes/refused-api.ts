import { ServiceError } from '../../../core/errors.ts'
import type { AdminApp } from '../create-admin-app.ts'

/** On an address that others can reach, the API is there but closed: health and figures carry no secrets, it may. */
export async function refusedApiRoutes(app: AdminApp): Promise<void> {
  for (const url of ['/api', '/api/*']) {
    app.all(url, async () => {
      throw new ServiceError('FORBIDDEN', 'the API answers only on a loopback address', {
        hint: 'set admin.listen to 127.0.0.1, or use the pilotlight command on this machine',
      })
    })
  }
}
