/** Every reason to reject a delivery: one error, distinguished by its `code`, and its explanation in words. @module */

/** HTTP status and facts of each rejection. The service retries after each of them. */
interface Rejections {
  /** There is no `X-Service-Signature`. */
  ERR_SIGNATURE_MISSING: { readonly status: 401 }
  /** The header does not have the form `t=<unix seconds>,v1=<64 lowercase hex characters>`. */
  ERR_SIGNATURE_MALFORMED: { readonly status: 400 }
  /** The header is well-formed and carries no `v1`. */
  ERR_SIGNATURE_SCHEME: { readonly status: 400 }
  /** `t` is further in the past than the tolerance. `ageSeconds`: from `t` to the time of receipt. */
  ERR_DELIVERY_STALE: { readonly status: 400; readonly ageSeconds: number }
  /** `t` is further in the future than the tolerance. `ageSeconds` is negative. */
  ERR_DELIVERY_FUTURE: { readonly status: 400; readonly ageSeconds: number }
  /** No secret gives any of the header's codes over these bytes. */
  ERR_SIGNATURE_MISMATCH: { readonly status: 401 }
  /** The body was parsed or consumed before it got here; `arrived` names the kind of value, without its content. */
  ERR_BODY_NOT_RAW: { readonly status: 500; readonly arrived: string }
  /** The body is larger than `maxBytes`; it was not hashed. */
  ERR_BODY_TOO_LARGE: { readonly status: 413 }
  /** Reading the body failed, mostly because the sender hung up; the reason is in `cause`. */
  ERR_BODY_UNREADABLE: { readonly status: 400; readonly cause: unknown }
  /** `X-Service-Integration` is missing, is no address, or names an integration without a secret here. */
  ERR_INTEGRATION_UNKNOWN: { readonly status: 401 }
  /** The signature is right, and the header names another integration than the signed body. */
  ERR_INTEGRATION_MISMATCH: { readonly status: 400 }
  /** The signature is right, but the body is no snapshot. `field`: the wrong field; empty if the body is no object. */
  ERR_SNAPSHOT_INVALID: { readonly status: 400; readonly field: string }
}

type RejectionCode = keyof Rejections

/** Every code of this package: those of `verify`, and those of a handler alone. */
export type WebhookErrorCode = RejectionCode | 'ERR_BODY_TIMEOUT' | 'ERR_METHOD_NOT_ALLOWED' | 'ERR_RECEIVE_TIMEOUT'

/**
 * Base of every error of this package; none holds a secret, signature or body. A rejection of `verify` has the name
 * `WebhookError`, and `explainRejection` says how to resolve its code. A handler adds {@link HandlerError}.
 * Use the class for `instanceof`; only this package makes its errors. Source: docs/interface.md 6.
 */
export abstract class WebhookError extends Error {
  abstract override readonly name: 'WebhookError' | 'HandlerError'
  abstract readonly code: WebhookErrorCode
  /** The HTTP status to answer. */
  abstract readonly status: number
  /** Whether the same delivery may be accepted when it arrives again: never after a rejection of `verify`. */
  abstract readonly retryable: boolean
}

/** Every rejection with its facts, so that a `switch` over `code` narrows. */
export type WebhookRejection = {
  [Code in RejectionCode]: WebhookError & { readonly code: Code } & Rejections[Code]
}[RejectionCode]

/**
 * Makes a rejection without the constructor of `Error`. That constructor walks the stack, which costs more than all
 * checks before the hash, and strangers choose how many rejections are made.
 * Assigns each field, the quickest way. If a program froze `Error.prototype`, the assignment throws a `TypeError`.
 */
export function createRejection<Code extends RejectionCode>(
  code: Code,
  status: Rejections[Code]['status'],
  facts?: Omit<Rejections[Code], 'status'>,
): WebhookError {
  // Field by field: V8 copies an object of five fields in three times the time.
  const error = Object.create(WebhookError.prototype)
  error.name = 'WebhookError'
  error.message = error.code = error.stack = code
  error.status = status
  error.retryable = false
  return Object.assign(error, facts)
}

