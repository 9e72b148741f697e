/** Parts of the document: types, parameters, shared answers, credentials. Source: docs/interface.md 4 to 8. @module */
import { tooManyRequestsBody, unauthorizedBody } from '../error-bodies.js'
import { cacheControl, jsonContentType, pageLimit, signatureHeader, signatureToleranceSeconds } from '../wire.js'

/** A JSON schema of dialect 2020-12. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** Points at an entry of `components`. */
type Reference = { readonly $ref: string }

/** A body in one media type, with examples by name. */
export interface MediaType {
  readonly schema: JsonSchema
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>
}

type Content = Readonly<Record<string, MediaType>>

export interface Header {
  readonly description: string
  readonly required?: boolean
  readonly schema: JsonSchema
}

/** An answer of one status. */
export interface Response {
  readonly description: string
  readonly headers?: Readonly<Record<string, Reference>>
  readonly content?: Content
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly description: string
  readonly schema: JsonSchema
  readonly example?: unknown
}

/** One method of a path: its request and its answers. */
export interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description: string
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly (Parameter | Reference)[]
  readonly requestBody?: { readonly description: string; readonly required: true; readonly content: Content }
  readonly responses: Readonly<Record<string, Response | Reference>>
}

/** The operations of a path, by method. */
export type PathItem = Readonly<Partial<Record<'get' | 'post', Operation>>>

/** How a caller proves who it is. */
type SecurityScheme =
  | { readonly type: 'http'; readonly scheme: 'basic' | 'bearer'; readonly description: string }
  | { readonly type: 'apiKey'; readonly in: 'header'; readonly name: string; readonly description: string }

type TextFields<Name extends string> = Readonly<Record<Name, string>>

/** An OpenAPI 3.1 document, as far as this service's has parts. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0'
  readonly info: TextFields<'title' | 'version' | 'summary' | 'description'> & {
    readonly license: TextFields<'name' | 'identifier'>
  }
  readonly servers: readonly TextFields<'url' | 'description'>[]
  readonly tags: readonly TextFields<'name' | 'description'>[]
  readonly paths: Readonly<Record<string, PathItem>>
  readonly webhooks: Readonly<Record<string, PathItem>>
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly responses: Readonly<Record<string, Response>>
    readonly headers: Readonly<Record<string, Header>>
    readonly securitySchemes: Readonly<Record<string, SecurityScheme>>
  }
}

export const schemaRef = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const headerRef = (name: keyof typeof responseHeaders): Reference => ({ $ref: `#/components/headers/${name}` })

/** Maps the values of an object and keeps its keys, as `Array.map` does for elements. */
export function mapValues<Key extends string, Value, Mapped>(
  record: Readonly<Record<Key, Value>>,
  map: (value: Value, key: string) => Mapped,
): Record<Key, Mapped> {
  const mapped = Object.entries<Value>(record).map(([key, value]) => [key, map(value, key)])
  return Object.fromEntries(mapped)
}

/** Example bodies by name. */
type Examples = Readonly<Record<string, readonly [summary: string, value: unknown]>>

/** A JSON body of the named schema, or of one of several. */
function json(names: string | readonly string[], examples: Examples): Content {
  const schema = typeof names === 'string' ? schemaRef(names) : { anyOf: names.map(schemaRef) }
  return { [jsonContentType]: { schema, examples: mapValues(examples, ([summary, value]) => ({ summary, value })) } }
}

/** The JSON body of a request. */
export function requestBody(description: string, names: string | readonly string[], examples: Examples) {
  return { description, required: true, content: json(names, examples) } as const
}

export const parameterHead = (place: Parameter['in'], name: string, required = false) => ({ name, in: place, required })

const hash = '^0x[0-9a-fA-F]{64}$'

function inPath(name: string, description: string, pattern: string, example: string): Parameter {
  return { ...parameterHead('path', name, true), description, schema: { type: 'string', pattern }, example }
}

export const txHash = inPath(
  'txHash',
  'Destination transaction hash, in any case. A hash of the source chain finds no payment.',
  hash,
  `0x${'a'.repeat(64)}`,
)
export const wallet = inPath(
  'address',
  'Wallet address, in any case. It matches the sender and the receiver of a payment.',
  '^0x[0-9a-fA-F]{40}$',
  `0x${'2'.repeat(40)}`,
)
export const legacyChainId = inPath(
  'chainId',
  'Chain of the transaction, in decimal digits.',
  '^[1-9][0-9]{0,14}$',
  '137',
)
export const legacyTxHash = inPath('txHash', 'Transaction hash, in any case.', hash, `0x${'a'.repeat(64)}`)

