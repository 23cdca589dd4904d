import fc from 'fast-check'

/** One request to the API, right or wrong. */
export interface AdminRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>
}

interface ApiOperation {
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly required?: boolean
    readonly schema: Schema
  }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
  readonly responses?: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>
}

interface Schema {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
}

/** Field cases 117 to 119, and what breaks readers of other kinds. */
export const injections = [
  'a && shell',
  'x || reboot',
  '${cwduri}',
  '%0Ashell',
  'a\nshell',
  'a\r\nX-Injected: 1',
  'a;b',
  '#x',
  'ends with \\',
  "it's",
  '$(id)',
  '`id`',
  '{{ 7 | times: 7 }}',
  '{% include "/etc/passwd" %}',
  '"; DROP TABLE record; --',
  "' OR 1=1 --",
  '../../../../etc/passwd',
  '/etc/passwd',
  'file:///etc/passwd',
  '<script>alert(1)</script>',
  '__proto__',
  'constructor',
  'toString',
  '\u0000',
  '\u202e',
  '\ud800',
  '\u{1f4a9}'.repeat(40),
  'x'.repeat(5000),
  '!!js/function "x"',
  '&a [*a]',
  '- '.repeat(500),
  '['.repeat(400),
] as const

/** Values that mean something here, so that requests get past the first check. */
const meaningful = [
  'rack1-n01',
  'edge',
  'worker',
  'host',
  'group',
  'sample',
  '52:54:00:ab:cd:ef',
  '52-54-00-00-00-01',
  '44.20260707.3.1',
  'current',
  '48h',
  '2026-12-31',
  'site=edge',
  'x86_64',
  '4c4c4544-0042-3510-8056-b4c04f4d3132',
] as const

const text = fc.oneof(
  { weight: 16, arbitrary: fc.constantFrom<string>(...meaningful) },
  { weight: 3, arbitrary: fc.constantFrom<string>(...injections) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 80 }) },
)
const anything = fc.oneof(
  text,
  fc.jsonValue({ maxDepth: 3 }),
  fc.double(),
  fc.constantFrom(null, true, -1, 1e308),
)

/** What a record may say, so that free-form parts are not only noise. */
const spec = fc.dictionary(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.constantFrom(
        'macs',
        'labels',
        'profile',
        'stream',
        'mode',
        'pin',
        'kernelArguments',
        'ignition',
        'install',
        'match',
        'uuid',
        'serial',
        'holdReason',
        'hostName',
        'extraInitrds',
      ),
    },
    { weight: 1, arbitrary: text },
  ),
  fc.oneof(
    anything,
    fc.array(text, { maxLength: 4 }),
    fc.dictionary(text, text, { maxKeys: 3 }),
    fc.constant(['52:54:00:ab:cd:ef']),
  ),
  { maxKeys: 5 },
)

function seldom<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.oneof({ weight: 20, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: value })
}

/** Mostly what the schema asks for. */
function valueFor(schema: Schema): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 30, arbitrary: fitting(schema) }, { weight: 1, arbitrary: anything })
}

function fitting(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  switch (schema.type) {
    case 'string':
      return text
    case 'integer':
    case 'number':
      return fc.integer({ min: (schema.minimum ?? 0) - 1, max: (schema.maximum ?? 1000) + 1 })
    case 'boolean':
      return fc.boolean()
    case 'array':
      return fc.array(valueFor(schema.items ?? {}), { maxLength: 4 })
    case 'object':
      return schema.properties === undefined ? spec : objectOf(schema.properties, schema.required ?? [])
    default:
      return anything
  }
}

function objectOf(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[],
): fc.Arbitrary<unknown> {
  const fields = fc.tuple(
    ...Object.entries(properties).map(([name, schema]) => {
      const isThere = fc.integer({ min: 0, max: required.includes(name) ? 40 : 1 })
      return fc.tuple(fc.constant(name), isThere, valueFor(schema))
    }),
  )
  const extra = seldom(fc.tuple(text, anything))
  return fc.tuple(fields, extra).map(([present, more]) => {
    const entries: [string, unknown][] = present
      .filter(([, isThere]) => isThere > 0)
      .map(([name, , value]) => [name, value])
    if (more !== null) entries.push([more[0], more[1]])
    return Object.fromEntries(entries)
  })
}

const headerText = fc
  .oneof(fc.constantFrom('"1"', '"7"', '*', 'W/"7"', '', '"x"', '7'), fc.string({ maxLength: 20 }))
  // What an HTTP client lets through.
  .map((value) => value.replaceAll(/[^\x20-\x7e]/g, ''))

const headerNames = [
  'if-match',
  'if-none-match',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'pilotlight-user',
  'accept',
  'content-type',
] as const

/** Requests for every operation of the document whose answer has an end. */
export function adminRequests(document: ApiDocument): fc.Arbitrary<AdminRequest> {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { responses }]) => responses?.['200']?.content?.['text/event-stream'] === undefined)
      .map(([method, operation]) => requestOf(path, method.toUpperCase(), operation)),
  )
  return fc.oneof(...operations)
}

function requestOf(path: string, method: string, operation: ApiOperation): fc.Arbitrary<AdminRequest> {
  const parameters = operation.parameters ?? []
  const inPath = fc.array(text, { minLength: 3, maxLength: 3 })
  const query = fc.tuple(
    ...parameters
      .filter((parameter) => parameter.in === 'query')
      .map(({ name, schema }) =>
        fc.option(
          valueFor(schema).map((value) => [name, value] as const),
          { freq: 2 },
        ),
      ),
  )
  const extraQuery = seldom(fc.tuple(text, text))
  const condition = seldom(fc.tuple(fc.constantFrom(...headerNames), headerText))
  const schema = operation.requestBody?.content['application/json']?.schema
  const body =
    schema === undefined
      ? fc.constant(undefined)
      : fc.oneof(
          { weight: 15, arbitrary: valueFor(schema).map((value) => JSON.stringify(value)) },
          { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 200 }) },
          {
            weight: 1,
            arbitrary: fc.constantFrom('', '{', '[]', 'null', '{"__proto__":{}}', '['.repeat(50_000)),
          },
        )
  return fc
    .tuple(inPath, query, extraQuery, condition, body)
    .map(([names, pairs, extra, header, payload]) => {
      const rest = [...names]
      const url = path.replace(/\{\w+\}/g, () => encode(rest.shift() ?? ''))
      const all = [...pairs.filter((pair) => pair !== null), ...(extra === null ? [] : [extra])]
      const search = all.map(([name, value]) => `${encode(name)}=${encode(String(value))}`).join('&')
      return {
        method,
        url: search === '' ? url : `${url}?${search}`,
        headers: {
          ...(payload !== undefined && { 'content-type': 'application/json' }),
          ...(header !== null && { [header[0]]: header[1] }),
        },
        ...(payload !== undefined && { body: payload }),
      }
    })
}

/** Lone surrogates have no encoding. */
function encode(value: string): string {
  return encodeURIComponent(value.replaceAll(/\p{Surrogate}/gu, '')).slice(0, 6000)
}
