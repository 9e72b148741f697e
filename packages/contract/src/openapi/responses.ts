/** Answers that several endpoints share. Source: docs/interface.md 4, 5, 7. @module */
import { tooManyRequestsBody, unauthorizedBody } from '../errors.js'
import { cacheControl, signatureHeader } from '../headers.js'
import { pageLimit } from '../limits.js'
import { headerRef, json } from './references.js'
import type { Content, Header, Reference, Response } from './types.js'

/** Headers of the answers. */
export const responseHeaders = {
  CacheControl: {
    description: 'No answer may be cached.',
    required: true,
    schema: { type: 'string', const: cacheControl },
  },
  BasicChallenge: {
    description: 'Requests HTTP Basic authentication.',
    required: true,
    schema: { type: 'string', pattern: '^Basic realm="[^"]+"$' },
  },
  BearerChallenge: {
    description: 'Requests an API key. The bare key is accepted too.',
    required: true,
    schema: { type: 'string', pattern: '^Bearer realm="[^"]+"$' },
  },
  SignatureChallenge: {
    description: 'Names the header that must carry a signature.',
    required: true,
    schema: { type: 'string', const: signatureHeader },
  },
  NoBuffering: {
    description: 'Keeps proxies such as nginx from collecting the stream.',
    required: true,
    schema: { type: 'string', const: 'no' },
  },
  RequestId: {
    description:
      'Id of the request: the `X-Request-Id` of the request where that is 1 to 128 visible ASCII characters.',
    required: true,
    schema: { type: 'string', minLength: 1, maxLength: 128 },
  },
  RetryAfter: {
    description: 'Seconds to wait before the next attempt. Absent if an operator must act first.',
    required: false,
    schema: { type: 'integer', minimum: 1 },
  },
} as const satisfies Readonly<Record<string, Header>>

/** An answer with the headers that every answer has, and others. */
export function answer(
  description: string,
  content: Content,
  headers: Readonly<Record<string, Reference>> = {},
): Response {
  const everywhere = { 'Cache-Control': headerRef('CacheControl'), 'X-Request-Id': headerRef('RequestId') }
  return { description, headers: { ...everywhere, ...headers }, content }
}

/** An answer whose body is an error. */
export function errorAnswer(
  description: string,
  error: string,
  headers?: Readonly<Record<string, Reference>>,
): Response {
  return answer(description, json('ErrorBody', { error: { summary: 'An error', value: { error } } }), headers)
}

function unauthorized(challenge: keyof typeof responseHeaders, description: string): Response {
  const body = json('UnauthorizedBody', {
    unauthorized: { summary: 'The same for every cause', value: unauthorizedBody },
  })
  return answer(description, body, { 'WWW-Authenticate': headerRef(challenge) })
}

/** The shared answers of the document. */
export const sharedResponses = {
  InvalidList: answer(
    'A parameter is invalid, or the request has a body. The error of an invalid `limit` also has `maxLimit`.',
    json('ErrorBody', {
      limit: {
        summary: 'An invalid limit',
        value: { error: `limit must be an integer from ${pageLimit.min} to ${pageLimit.max}`, maxLimit: pageLimit.max },
      },
      cursor: { summary: 'An invalid cursor', value: { error: 'Invalid cursor' } },
    }),
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
    'The source of the request, or its caller, exceeded a rate limit of the operator. No limit is on by default.',
    tooManyRequestsBody.error,
    { 'Retry-After': headerRef('RetryAfter') },
  ),
  HeadersTooLarge: errorAnswer('The headers are too large or too many.', 'Request headers are too large'),
  InternalError: errorAnswer('The service failed. The body has no details.', 'Internal error'),
  Unavailable: errorAnswer('The service is temporarily unavailable.', 'Service temporarily unavailable', {
    'Retry-After': headerRef('RetryAfter'),
  }),
} as const satisfies Readonly<Record<string, Response>>

/** Name of a shared answer. */
export type SharedResponse = keyof typeof sharedResponses
