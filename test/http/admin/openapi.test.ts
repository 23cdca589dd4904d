import { Validator } from '@seriousme/openapi-schema-validator'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type AdminAppSetup, createFakeAdminApp } from '../../fakes/admin-app.ts'
import { expectGolden } from '../../fakes/golden.ts'

interface Document {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

interface Operation {
  readonly operationId?: string
  readonly summary?: string
  readonly tags?: readonly string[]
  readonly responses: Readonly<Record<string, object>>
}

const opened: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((app) => app.close()))
})

function createApp(setup: AdminAppSetup = {}) {
  const made = createFakeAdminApp(setup)
  opened.push(made.app)
  return made
}

async function documentOf(setup: AdminAppSetup = {}): Promise<Document> {
  return (
    await createApp(setup).ask('GET', '/api/v1/openapi.json', { headers: { authorization: '' } })
  ).json()
}

const operationsOf = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )

describe('the OpenAPI document', () => {
  let document: Document
  beforeAll(async () => {
    document = await documentOf()
  })

  test.each(['admin listener', 'control socket'])('of the %s is valid OpenAPI 3.1', async (listener) => {
    const made = await documentOf(listener === 'control socket' ? { access: 'control' } : {})
    const validator = new Validator()
    expect(await validator.validate({ ...made })).toEqual({ valid: true })
    expect(validator.version).toBe('3.1')
  })

  test('lists these operations', () => {
    const lines = operationsOf(document).map(({ path, method, operation }) =>
      `${method.toUpperCase()} ${path} ${operation.operationId ?? ''}`.trimEnd(),
    )
    expectGolden('api/operations.txt', `${lines.sort().join('\n')}\n`)
  })

  test('every operation has a name of its own, a line, a tag and an answer; those of the API their errors', () => {
    const operations = operationsOf(document)
    expect(operations.length).toBeGreaterThan(40)
    const incomplete = operations.filter(
      ({ path, operation: { operationId, summary, tags, responses } }) =>
        operationId === undefined ||
        !summary?.endsWith('.') ||
        tags?.length !== 1 ||
        !('200' in responses || '204' in responses) ||
        (path.startsWith('/api/') && !('4XX' in responses && '5XX' in responses)),
    )
    expect(incomplete.map(({ path, method }) => `${method} ${path}`)).toEqual([])
    expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length)
  })

  test('backup, restore and the making of tokens are in that of the control socket alone', async () => {
    const posts = ({ paths }: Document) =>
      Object.keys(paths).filter((path) => paths[path]?.post !== undefined)
    const here = posts(document)
    expect(posts(await documentOf({ access: 'control' })).filter((path) => !here.includes(path))).toEqual([
      '/api/v1/tokens',
      '/api/v1/backup',
      '/api/v1/restore',
    ])
  })

  test('every operation in it is answered by a route', async () => {
    const { app } = createApp()
    await app.ready()
    for (const { path, method } of operationsOf(document)) {
      const url = path.replaceAll(/\{(\w+)\}/g, ':$1')
      expect([url, app.hasRoute({ url, method: method.toUpperCase() as 'GET' })]).toEqual([url, true])
    }
  })
})

describe('the page about the API', () => {
  test('has every operation, no script, no inline style, and a policy that forbids both', async () => {
    const { ask } = createApp()
    const answer = await ask('GET', '/api/v1/docs', { headers: { authorization: '' } })
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(answer.headers['content-security-policy']).toBe(
      "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    expect(answer.body).not.toMatch(/<script|<style|\sstyle=|\son\w+=|javascript:|https?:/i)
    for (const { path, operation } of operationsOf(await documentOf())) {
      expect(answer.body).toContain(path.replaceAll("'", '&#39;'))
      if (operation.summary !== undefined) expect(answer.body).toContain(operation.summary.slice(0, 20))
    }
    const style = await ask('GET', '/api/v1/docs.css', { headers: { authorization: '' } })
    expect(style.headers['content-type']).toBe('text/css; charset=utf-8')
  })

  test('says of each field what it may be and whether it must be there', async () => {
    const { ask } = createApp()
    const { body } = await ask('GET', '/api/v1/docs')
    expect(body).toContain('<code>target.kind</code></th><td>host | group</td><td>required</td>')
    expect(body).toContain(
      '<code>limit</code></th><td>integer</td><td>query, optional</td><td>Default: 100.</td>',
    )
    expect(body).toContain('<code>if-match</code></th><td>string</td><td>header, optional</td>')
  })
})