export const limit: Parameter = {
  ...parameterHead('query', 'limit'),
  description: 'Payments per page. Any other value is rejected, never capped.',
  schema: { type: 'integer', minimum: pageLimit.min, maximum: pageLimit.max, default: pageLimit.default },
}
export const cursor: Parameter = {
  ...parameterHead('query', 'cursor'),
  description: 'The `nextCursor` of the page before. It is opaque: do not parse or construct it.',
  schema: { type: 'string', minLength: 1 },
}
export const lastEventId: Parameter = {
  ...parameterHead('header', 'Last-Event-ID'),
  description:
    'The `id` of the last event received: the stream goes on after it. It is opaque and valid for the caller only.',
  schema: { type: 'string' },
}
export const since: Parameter = {
  ...parameterHead('query', 'since'),
  description:
    'Unix time in milliseconds: the stream begins with deliveries created since then. Without it the stream begins now. A `Last-Event-ID` takes precedence.',
  schema: { type: 'string', pattern: '^[0-9]{1,15}$' },
  example: '1767323045000',
}

export const securitySchemes = {
  integration: {
    type: 'http',
    scheme: 'basic',
    description:
      'The user name is the integration address, the password its API secret. The raw `address:secret` form is rejected.',
  },
  legacyBearer: { type: 'http', scheme: 'bearer', description: 'The API key of the legacy endpoints.' },
  legacyKey: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'The API key of the legacy endpoints, bare: without the word Bearer.',
  },
  processorSignature: {
    type: 'apiKey',
    in: 'header',
    name: signatureHeader,
    description: `\`t=<unix seconds>,v1=<64 lowercase hex characters>\`: the HMAC-SHA256 of the value of \`t\`, a dot and the raw body, keyed with the secret of the processor. \`t\` may differ by ${signatureToleranceSeconds} seconds from the clock of the service.`,
  },
} as const satisfies Readonly<Record<string, SecurityScheme>>

export const asIntegration = [{ integration: [] }]
export const withLegacyKey = [{ legacyBearer: [] }, { legacyKey: [] }]
export const signedByProcessor = [{ processorSignature: [] }]
export const withoutCredentials: readonly [] = []

const header = (description: string, schema: JsonSchema, required = true): Header => ({ description, required, schema })
const constantString = (value: string): JsonSchema => ({ type: 'string', const: value })
const stringMatching = (pattern: string): JsonSchema => ({ type: 'string', pattern })

export const responseHeaders = {
  CacheControl: header('No answer may be cached.', constantString(cacheControl)),
  BasicChallenge: header('Requests HTTP Basic authentication.', stringMatching('^Basic realm="[^"]+"$')),
  BearerChallenge: header(
    'Requests an API key. The bare key is accepted too.',
    stringMatching('^Bearer realm="[^"]+"$'),
  ),
  SignatureChallenge: header('Names the header that must carry a signature.', constantString(signatureHeader)),
  NoBuffering: header('Keeps proxies such as nginx from collecting the stream.', constantString('no')),
  RequestId: header(
    'Id of the request: the `X-Request-Id` of the request where that is 1 to 128 visible ASCII characters.',
    { type: 'string', minLength: 1, maxLength: 128 },
  ),
  RetryAfter: header(
    'Seconds to wait before the next attempt. Absent if an operator must act first.',
    { type: 'integer', minimum: 1 },
    false,
  ),
}

/** The response headers of an answer besides those that every answer has. */
type HeaderNames = Readonly<Record<string, keyof typeof responseHeaders>>

export const retryAfter: HeaderNames = { 'Retry-After': 'RetryAfter' }

export function answer(description: string, content: Content, headers: HeaderNames = {}): Response {
  const all: HeaderNames = { 'Cache-Control': 'CacheControl', 'X-Request-Id': 'RequestId', ...headers }
  return { description, headers: mapValues(all, headerRef), content }
}

export function jsonAnswer(
  description: string,
  schema: string | readonly string[],
  examples: Examples,
  headers?: HeaderNames,
): Response {
  return answer(description, json(schema, examples), headers)
}

