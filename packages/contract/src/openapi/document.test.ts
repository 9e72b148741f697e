import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, it, test } from 'vitest'
import * as main from '../exports/index.js'
import { deliveryStreamPath } from '../internal-endpoints.js'
import { createOpenApiDocument } from './document.js'
import type { JsonSchema, MediaType } from './parts.js'
import { descriptions } from './schemas.js'

const document = createOpenApiDocument({ version: '1.2.3' })
const text = JSON.stringify(document)

describe('the document', () => {
  it('passes every rule of the strict recommended set but no-server-trailing-slash, and further rules', async () => {
    const config = await createConfig({
      extends: ['recommended-strict'],
      rules: {
        // The server is './', the folder of the document: a relative reference to a folder ends in a slash.
        'no-server-trailing-slash': 'off',
        'boolean-parameter-prefixes': 'error',
        'component-name-unique': 'error',
        'no-http-verbs-in-paths': 'error',
        'operation-description': 'error',
        'operation-singular-tag': 'error',
        'operation-tag-defined': 'error',
        'parameter-description': 'error',
      },
    })
    const problems = await lintFromString({ source: text, absoluteRef: 'openapi.json', config })
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([])
  })

  it('is plain JSON: serializing loses no value', () => {
    expect(JSON.parse(text)).toEqual(document)
    expect(text).not.toContain('undefined')
  })

  it('names the given version and server; the default server is the folder of the document', () => {
    expect(document.info.version).toBe('1.2.3')
    expect(document.servers.map(({ url }) => url)).toEqual(['./'])
    const { servers } = createOpenApiDocument({ version: '1', serverUrl: 'https://payments.example.com' })
    expect(servers.map(({ url }) => url)).toEqual(['https://payments.example.com'])
  })

  it.each([{ version: '' }, { version: '1', serverUrl: '' }])('rejects %j', (options) => {
    expect(() => createOpenApiDocument(options)).toThrow(TypeError)
  })

  it('names no host', () => expect(text).not.toMatch(/https?:/))

  it('is not in the main entry, which browsers load', () => {
    expect(Object.keys(main)).not.toContain('createOpenApiDocument')
  })
})

test('every path of the contract is in the document, with its parameters', () => {
  const templated = [...Object.values(main.paths), deliveryStreamPath].map((path) => path.replaceAll(/:(\w+)/g, '{$1}'))
  expect(Object.keys(document.paths).sort()).toEqual([...templated, '/health', '/health/live'].sort())
})

describe('the schemas', () => {
  const schemas = Object.entries(document.components.schemas)

  it.each(schemas)('%s and all of its fields are described', (_, schema) => {
    const described = getFields(schema).map(([path, field]) => [path, typeof field['description'] === 'string'])
    expect(described.filter(([, has]) => !has)).toEqual([])
  })

  it.each(schemas)('%s has the fields that its descriptions name', (name, schema) => {
    const paths = getFields(schema).map(([path]) => path)
    const texts = descriptions[name as keyof typeof descriptions]
    expect(Object.keys(texts).filter((path) => !paths.includes(path))).toEqual([])
  })

  it('refers to payments by name, so that generated code has one payment type', () => {
    expect(document.components.schemas['Page']).toMatchObject({
      properties: { payments: { items: { $ref: '#/components/schemas/Payment' } } },
    })
  })

  it('leaves answers open to new fields and closes the update', () => {
    const closed = schemas.filter(([, schema]) => JSON.stringify(schema).includes('"additionalProperties":false'))
    expect(closed.map(([name]) => name)).toEqual(['ProcessorUpdate', 'ProcessorUpdates'])
  })

  it('accepts instants only in UTC', () => {
    const validate = compile('Payment')
    const payment = examples.find(({ name, key }) => name === 'Payment' && key === 'payment')?.value
    expect(validate(payment)).toBe(true)
    expect(validate({ ...(payment as object), blockTimestamp: '2026-01-02T03:04:05+01:00' })).toBe(false)
  })
})

/** Every example in the document, with the name of its schema. */
const examples = [...mediaTypes(document)].flatMap(({ schema, examples: named = {} }) => {
  const names = [schema, ...((schema['anyOf'] ?? []) as JsonSchema[])].flatMap(({ $ref }) =>
    $ref === undefined ? [] : [String($ref).replace('#/components/schemas/', '')],
  )
  return Object.entries(named).map(([key, { value }]) => {
    const fitting = names.find((each) => compile(each)(value))
    return { name: fitting ?? names[0] ?? 'no schema', key, value }
  })
})

test.each([...new Set(examples.map(({ name }) => name))])('every example of a %s is valid', (schema) => {
  const validate = compile(schema)
  for (const { name, key, value } of examples)
    if (name === schema) expect([key, validate(value), validate.errors]).toEqual([key, true, null])
})

test('every schema of a body has an example', () => {
  const names = examples.map(({ name }) => name)
  expect(Object.keys(document.components.schemas).filter((name) => !names.includes(name))).toEqual([])
})

test('a 400 of a legacy endpoint has details, except for malformed HTTP', () => {
  const schemas = ['/api/v1/tx/{chainId}/{txHash}', '/api/v1/verify'].flatMap((path) =>
    Object.values(document.paths[path] ?? {}).flatMap(({ responses }) => [...mediaTypes(responses['400'])]),
  )
  const anyOf = ['LegacyErrorBody', 'ErrorBody'].map((name) => ({ $ref: `#/components/schemas/${name}` }))
  expect(schemas.map(({ schema }) => schema)).toEqual([{ anyOf }, { anyOf }])
})

test('every answer of the service forbids caching', () => {
  const own = Object.values(document.paths).flatMap((item) =>
    Object.values(item).flatMap(({ responses }) => Object.values(responses)),
  )
  const answers = [...own, ...Object.values(document.components.responses)].filter((each) => !('$ref' in each))
  expect(answers.length).toBeGreaterThan(20)
  for (const each of answers)
    expect(each).toMatchObject({ headers: { 'Cache-Control': { $ref: '#/components/headers/CacheControl' } } })
})

/** A validator that rejects answer fields outside the document. */
function compile(name: string) {
  const ajv = addFormats.default(new Ajv2020({ strict: false }))
  const closed = text.replaceAll('"type":"object",', '"type":"object","additionalProperties":false,')
  return ajv.addSchema(JSON.parse(closed), 'openapi').compile({ $ref: `openapi#/components/schemas/${name}` })
}

function* mediaTypes(value: unknown): Generator<MediaType> {
  if (typeof value !== 'object' || value === null) return
  if ('schema' in value && 'examples' in value) yield value as unknown as MediaType
  for (const inner of Object.values(value)) yield* mediaTypes(inner)
}

/** A schema and the fields below it, each with its path. `anyOf` and `items` add no part to a path. */
function getFields(schema: JsonSchema, path = ''): [string, JsonSchema][] {
  return [[path, schema], ...innerFields(schema, path)]
}

function innerFields(schema: JsonSchema, path: string): [string, JsonSchema][] {
  type Parts = { properties?: object; items?: JsonSchema; anyOf?: JsonSchema[] }
  const { properties = {}, items, anyOf = [] } = schema as Parts
  const prefix = path === '' ? '' : `${path}.`
  const own = Object.entries(properties).flatMap(([name, field]) => getFields(field, `${prefix}${name}`))
  return [...own, ...[...anyOf, ...(items ? [items] : [])].flatMap((each) => innerFields(each, path))]
}
