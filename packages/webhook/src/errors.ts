/** Every reason to refuse a delivery: one class each, with its own code and the HTTP status to answer. @module */

/**
 * Base of every refusal. Messages name what was wrong and what to do; they never hold a secret, a signature or a body.
 * Any status outside 2xx makes the service record a failure and send again. Source: INTERFACE 6.
 */
export abstract class WebhookError extends Error {
  abstract readonly code: `ERR_${string}`
  /** The HTTP status to answer. */
  abstract readonly status: number
}

/** There is no `X-Service-Signature`. Answer 401: it did not come from the service, or a proxy removed the header. */
export class SignatureMissingError extends WebhookError {
  override readonly name = 'SignatureMissingError'
  readonly code = 'ERR_SIGNATURE_MISSING'
  readonly status = 401
  constructor() {
    super(
      'The X-Service-Signature header is missing or empty. Pass the headers of the request; check proxies on the way.',
    )
  }
}

/** The signature header does not have the form `t=<unix seconds>,v1=<64 lowercase hex characters>`. Answer 400. */
export class SignatureMalformedError extends WebhookError {
  override readonly name = 'SignatureMalformedError'
  readonly code = 'ERR_SIGNATURE_MALFORMED'
  readonly status = 400
  /** @param problem - What is wrong, without the header's own text. */
  constructor(problem: string) {
    super(`X-Service-Signature is malformed: ${problem}. Expected t=<unix seconds>,v1=<64 lowercase hex characters>.`)
  }
}

/** The header is well-formed and carries no `v1`. Answer 400; a newer scheme needs a newer version of this package. */
export class SignatureSchemeError extends WebhookError {
  override readonly name = 'SignatureSchemeError'
  readonly code = 'ERR_SIGNATURE_SCHEME'
  readonly status = 400
  constructor() {
    super(
      'X-Service-Signature has no v1 field, the only scheme known here. Update this package if the service moved on.',
    )
  }
}

/** `t` is further in the past than the tolerance. Answer 400; the service signs each attempt anew. */
export class StaleDeliveryError extends WebhookError {
  override readonly name = 'StaleDeliveryError'
  readonly code = 'ERR_DELIVERY_STALE'
  readonly status = 400
  /** Seconds from `t` to the receiver's clock. */
  readonly ageSeconds: number
  constructor(ageSeconds: number, toleranceSeconds: number) {
    super(
      `Delivery was signed ${ageSeconds} s ago by this clock; up to ${toleranceSeconds} s is accepted. Check clock sync; for queued work pass the time of receipt as now.`,
    )
    this.ageSeconds = ageSeconds
  }
}

/** `t` is further in the future than the tolerance. Answer 400; one of the two clocks is wrong. */
export class FutureDeliveryError extends WebhookError {
  override readonly name = 'FutureDeliveryError'
  readonly code = 'ERR_DELIVERY_FUTURE'
  readonly status = 400
  /** Seconds from `t` to the receiver's clock: negative. */
  readonly ageSeconds: number
  constructor(ageSeconds: number, toleranceSeconds: number) {
    super(
      `Delivery is signed ${-ageSeconds} s ahead of this clock; up to ${toleranceSeconds} s is accepted. Check clock sync.`,
    )
    this.ageSeconds = ageSeconds
  }
}

/** No secret gives any of the header's signatures over these bytes. Answer 401. */
export class SignatureMismatchError extends WebhookError {
  override readonly name = 'SignatureMismatchError'
  readonly code = 'ERR_SIGNATURE_MISMATCH'
  readonly status = 401
  constructor() {
    super(
      'No signing secret gives this signature over these bytes. Check that the secret is the webhook signing secret of this integration, and that the body is the raw bytes, not JSON parsed and written again.',
    )
  }
}

/** The body was parsed or consumed before it got here. Answer 500: the fault is in the receiver, a retry may find it mended. */
export class BodyNotRawError extends WebhookError {
  override readonly name = 'BodyNotRawError'
  readonly code = 'ERR_BODY_NOT_RAW'
  readonly status = 500
  /** @param arrived - The kind of value that arrived, without its content. */
  constructor(arrived: string) {
    super(
      `The body is ${arrived}; the signature covers the raw bytes. Pass a Uint8Array, ArrayBuffer, string or unread Request. Express: express.raw({ type: 'application/json' }) on this route, before express.json(). Fetch handlers: pass the request itself, or await request.arrayBuffer(). Lambda: decode the body when isBase64Encoded.`,
    )
  }
}

