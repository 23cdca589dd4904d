import { Ajv, type ValidateFunction } from 'ajv'
import type { AdminApp } from '../create-admin-app.ts'

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
      return validate(data) ? true : { error: validate.errors ?? [] }
    }
  })
}
