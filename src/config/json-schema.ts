import { allowedText } from './allowed-text.ts'
import { hostsFileSchema } from './machine-schema.ts'
import { configSchema } from './schema.ts'
import type { SchemaNode } from './schema-parts.ts'

/** The two file formats as JSON Schema, for editors. */
export function jsonSchemas(): { readonly config: object; readonly hosts: object } {
  return { config: jsonSchema(configSchema), hosts: jsonSchema(hostsFileSchema) }
}

function jsonSchema(schema: unknown): object {
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', ...standard(schema as SchemaNode) }
}

/** Our own words put into standard ones, as far as there are any; what has a default need not be written. */
function standard(node: SchemaNode): Record<string, unknown> {
  const {
    format,
    section,
    secret,
    allowed,
    exactlyOne,
    atLeastOne,
    propertyNames,
    required,
    description,
    ...rest
  } = node
  const hints = [description, format === undefined ? undefined : `Allowed: ${allowedText(node)}.`]
  const text = hints.filter((hint) => hint !== undefined).join(' ')
  const missing = required?.filter((key) => !isOptional(node.properties?.[key])) ?? []
  return {
    ...rest,
    ...(text === '' ? {} : { description: text }),
    ...(missing.length === 0 ? {} : { required: missing }),
    ...(exactlyOne === undefined ? {} : { oneOf: exactlyOne.map((key) => ({ required: [key] })) }),
    ...(atLeastOne === undefined ? {} : { anyOf: atLeastOne.map((key) => ({ required: [key] })) }),
    ...(node.properties === undefined ? {} : { properties: eachStandard(node.properties) }),
    ...(node.patternProperties === undefined
      ? {}
      : { patternProperties: eachStandard(node.patternProperties) }),
    ...(node.items === undefined ? {} : { items: standard(node.items) }),
    ...(node.anyOf === undefined ? {} : { anyOf: node.anyOf.map(standard) }),
  }
}

function eachStandard(nodes: Readonly<Record<string, SchemaNode>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(nodes).map(([key, node]) => [key, standard(node)]))
}

function isOptional(node: SchemaNode | undefined): boolean {
  return node?.default !== undefined || node?.section === true
}
