/** JSON answers, and the table from error code to status and body. Source: docs/interface.md 4, 7. @module */
import { type ErrorBody, type LegacyErrorBody, pageLimit } from '@payment-integration/contract'
import {
  cacheControl,
  formatShareRejection,
  tooManyRequestsBody,
  unauthorizedBody,
} from '@payment-integration/contract/internal'
import { CoreError, type CoreErrorCode, InvalidLegacyRequestError } from '@payment-integration/core'
import { IdentityUnavailableError, ShareTokenRejectedError } from '@payment-integration/core/identity'
import type { OperatorErrorCode } from '@payment-integration/core/internal'
import type { Context, Handler, Hono } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { type AppEnv, HttpRequestError } from './requests.js'

/**
 * An answer for one caller: JSON with `Cache-Control: private, no-store`, errors included. The headers are a plain
 * object, which the HTTP library writes without building a `Headers` first.
 */
export function answerPrivateJson(
  body: object,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'Content-Type': 'application/json', 'Cache-Control': cacheControl, ...headers },
  })
}

/** The 401 of every API: only the challenge differs. */
export function answerUnauthorized(challenge: string): Response {
  return answerPrivateJson(unauthorizedBody, 401, { 'WWW-Authenticate': challenge })
}

/** The 429 of every API. */
export function answerTooManyRequests(waitMs: number): Response {
  return answerPrivateJson(tooManyRequestsBody, 429, formatRetryAfter(waitMs))
}

/**
 * Adds an endpoint. GET also answers HEAD. OPTIONS is answered with 204 and any other method with 405; both list the
 * allowed methods.
 */
export function addEndpoint<Path extends string>(
  app: Hono<AppEnv>,
  method: 'get' | 'post',
  path: Path,
  handler: (c: Context<AppEnv, Path>) => Response | Promise<Response>,
): void {
  app[method](path, handler as Handler<AppEnv>)
  const allow = method === 'get' ? 'GET, HEAD, OPTIONS' : 'POST, OPTIONS'
  app.all(path, (c) =>
    c.req.method === 'OPTIONS'
      ? new Response(null, { status: 204, headers: { Allow: allow, 'Cache-Control': cacheControl } })
      : answerPrivateJson({ error: 'Method not allowed' }, 405, { Allow: allow }),
  )
}