export function errorAnswer(description: string, error: string, headers?: HeaderNames): Response {
  return jsonAnswer(description, 'ErrorBody', { error: ['An error', { error }] }, headers)
}

function unauthorized(challenge: keyof typeof responseHeaders, description: string): Response {
  const examples: Examples = { unauthorized: ['The same for every cause', unauthorizedBody] }
  return jsonAnswer(description, 'UnauthorizedBody', examples, { 'WWW-Authenticate': challenge })
}

const limitError = `limit must be an integer from ${pageLimit.min} to ${pageLimit.max}`
export const sharedResponses = {
  InvalidList: jsonAnswer(
    'A parameter is invalid, or the request has a body. The error of an invalid `limit` also has `maxLimit`.',
    'ErrorBody',
    {
      limit: ['An invalid limit', { error: limitError, maxLimit: pageLimit.max }],
      cursor: ['An invalid cursor', { error: 'cursor must be the nextCursor of a page of this list, unchanged' }],
    },
  ),
  InvalidKey: errorAnswer(
    'A path parameter is invalid, or the request has a body.',
    'txHash must be a 32-byte hex string: 0x and 64 hex digits',
  ),
  InvalidRequest: errorAnswer('The request is malformed.', 'Header content-type is given more than once'),
  PaymentNotFound: errorAnswer('The integration has no such payment.', 'Payment not found'),
  PaymentAmbiguous: errorAnswer(
    'The hash is indexed on more than one destination chain. The endpoint of a wallet narrows the search.',
    'Transaction hash is indexed on more than one destination chain; narrow it with the wallet-scoped endpoint',
  ),
  TransactionNotFound: errorAnswer('The service has no payment of this transaction.', 'Transaction not found'),
  IntegrationUnauthorized: unauthorized(
    'BasicChallenge',
    'Credentials are missing or invalid. An unknown address, a wrong secret and a disabled integration get the same answer.',
  ),
  LegacyUnauthorized: unauthorized('BearerChallenge', 'The API key is missing or invalid.'),
  ProcessorUnauthorized: unauthorized('SignatureChallenge', 'The signature is missing or invalid.'),
  RequestTimeout: errorAnswer('The request took too long to arrive.', 'Request took too long'),
  TooLarge: errorAnswer('The body is larger than 16 KB.', 'Body is larger than 16384 bytes'),
  NotJson: errorAnswer(
    'The content type is not `application/json` (optionally with a charset of UTF-8), or the body has a content encoding.',
    'Content-Type must be application/json',
  ),
  TooManyRequests: errorAnswer(
    'The source of the request, or its caller, exceeded a rate limit of the operator. By default only streams are limited.',
    tooManyRequestsBody.error,
    retryAfter,
  ),
  HeadersTooLarge: errorAnswer('The headers are too large or too many.', 'Request headers are too large'),
  InternalError: errorAnswer('The service failed. The body has no details.', 'Internal error'),
  Unavailable: errorAnswer('The service is temporarily unavailable.', 'Service temporarily unavailable', retryAfter),
} as const satisfies Readonly<Record<string, Response>>

type SharedResponse = keyof typeof sharedResponses

/** Answers of HTTP itself, possible at every endpoint. */
const byHttp = { 400: 'InvalidRequest', 408: 'RequestTimeout', 431: 'HeadersTooLarge' } as const
/** Further answers of every endpoint except a probe: a limit is reached, or the database fails. */
const byService = { 429: 'TooManyRequests', 500: 'InternalError', 503: 'Unavailable' } as const

/** An operation with its own answers; a text names a shared one. */
type OperationParts = Omit<Operation, 'responses'> & {
  readonly responses: Readonly<Record<string, Response | SharedResponse>>
  /** Whether it is a probe of load balancers, which has no rate limit and no database errors. @default false */
  readonly isProbe?: boolean
}

/** Adds the answers that every endpoint has. The operation's own answers take precedence. */
export function operation({ responses, isProbe = false, ...parts }: OperationParts): Operation {
  const all: OperationParts['responses'] = { ...byHttp, ...(isProbe ? {} : byService), ...responses }
  const refer = (each: Response | SharedResponse) =>
    typeof each === 'string' ? { $ref: `#/components/responses/${each}` } : each
  return { ...parts, responses: mapValues(all, refer) }
}