/** The body is larger than `maxBytes`; it was not hashed. Answer 413. */
export class BodyTooLargeError extends WebhookError {
  override readonly name = 'BodyTooLargeError'
  readonly code = 'ERR_BODY_TOO_LARGE'
  readonly status = 413
  readonly maxBytes: number
  constructor(maxBytes: number) {
    super(`The body is larger than ${maxBytes} bytes. Raise maxBytes if the service really sends such bodies.`)
    this.maxBytes = maxBytes
  }
}

/** Reading the body of a request failed, mostly because the sender hung up. Answer 400; the reason is in `cause`. */
export class BodyUnreadableError extends WebhookError {
  override readonly name = 'BodyUnreadableError'
  readonly code = 'ERR_BODY_UNREADABLE'
  readonly status = 400
  constructor(cause: unknown) {
    super('The body of the request could not be read to its end.', { cause })
  }
}

/** `X-Service-Integration` is missing, is not an address, or names an integration without a secret here. Answer 401. */
export class IntegrationUnknownError extends WebhookError {
  override readonly name = 'IntegrationUnknownError'
  readonly code = 'ERR_INTEGRATION_UNKNOWN'
  readonly status = 401
  constructor(problem: string) {
    super(`X-Service-Integration ${problem}; there is no signing secret to verify with.`)
  }
}

/** The signature is right, and the header names another integration than the signed body. Answer 400. */
export class IntegrationMismatchError extends WebhookError {
  override readonly name = 'IntegrationMismatchError'
  readonly code = 'ERR_INTEGRATION_MISMATCH'
  readonly status = 400
  constructor() {
    super('X-Service-Integration is not the integrationAddress of the signed body. Check proxies that change headers.')
  }
}

/** The signature is right, and the body is not a payment snapshot as INTERFACE 2.3 has it. Answer 400. */
export class SnapshotInvalidError extends WebhookError {
  override readonly name = 'SnapshotInvalidError'
  readonly code = 'ERR_SNAPSHOT_INVALID'
  readonly status = 400
  /** The field that is wrong, such as `invoice.amount`; empty when the body is no JSON object at all. */
  readonly field: string
  /** @param expected - What the field must be. */
  constructor(field: string, expected: string) {
    super(`The signed body is not a payment snapshot: ${field || 'the body'} must be ${expected}.`)
    this.field = field
  }
}

/** Every refusal, so that a `switch` over `code` narrows. */
export type WebhookRefusal =
  | SignatureMissingError
  | SignatureMalformedError
  | SignatureSchemeError
  | StaleDeliveryError
  | FutureDeliveryError
  | SignatureMismatchError
  | BodyNotRawError
  | BodyTooLargeError
  | BodyUnreadableError
  | IntegrationUnknownError
  | IntegrationMismatchError
  | SnapshotInvalidError

const nameByCode: Readonly<Record<WebhookRefusal['code'], WebhookRefusal['name']>> = {
  ERR_SIGNATURE_MISSING: 'SignatureMissingError',
  ERR_SIGNATURE_MALFORMED: 'SignatureMalformedError',
  ERR_SIGNATURE_SCHEME: 'SignatureSchemeError',
  ERR_DELIVERY_STALE: 'StaleDeliveryError',
  ERR_DELIVERY_FUTURE: 'FutureDeliveryError',
  ERR_SIGNATURE_MISMATCH: 'SignatureMismatchError',
  ERR_BODY_NOT_RAW: 'BodyNotRawError',
  ERR_BODY_TOO_LARGE: 'BodyTooLargeError',
  ERR_BODY_UNREADABLE: 'BodyUnreadableError',
  ERR_INTEGRATION_UNKNOWN: 'IntegrationUnknownError',
  ERR_INTEGRATION_MISMATCH: 'IntegrationMismatchError',
  ERR_SNAPSHOT_INVALID: 'SnapshotInvalidError',
}

/**
 * Says whether an error is a refusal of this package, and narrows it to {@link WebhookRefusal}. It looks at `code` and `name`, where
 * `instanceof` fails when a process has two copies of the package: the ESM and the CommonJS one, or two versions.
 */
export function isWebhookRefusal(error: unknown): error is WebhookRefusal {
  if (!(error instanceof Error)) return false
  const { code, name } = error as { code?: unknown; name: string }
  return (
    typeof code === 'string' && Object.hasOwn(nameByCode, code) && nameByCode[code as WebhookRefusal['code']] === name
  )
}
