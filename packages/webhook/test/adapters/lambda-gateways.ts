/** Gateways in front of a Lambda function, and their events. @module */
import { createLambdaHandler, type LambdaEventLike, type LambdaHandler } from '../../src/exports/lambda.js'
import type { Host, Sent, Subject } from './host.js'

type Values = ReadonlyMap<string, readonly string[]>

/** Payload 1.0, as API Gateway documents it for REST APIs: headers as sent, with the last value and all values. */
function restEvent(method: string, headers: Values, body: string | null, isBase64Encoded: boolean) {
  return {
    path: '/webhook',
    httpMethod: method,
    headers: Object.fromEntries([...headers].map(([name, values]) => [name, values.at(-1) ?? ''])),
    multiValueHeaders: Object.fromEntries(headers),
    requestContext: { requestId: 'id', httpMethod: method },
    body,
    isBase64Encoded,
  }
}

/** Payload 2.0, as documented for HTTP APIs and function URLs: names lowercased, values joined by commas. */
export function httpEvent(method: string, headers: Values, body: string | null, isBase64Encoded: boolean) {
  return {
    version: '2.0',
    rawPath: '/webhook',
    headers: Object.fromEntries([...headers].map(([name, values]) => [name.toLowerCase(), values.join(',')])),
    requestContext: { requestId: 'id', http: { method, path: '/webhook', protocol: 'HTTP/1.1' } },
    ...(body === null ? {} : { body }),
    isBase64Encoded,
  }
}

export const context = { getRemainingTimeInMillis: () => 30_000 }

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

const kinds: Kind[] = [
  { name: 'REST API', event: restEvent, base64: false },
  { name: 'REST API, binary', event: restEvent, base64: true },
  { name: 'HTTP API', event: httpEvent, base64: false },
  { name: 'function URL', event: httpEvent, base64: true },
]

export const gatewaySubjects: readonly Subject[] = kinds.map((kind) => ({
  name: `createLambdaHandler behind a ${kind.name}`,
  hasNoSocket: true,
  cure: /httpJsonBodyParser/,
  start: async (options, parser) => createHost(createLambdaHandler(options), kind, parser),
  excuses: kind.base64
    ? {}
    : {
        'bytes that are no UTF-8, and a byte order mark, arrive unchanged':
          'the gateway hands bodies over as text, unless it is told that they are binary',
      },
}))
