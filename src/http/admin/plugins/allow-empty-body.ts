import type { AdminApp } from '../create-admin-app.ts'

/**
 * Many clients name JSON in the headers of every request. Where nothing is asked for, nothing is a good body; where
 * something is, it is refused as before.
 */
export function allowEmptyBody(app: AdminApp): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    const wantsNothing = request.routeOptions.schema?.body === undefined
    if (body.length === 0 && wantsNothing) done(null, undefined)
    else parse(request, String(body), done)
  })
}
