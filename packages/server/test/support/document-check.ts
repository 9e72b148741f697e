/** Checks real requests and answers against an OpenAPI document with ajv. Undocumented fields are faults, too. */
import type { Header, Operation, Parameter, Response } from '@payment-integration/contract/internal'
import type { OpenApiDocument } from '@payment-integration/contract/openapi'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { parseRaw } from './raw-http.js'

/** An answer as it came off the socket. */
export type RawAnswer = ReturnType<typeof parseRaw>

/** Headers of the connection and of the message, which OpenAPI leaves to HTTP. */
const ofHttp = ['date', 'connection', 'keep-alive', 'content-length', 'content-type', 'transfer-encoding']

export function documentCheck(text: string) {
  const document = JSON.parse(text) as OpenApiDocument
  const ajv = addFormats.default(new Ajv2020({ strict: false, allErrors: true }))
  // Answers may gain fields for a reader; from this version the document must list every one.
  const closed = text.replaceAll('"type":"object",', '"type":"object","additionalProperties":false,')
  ajv.addSchema(JSON.parse(closed), 'answers').addSchema(document, 'requests')

  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )

  function flaws(side: 'answers' | 'requests', schema: object, value: unknown): string[] {
    const rebased = JSON.parse(JSON.stringify(schema).replaceAll('"#/', `"${side}#/`))
    const validate = ajv.compile(rebased)
    return validate(value) ? [] : (validate.errors ?? []).map((each) => `${each.instancePath} ${each.message}`)
  }

  function resolve<T extends object>(entry: T | { readonly $ref: string } | undefined): T | undefined {
    if (entry === undefined || !('$ref' in entry)) return entry
    const [, , group = '', name = ''] = entry.$ref.split('/')
    return (document.components as unknown as Record<string, Record<string, T>>)[group]?.[name]
  }

  function headerFlaws(documented: Response['headers'] = {}, actual: ReadonlyMap<string, string>): string[] {
    const named = Object.entries(documented).map(([name, each]) => [name.toLowerCase(), resolve<Header>(each)] as const)
    const wrong = named.flatMap(([name, header]) => {
      const value = actual.get(name)
      if (header === undefined) return [`header ${name} is documented by nothing`]
      if (value === undefined) return header.required ? [`header ${name} is missing`] : []
      return flaws('answers', header.schema, fromText(value)).map((flaw) => `header ${name}${flaw}`)
    })
    const known = [...ofHttp, ...named.map(([name]) => name)]
    const surplus = [...actual.keys()].filter((name) => !known.includes(name))
    return [...wrong, ...surplus.map((name) => `header ${name} is not documented`)]
  }

  function bodyFlaws(content: Response['content'] = {}, { headers, body }: RawAnswer): string[] {
    const type = headers.get('content-type') ?? 'none'
    const media = content[type]
    return media === undefined
      ? [`content type ${type} is not documented`]
      : flaws('answers', media.schema, type === 'application/json' ? JSON.parse(body) : body)
  }

  return {
    document,
    /** Every operation and status, such as `getHealth 200`. */
    pairs: operations.flatMap(({ operation: { operationId, responses } }) =>
      Object.keys(responses).map((status) => `${operationId} ${status}`),
    ),
    operations,
    /** The operation that a request is for. */
    find(method: string, target: string): Operation {
      const path = target.split('?', 1)[0] ?? ''
      const found = operations.filter((each) => each.method === method && matches(each.path, path))
      if (found.length !== 1 || found[0] === undefined)
        throw new Error(`${found.length} operations for ${method} ${path}`)
      return found[0].operation
    },
    /** Deviations of an answer from the document: status, headers and body. */
    answerFlaws(operation: Operation, answer: RawAnswer): string[] {
      const response = resolve<Response>(operation.responses[String(answer.status)])
      if (response === undefined) return [`status ${answer.status} is not documented`]
      return [...headerFlaws(response.headers, answer.headers), ...bodyFlaws(response.content, answer)]
    },
    /** Deviations of a parameter from the document. */
    parameterFlaws(operation: Operation, name: string, value: string): string[] {
      const parameter = operation.parameters
        ?.map((each) => resolve<Parameter>(each))
        .find((each) => each?.name === name)
      if (parameter === undefined) throw new Error(`${operation.operationId} has no parameter ${name}`)
      return flaws('requests', parameter.schema, parameter.schema['type'] === 'integer' ? fromText(value) : value)
    },
    /** Deviations of a request body from the document. */
    bodyFlaws(operation: Operation, body: unknown): string[] {
      const schema = operation.requestBody?.content['application/json']?.schema
      if (schema === undefined) throw new Error(`${operation.operationId} takes no JSON`)
      return flaws('requests', schema, body)
    },
  }
}

export type DocumentCheck = ReturnType<typeof documentCheck>

/** A canonical integer becomes a number; anything else stays text. */
function fromText(text: string): unknown {
  return /^(0|-?[1-9][0-9]*)$/.test(text) ? Number(text) : text
}

function matches(template: string, path: string): boolean {
  const given = path.split('/')
  const wanted = template.split('/')
  return given.length === wanted.length && wanted.every((each, index) => each.startsWith('{') || each === given[index])
}
