import { expect, test } from 'vitest'
import type { HandlerOptions } from '../../src/adapters/handler-options.js'
import { createVerifier } from '../../src/exports/index.js'
import { createLambdaHandler, type LambdaEventLike, type LambdaHandler } from '../../src/exports/lambda.js'
import { adapterConformance } from './conformance.js'
import { delivery, secret } from './fixture.js'
import type { Host, Sent } from './host.js'

type Values = ReadonlyMap<string, readonly string[]>

/** Payload 1.0, as API Gateway documents it for REST APIs: headers as sent, with the last value and all values. */
function restEvent(method: string, headers: Values, body: string | null, isBase64Encoded: boolean) {
  return {
    resource: '/webhook',
    path: '/webhook',
    httpMethod: method,
    headers: Object.fromEntries([...headers].map(([name, values]) => [name, values.at(-1) ?? ''])),
    multiValueHeaders: Object.fromEntries(headers),
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    pathParameters: null,
    stageVariables: null,
    requestContext: { accountId: '123456789012', apiId: 'id', requestId: 'id', httpMethod: method, stage: '$default' },
    body,
    isBase64Encoded,
  }
}

/** Payload 2.0, as documented for HTTP APIs and function URLs: names lowercased, values joined by commas. */
function httpEvent(method: string, headers: Values, body: string | null, isBase64Encoded: boolean) {
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: '/webhook',
    rawQueryString: '',
    headers: Object.fromEntries([...headers].map(([name, values]) => [name.toLowerCase(), values.join(',')])),
    requestContext: {
      accountId: '123456789012',
      apiId: 'id',
      http: { method, path: '/webhook', protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: 'agent' },
      requestId: 'id',
      stage: '$default',
    },
    ...(body === null ? {} : { body }),
    isBase64Encoded,
  }
}

const context = { getRemainingTimeInMillis: () => 30_000 }

interface Kind {
  readonly name: string
  readonly event: (...parts: Parameters<typeof restEvent>) => LambdaEventLike
  readonly base64: boolean
}

function createHost(handler: LambdaHandler, { event, base64 }: Kind, parser: boolean): Host {
  return {
    async send({ method = 'POST', headers = {}, body }: Sent) {
      const values = new Map(Object.entries(headers).map(([name, value]) => [name, [value].flat()]))
      const text = body === undefined ? null : Buffer.from(body).toString(base64 ? 'base64' : 'utf8')
      const made = event(method, values, text, base64 && body !== undefined)
      // Parses an event as middy's httpJsonBodyParser does.
      if (parser) Object.assign(made, { body: JSON.parse(Buffer.from(body ?? []).toString()) })
      const { statusCode, ...rest } = await handler(made, context)
      return { status: statusCode, ...rest }
    },
    close: async () => undefined,
  }
}

const text = 'the gateway hands bodies over as text, unless it is told that they are binary'

const kinds: (Kind & { readonly excuses?: Record<string, string> })[] = [
  {
    name: 'REST API',
    event: restEvent,
    base64: false,
    excuses: { 'bytes that are no UTF-8, and a byte order mark, arrive unchanged': text },
  },
  { name: 'REST API, binary', event: restEvent, base64: true },
  {
    name: 'HTTP API',
    event: httpEvent,
    base64: false,
    excuses: { 'bytes that are no UTF-8, and a byte order mark, arrive unchanged': text },
  },
  { name: 'function URL', event: httpEvent, base64: true },
]

for (const kind of kinds)
  adapterConformance(
    {
      name: `createLambdaHandler behind a ${kind.name}`,
      cure: /httpJsonBodyParser/,
      start: async (options, parser) => createHost(createLambdaHandler(options), kind, parser),
      ...(kind.excuses ? { excuses: kind.excuses } : {}),
    },
    false,
  )

const { verify } = createVerifier({ secrets: secret })
const [, , , functionUrl] = kinds as [Kind, Kind, Kind, Kind]

test('Base64 that is none is rejected as unreadable', async () => {
  const codes: string[] = []
  const options: HandlerOptions = { receive: verify, onRejection: ({ code }) => codes.push(code) }
  const { headers } = await delivery()
  const event = functionUrl.event(
    'POST',
    new Map(Object.entries(headers).map(([k, v]) => [k, [v].flat()])),
    '****',
    true,
  )
  expect((await createLambdaHandler(options)(event, context)).statusCode).toBe(400)
  expect(codes).toEqual(['ERR_BODY_UNREADABLE'])
})

test("the answer comes before the function's own time-out", async () => {
  const options: HandlerOptions = { receive: () => new Promise(() => undefined), onError: () => undefined }
  const event = functionUrl.event('POST', new Map(), '', false)
  const soon = { getRemainingTimeInMillis: () => 300 }
  expect((await createLambdaHandler(options)(event, soon)).statusCode).toBe(503)
})

test('an event without a method is 405', async () => {
  expect((await createLambdaHandler({ receive: verify })({}, context)).statusCode).toBe(405)
})
