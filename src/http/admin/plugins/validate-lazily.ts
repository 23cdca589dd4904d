import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { AdminApp } from '../create-admin-app.ts'
import { type RequestSchema, schemaAt, valueAt } from '../schema-at.ts'

/**
 * Requests are checked by their schemas; nothing is guessed, dropped or filled in: what is not understood is refused
 * (field case 126). A schema is compiled when it is first needed, because most are not in most runs and a start would
 * wait for all. They are our own, so nobody checks the schemas themselves.
 */
export function validateLazily(app: AdminApp): void {
  const ajv = new Ajv({
    removeAdditional: false,
    coerceTypes: false,
    useDefaults: false,
    validateSchema: false,
  })
  app.setValidatorCompiler(({ schema }) => {
    let validate: ValidateFunction | undefined
    return (data: unknown) => {
      validate ??= ajv.compile(schema as object)
      return validate(data) ? true : { error: plainest(validate.errors ?? [], schema as RequestSchema, data) }
    }
  })
}

/** A name that is not known is most often the one that is missing, with a slip of the finger: it is told first. */
function plainest(errors: ErrorObject[], schema: RequestSchema, data: unknown): ErrorObject[] {
  const [first] = errors
  if (first?.keyword !== 'required') return errors
  const { properties, additionalProperties } = schemaAt(schema, first.instancePath) ?? {}
  const value = valueAt(data, first.instancePath)
  if (properties === undefined || additionalProperties !== false || typeof value !== 'object') return errors
  const unknown = Object.keys(value ?? {}).find((name) => !Object.hasOwn(properties, name))
  if (unknown === undefined) return errors
  return [{ ...first, keyword: 'additionalProperties', params: { additionalProperty: unknown } }]
}
