import Type from 'typebox'
import type { AdminApp, RouteOptions } from '../create-admin-app.ts'
import { renderDialects, renderTemplates } from '../operations.ts'
import { machineProperties } from './explain.ts'

/** Characters of a metadata document; real ones have below 2 MiB. */
export const maxDocumentLength = 16 * 1024 * 1024

const strict = { additionalProperties: false }
const name = Type.String({ minLength: 1, maxLength: 200 })

const Nothing = Type.Object({}, strict)
const SyncBody = Type.Object({ streams: Type.Optional(Type.Array(name, { maxItems: 1000 })) }, strict)
const GcBody = Type.Object({ dryRun: Type.Boolean() }, strict)
const ImportBody = Type.Object(
  {
    stream: name,
    name: Type.String({ minLength: 1, maxLength: 4096 }),
    text: Type.String({ minLength: 1, maxLength: maxDocumentLength }),
  },
  strict,
)
const RenderBody = Type.Object(
  {
    ...machineProperties,
    dialect: Type.Enum([...renderDialects]),
    template: Type.Optional(Type.Enum([...renderTemplates])),
    baseUrl: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  },
  strict,
)

/**
 * The verbs that do something; on the control socket alone, whose file mode says who may.
 * An answer comes when the work is done; meanwhile `GET /api/v1/bootimages` tells how far it is.
 */
export async function controlRoutes(app: AdminApp, { operations }: RouteOptions): Promise<void> {
  app.post('/sync', { schema: { body: SyncBody } }, async ({ body }) => operations.sync(body))
  app.post('/verify', { schema: { body: Nothing } }, async () => operations.verify())
  app.post('/gc', { schema: { body: GcBody } }, async ({ body }) => operations.gc(body))
  app.post('/reload', { schema: { body: Nothing } }, async () => operations.reload())
  app.post('/render', { schema: { body: RenderBody } }, async ({ body }) => ({
    script: await operations.render(body),
  }))
  // JSON spells a character with up to six bytes; twice the text is enough for real documents.
  app.post('/import', { schema: { body: ImportBody }, bodyLimit: 2 * maxDocumentLength }, async ({ body }) =>
    operations.importDocument(body),
  )
}