interface ErrorAnswer {
  readonly status: ContentfulStatusCode
  readonly body: ErrorBody | LegacyErrorBody
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Every code that the API can raise. Codes of operators and of moves are left out: operators sign in to the console
 * only, and moves are commands. A code that the table below lacks is a compile error.
 */
type ErrorCode = Exclude<CoreErrorCode, OperatorErrorCode | `ERR_MOVE_${string}`> | HttpRequestError['code']

type BuildAnswer = (error: Error) => ErrorAnswer

const unavailableMessage = 'Service temporarily unavailable'
const unavailable: BuildAnswer = () => answer(503, unavailableMessage, { 'Retry-After': '1' })
/** Without Retry-After, because an operator must act first. */
const broken: BuildAnswer = () => answer(503, unavailableMessage)
const internal: BuildAnswer = () => answer(500, 'Internal error')

/** A number is the status; the body is then the message of the error. */
const answersByCode: Record<ErrorCode, ContentfulStatusCode | BuildAnswer> = {
  ERR_LIMIT_INVALID: ({ message }) => ({ status: 400, body: { error: message, maxLimit: pageLimit.max } }),
  ERR_CURSOR_INVALID: 400,
  ERR_TX_HASH_INVALID: 400,
  ERR_ADDRESS_INVALID: 400,
  ERR_URL_INVALID: 400,
  ERR_NAME_INVALID: 400,
  ERR_PAYMENT_NOT_FOUND: 404,
  ERR_PAYMENT_AMBIGUOUS: 409,
  ERR_LEGACY_REQUEST_INVALID: (error) => ({ status: 400, body: toLegacyBody(error) }),
  ERR_TRANSACTION_NOT_FOUND: 404,
  ERR_UPDATE_CONFLICT: 409,
  ERR_INTEGRATION_EXISTS: 409,
  ERR_INTEGRATION_NOT_FOUND: 404,
  ERR_INTEGRATION_CHANGED: 409,
  ERR_SIGNING_SECRET_NOT_PREPARED: 409,
  ERR_PREVIOUS_API_SECRET: 409,
  ERR_NO_PREVIOUS_SECRET: 409,
  ERR_SIGNING_SECRET_PREPARED: 409,
  ERR_NO_NOTIFICATION_URL: 409,
  ERR_TEST_IN_FLIGHT: 409,
  ERR_ACCOUNT_EXISTS: 409,
  ERR_ACCOUNT_NOT_FOUND: 404,
  ERR_ACCOUNT_INVALID: 400,
  ERR_LEGACY_KEY_NOT_FOUND: 404,
  ERR_DELIVERY_NOT_FOUND: 404,
  ERR_DELIVERY_IN_FLIGHT: 409,
  ERR_DELIVERY_ENDED: 409,
  ERR_SHARE_REQUEST_INVALID: 400,
  ERR_VERIFICATION_UNAVAILABLE: 409,
  ERR_SHARE_TOKEN_REJECTED: (error) => ({ status: 422, body: toShareRejectedBody(error) }),
  ERR_IDENTITY_UNAVAILABLE: (error) =>
    answer(503, error.message, formatRetryAfter(error instanceof IdentityUnavailableError ? error.retryAfterMs : 0)),
  ERR_IDENTITY_MISCONFIGURED: 502,
  ERR_EMAIL_PROOF: 403,
  ERR_BODY_UNEXPECTED: 400,
  ERR_BODY_INCOMPLETE: 400,
  ERR_BODY_TOO_LARGE: (error) => answer(413, error.message, { Connection: 'close' }),
  ERR_CONTENT_TYPE: 415,
  ERR_HEADER_REPEATED: (error) => answer(400, error.message, { Connection: 'close' }),
  ERR_QUERY_MALFORMED: 400,
  ERR_TRIGGER_INVALID: 400,
  ERR_UPDATE_INVALID: 400,
  ERR_STORE_BUSY: unavailable,
  ERR_STORE_FULL: broken,
  ERR_STORE_ENGINE: broken,
  ERR_STORE_SCHEMA: broken,
  ERR_STORE_UNAVAILABLE: unavailable,
  ERR_CHAIN_UNAVAILABLE: unavailable,
  ERR_CHAIN_RANGE_GONE: unavailable,
  ERR_CHAIN_PROOF_FAILED: unavailable,
  ERR_CHAIN_ADAPTER: unavailable,
  ERR_CHAIN_HISTORY_BROKEN: unavailable,
  ERR_CHAIN_REORG_TOO_DEEP: unavailable,
  ERR_REINDEX_REJECTED: internal,
  ERR_ARCHIVE: internal,
  ERR_CHECKPOINT_CHANGED: unavailable,
  ERR_SECRET_UNREADABLE: internal,
  ERR_MASTER_KEY_MISSING: internal,
  ERR_PACKAGE_MISSING: internal,
}

/** The answer to an error. An error outside the table is a 500 without details. */
export function answerError(error: unknown): ErrorAnswer {
  // Only our own classes: a driver's error with the same code would expose its message to the client.
  if (!(error instanceof CoreError || error instanceof HttpRequestError)) return answer(500, 'Internal error')
  const entry: ContentfulStatusCode | BuildAnswer | undefined = answersByCode[error.code as ErrorCode]
  return typeof entry === 'number' ? answer(entry, error.message) : (entry ?? internal)(error)
}

/** The answer to an error of the legacy API, where every 400 has details. */
export function answerLegacyError(error: unknown): ErrorAnswer {
  const general = answerError(error)
  return general.status === 400 && error instanceof Error ? { ...general, body: toLegacyBody(error) } : general
}

/** The header, in whole seconds, at least 1. */
function formatRetryAfter(waitMs: number): Readonly<Record<string, string>> {
  return { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1_000))) }
}

/** Copies field by field, so that no other property of a flaw reaches the client. */
function toLegacyBody(error: Error): LegacyErrorBody {
  const flaws =
    error instanceof InvalidLegacyRequestError
      ? error.details
      : [{ code: 'invalid_request', message: error.message, path: [] }]
  return { error: error.message, details: flaws.map(({ code, message, path }) => ({ code, message, path: [...path] })) }
}

function toShareRejectedBody(error: Error): ErrorBody {
  const isRejection = error instanceof ShareTokenRejectedError
  const message = isRejection ? formatShareRejection(error.providerMessage, error.formerVerdict) : ''
  return { error: error.message, message }
}

function answer(status: ContentfulStatusCode, error: string, headers: ErrorAnswer['headers'] = {}): ErrorAnswer {
  return { status, body: { error }, headers }
}