/** The form of a code, also of a code that a newer version of this package adds. */
const codeForm = /^ERR_(SIGNATURE|DELIVERY|BODY|INTEGRATION|SNAPSHOT)_[A-Z_]+$/

/**
 * Whether an error is a rejection of this package; narrows it to {@link WebhookRejection}. It compares `name` and
 * `code`: `instanceof` fails when a process has two copies of the package (ESM and CommonJS, or two versions), and for
 * an error of another realm.
 * @example
 * import { isWebhookRejection } from '@payment-integration/webhook'
 * const toStatus = (error: unknown): number => (isWebhookRejection(error) ? error.status : 500)
 */
export function isWebhookRejection(error: unknown): error is WebhookRejection {
  const { name, code, stack } = Object(error) as Partial<WebhookError>
  return name === 'WebhookError' && codeForm.test(String(code)) && !!stack
}

const settled = /* @__PURE__ */ Promise.resolve()

/**
 * A promise that is rejected after one tick, when the caller has added its handler. Node spends three times as much on
 * a promise that is rejected earlier. Nothing is thrown, because a throw would cost V8 as much again.
 */
export function rejectWith(error: WebhookError): Promise<never> {
  return new Promise((_, reject) => void settled.then(() => reject(error)))
}

const cures: Readonly<Record<RejectionCode, string>> = {
  ERR_SIGNATURE_MISSING:
    'The X-Service-Signature header is missing or empty. Pass the headers of the request; check proxies on the way.',
  ERR_SIGNATURE_MALFORMED:
    'X-Service-Signature is not t=<unix seconds>,v1=<64 lowercase hex characters>. It did not come from the service, or a proxy changed it.',
  ERR_SIGNATURE_SCHEME:
    'X-Service-Signature has no v1 field, the only scheme known here. Update this package if the service moved on.',
  ERR_DELIVERY_STALE:
    'The delivery was signed too long ago by this clock. Check clock sync; for queued work pass the time of receipt as receivedAt.',
  ERR_DELIVERY_FUTURE: 'The delivery is signed ahead of this clock. Check clock sync.',
  ERR_SIGNATURE_MISMATCH:
    'No signing secret gives this signature over these bytes. Check that the secret is the webhook signing secret of this integration, without the quotes of an environment file, and that the body is the raw bytes, not JSON parsed and written again.',
  ERR_BODY_NOT_RAW:
    "The signature covers the raw bytes, and the body is something else. Pass a Uint8Array, ArrayBuffer, string or unread Request. Express: express.raw({ type: 'application/json' }) on this route, before express.json(). Fetch handlers: pass the request itself, or await request.arrayBuffer(). Lambda: decode the body when isBase64Encoded.",
  ERR_BODY_TOO_LARGE: 'The body is larger than maxBytes. Raise it if the service really sends such bodies.',
  ERR_BODY_UNREADABLE: 'The body of the request could not be read to its end. The service retries.',
  ERR_INTEGRATION_UNKNOWN:
    'X-Service-Integration is missing, is not a lowercased address, or names an integration without a signing secret here. Check the look-up.',
  ERR_INTEGRATION_MISMATCH:
    'X-Service-Integration is not the integrationAddress of the signed body. Check proxies that change headers.',
  ERR_SNAPSHOT_INVALID:
    'The signed body is not a payment snapshot; `field` names the first field that is wrong. Update this package if the service moved on.',
}

/**
 * Says the cause and the cure in a sentence or two, for the receiver's log, not for the answer. `undefined`: the error
 * is no rejection.
 * @example
 * import { explainRejection } from '@payment-integration/webhook'
 * const log = (error: unknown): void => console.error(explainRejection(error) ?? error)
 */
export function explainRejection(error: unknown): string | undefined {
  return isWebhookRejection(error) ? cures[error.code] : undefined
}
