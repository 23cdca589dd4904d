import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { hostsFileSchema } from '../../src/config/machine-schema.ts'
import { configSchema } from '../../src/config/schema.ts'

test.each([
  ['configuration', configSchema],
  ['hosts file', hostsFileSchema],
])('the schema of the %s is a schema, so that nobody has to ask at every start', (_, schema) => {
  const ajv = new Ajv()
  expect(ajv.validateSchema(schema), ajv.errorsText()).toBe(true)
  expect(ajv.validateSchema({ ...schema, required: 'everything' })).toBe(false)
})
