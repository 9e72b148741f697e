/** Every reason to refuse a delivery: one error, distinguished by its `code`. @module */

/** HTTP status and facts of each refusal. The service retries after any status outside 2xx. */
export interface Refusals {
  /** There is no `X-Service-Signature`. */
  ERR_SIGNATURE_MISSING: { readonly status: 401 }
  /** The header does not have the form `t=<unix seconds>,v1=<64 lowercase hex characters>`. */
  ERR_SIGNATURE_MALFORMED: { readonly status: 400 }
  /** The header is well-formed and carries no `v1`. */
  ERR_SIGNATURE_SCHEME: { readonly status: 400 }
  /** `t` is further in the past than the tolerance; `ageSeconds` from `t` to the clock. */
  ERR_DELIVERY_STALE: { readonly status: 400; readonly ageSeconds: number }
  /** `t` is further in the future than the tolerance; `ageSeconds` is negative. */
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
  /** The signature is right, but the body is no snapshot. `field`, as `invoice.amount`, is empty for no object. */
  ERR_SNAPSHOT_INVALID: { readonly status: 400; readonly field: string }
}

/** The reasons to refuse. */
export type WebhookErrorCode = keyof Refusals

/**
 * A refusal, the only error that a delivery from the network causes. `explainRefusal` says how to resolve a code.
 * It holds no secret, signature or body. Use the class for `instanceof`; only this package makes refusals.
 * Source: docs/interface.md 6.
 */
export abstract class WebhookError extends Error {
  abstract override readonly name: 'WebhookError'
  abstract readonly code: WebhookErrorCode
  /** The HTTP status to answer. */
  abstract readonly status: number
}

/** Every refusal with what it carries, so that a `switch` over `code` narrows. */
export type WebhookRefusal = {
  [Code in WebhookErrorCode]: WebhookError & { readonly code: Code } & Refusals[Code]
}[WebhookErrorCode]

/** The facts of a refusal beside its status. */
type Facts<Code extends WebhookErrorCode> = Omit<Refusals[Code], 'status'>

/**
 * Makes a refusal without the constructor of `Error`. That constructor walks the stack, which costs more than all
 * checks before the hash, and strangers choose how many refusals are made.
 * Assigns each field, the quickest way. If a program froze `Error.prototype`, the assignment throws a `TypeError`.
 */
export function refusal<Code extends WebhookErrorCode>(
  code: Code,
  status: Refusals[Code]['status'],
  facts?: Facts<Code>,
): WebhookError {
  // Field by field: V8 copies an object of five fields in three times the time.
  const error = Object.create(WebhookError.prototype)
  error.name = 'WebhookError'
  error.message = error.code = error.stack = code
  error.status = status
  return Object.assign(error, facts)
}

/** The names of codes, also of those that a newer version of this package adds. */
const codeForm = /^ERR_(SIGNATURE|DELIVERY|BODY|INTEGRATION|SNAPSHOT)_[A-Z_]+$/

/**
 * Whether an error is a refusal of this package; narrows it to {@link WebhookRefusal}.
 * It compares `name` and `code`: `instanceof` fails when a process has two copies of the package (ESM and CommonJS,
 * or two versions), and for an error of another realm.
 */
export function isWebhookRefusal(error: unknown): error is WebhookRefusal {
  const { name, code, stack } = Object(error) as Partial<WebhookError>
  return name === 'WebhookError' && codeForm.test(String(code)) && !!stack
}
