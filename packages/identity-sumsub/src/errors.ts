/**
 * What a call to the provider can end in. Every error is built from the fields listed here and from nothing else: no
 * request, no header, no token and no `cause`, so that logging one cannot show a secret.
 * @module
 */

/** Base of every error of this package. `retryable`: the same call may succeed after a while, unchanged. */
export abstract class ProviderError extends Error {
  abstract readonly code: `ERR_PROVIDER_${string}`
  abstract readonly retryable: boolean
  /** Whether the provider may have done what it was asked to all the same: look before you ask again. */
  abstract readonly outcomeUnknown: boolean
}

/**
 * The provider refused the share token: expired, used before, of an applicant that is not approved, or of a level that
 * shares no step with ours. A fresh token may help. Source: docs/interface.md 7 (422).
 */
export class TokenRejectedError extends ProviderError {
  override readonly name = 'TokenRejectedError'
  readonly code = 'ERR_PROVIDER_TOKEN_REJECTED'
  readonly retryable = false
  readonly outcomeUnknown = false
  readonly #providerMessage: string
  /** The provider's number for the reason, or null when it gave none. */
  readonly providerCode: number | null
  constructor(providerMessage: string, providerCode: number | null) {
    super(`The identity provider refused the share token${numbered(providerCode)}. Mint a fresh one and send that.`)
    this.#providerMessage = providerMessage
    this.providerCode = providerCode
  }
  /**
   * The provider's own words. They may hold the id of the token: show them to the integrator, and log them nowhere.
   * Printing, copying or serialising the error leaves them out.
   */
  get providerMessage(): string {
    return this.#providerMessage
  }
}

/** The provider refused our own credentials, clock or set-up. The caller can do nothing about it: an operator must. */
export class ProviderSetupError extends ProviderError {
  override readonly name = 'ProviderSetupError'
  readonly code = 'ERR_PROVIDER_SETUP'
  readonly retryable = false
  readonly outcomeUnknown = false
  readonly status: number
  readonly providerCode: number | null
  constructor(status: number, providerCode: number | null) {
    super(
      `The identity provider refused this service itself (${status}${numbered(providerCode)}). Check the app token, its secret key and ` +
        'permissions, the level, and the clock of this machine.',
    )
    this.status = status
    this.providerCode = providerCode
  }
}

/** The provider asks for fewer requests. Nothing was done. */
export class ProviderThrottledError extends ProviderError {
  override readonly name = 'ProviderThrottledError'
  readonly code = 'ERR_PROVIDER_THROTTLED'
  readonly retryable = true
  readonly outcomeUnknown = false
  /** How long to wait, in milliseconds, where the provider says so, else null. */
  readonly retryAfterMs: number | null
  constructor(retryAfterMs: number | null) {
    super('The identity provider asks for fewer requests (429). Send the same request again after a while.')
    this.retryAfterMs = retryAfterMs
  }
}

/**
 * A request was not sent, because its time had passed: this process was suspended, or waited too long. Nothing was
 * done.
 */
export class RequestLateError extends ProviderError {
  override readonly name = 'RequestLateError'
  readonly code = 'ERR_PROVIDER_LATE'
  readonly retryable = true
  readonly outcomeUnknown = false
  constructor() {
    super('A request to the identity provider was not sent: the time until which it was wanted has passed.')
  }
}

/** No answer, or one that says that the provider failed. It may have done what it was asked to. */
export class ProviderUnavailableError extends ProviderError {
  override readonly name = 'ProviderUnavailableError'
  readonly code = 'ERR_PROVIDER_UNAVAILABLE'
  readonly retryable = true
  readonly outcomeUnknown = true
  /** HTTP status, or null when no answer arrived in time. */
  readonly status: number | null
  constructor(status: number | null) {
    super(
      status === null
        ? 'The identity provider did not answer in time, or cannot be reached.'
        : `The identity provider failed (${status}).`,
    )
    this.status = status
  }
}

/** An answer that is not what the provider documents. It may have done what it was asked to. */
export class ProviderAnswerError extends ProviderError {
  override readonly name = 'ProviderAnswerError'
  readonly code = 'ERR_PROVIDER_ANSWER'
  readonly retryable = true
  readonly outcomeUnknown = true
  readonly status: number
  /** @param flaw - What is wrong with the answer, without any of its text. */
  constructor(status: number, flaw: string) {
    super(`The identity provider answered ${status} with something else than it documents: ${flaw}.`)
    this.status = status
  }
}

/** A webhook that is not the provider's, or that nobody can read. Answer 400; the provider sends it again. */
export class WebhookRefusedError extends ProviderError {
  override readonly name = 'WebhookRefusedError'
  readonly code: 'ERR_PROVIDER_WEBHOOK_UNSIGNED' | 'ERR_PROVIDER_WEBHOOK_FORGED' | 'ERR_PROVIDER_WEBHOOK_MALFORMED'
  readonly retryable = false
  readonly outcomeUnknown = false
  constructor(code: WebhookRefusedError['code'], message: string) {
    super(message)
    this.code = code
  }
}

function numbered(providerCode: number | null): string {
  return providerCode === null ? '' : `, ${providerCode}`
}
