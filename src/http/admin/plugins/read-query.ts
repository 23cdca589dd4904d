import type { AdminApp } from '../create-admin-app.ts'

interface QueryProperty {
  readonly type?: string
}

/**
 * A query is text; where a route's schema wants a number or a truth, the text that spells one exactly is taken for it,
 * and what is there once is a list of one where it wants a list. Everything else stays as it is, for the schema to refuse.
 */
export function readQueries(app: AdminApp): void {
  app.addHook('preValidation', async (request) => {
    const schema = request.routeOptions.schema?.querystring as
      | { properties?: Readonly<Record<string, QueryProperty>> }
      | undefined
    const query = request.query as Record<string, unknown>
    for (const [name, { type }] of Object.entries(schema?.properties ?? {})) {
      const value = query[name]
      if (typeof value !== 'string') continue
      if (type === 'integer' && /^(?:0|[1-9]\d{0,14})$/.test(value)) query[name] = Number(value)
      else if (type === 'boolean' && (value === 'true' || value === 'false')) query[name] = value === 'true'
      else if (type === 'array') query[name] = [value]
    }
  })
}
