/**
 * Errors of calls to the provider.
 * An error holds only the fields listed here: no request, header, token or `cause`. So logging one shows no secret.
 * @module
 */

/** Every code of this package. */
export type ProviderErrorCode =
  | 'ERR_PROVIDER_ANSWER'
  | 'ERR_PROVIDER_LATE'
  | 'ERR_PROVIDER_SETUP'
  | 'ERR_PROVIDER_THROTTLED'
  | 'ERR_PROVIDER_TOKEN_REJECTED'
  | 'ERR_PROVIDER_UNAVAILABLE'
  | 'ERR_PROVIDER_WEBHOOK_FORGED'
  | 'ERR_PROVIDER_WEBHOOK_MALFORMED'
  | 'ERR_PROVIDER_WEBHOOK_UNSIGNED'

/** Base of every error of this package. `retryable`: the same call may succeed later, unchanged. */
export abstract class ProviderError extends Error {
  abstract readonly code: ProviderErrorCode
  abstract readonly retryable: boolean
  /** Whether the provider may have executed the call: look up the result before you repeat the call. */
  abstract readonly outcomeUnknown: boolean
}

/**
 * The provider rejected the share token: it is expired or used, its applicant is not approved, or the levels share no
 * step. A fresh token may help. Source: docs/interface.md 7 (422).
 */
export class TokenRejectedError extends ProviderError {
  override readonly name = 'TokenRejectedError'
  readonly code = 'ERR_PROVIDER_TOKEN_REJECTED'
  readonly retryable = false
  readonly outcomeUnknown = false
  readonly #providerMessage: string
  /** The provider's error number, or null when absent. */
  readonly providerCode: number | null
  constructor(providerMessage: string, providerCode: number | null) {
    super(`The identity provider rejected the share token${numbered(providerCode)}. Mint a fresh one and send that.`)
    this.#providerMessage = providerMessage
    this.providerCode = providerCode
  }
  /**
   * The provider's description. It may hold the id of the token: show it to the integrator, but never log it. Printing,
   * copying or serializing the error omits it.
   */
  get providerMessage(): string {
    return this.#providerMessage
  }
}

/** The provider rejected the service's own credentials, clock or set-up. Its operator must act; the caller cannot. */
export class ProviderSetupError extends ProviderError {
  override readonly name = 'ProviderSetupError'
  readonly code = 'ERR_PROVIDER_SETUP'
  readonly retryable = false
  readonly outcomeUnknown = false
  readonly status: number
  readonly providerCode: number | null
  constructor(status: number, providerCode: number | null) {
    super(
      `The identity provider rejected this service itself (${status}${numbered(providerCode)}). Check the app token, its secret key and ` +
        'permissions, the level, and the clock of this machine.',
    )
    this.status = status
    this.providerCode = providerCode
  }
}

/** The provider limits the rate of requests. It executed nothing. */
export class ProviderThrottledError extends ProviderError {
  override readonly name = 'ProviderThrottledError'
  readonly code = 'ERR_PROVIDER_THROTTLED'
  readonly retryable = true
  readonly outcomeUnknown = false
  /** The provider's requested wait in milliseconds, or null when absent. */
  readonly retryAfterMs: number | null
  constructor(retryAfterMs: number | null) {
    super('The identity provider asks for fewer requests (429). Send the same request again after a while.')
    this.retryAfterMs = retryAfterMs
  }
}

/** The deadline of a request passed before it was sent, as in a suspended process. Nothing was executed. */
export class LateRequestError extends ProviderError {
  override readonly name = 'LateRequestError'
  readonly code = 'ERR_PROVIDER_LATE'
  readonly retryable = true
  readonly outcomeUnknown = false
  constructor() {
    super('A request to the identity provider was not sent, because its deadline had passed.')
  }
}

/** No answer, or a failure of the provider. The outcome is unknown. */
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

/** An undocumented answer of the provider. The outcome is unknown. */
export class ProviderAnswerError extends ProviderError {
  override readonly name = 'ProviderAnswerError'
  readonly code = 'ERR_PROVIDER_ANSWER'
  readonly retryable = true
  readonly outcomeUnknown = true
  readonly status: number
  /** @param flaw - The flaw of the answer, without its text. */
  constructor(status: number, flaw: string) {
    super(`The identity provider sent an undocumented answer (${status}): ${flaw}.`)
    this.status = status
  }
}

/** A webhook that is unsigned, forged or malformed. Answer 400; the provider retries it. */
export class WebhookRejectedError extends ProviderError {
  override readonly name = 'WebhookRejectedError'
  readonly code: 'ERR_PROVIDER_WEBHOOK_UNSIGNED' | 'ERR_PROVIDER_WEBHOOK_FORGED' | 'ERR_PROVIDER_WEBHOOK_MALFORMED'
  readonly retryable = false
  readonly outcomeUnknown = false
  constructor(code: WebhookRejectedError['code'], message: string) {
    super(message)
    this.code = code
  }
}

function numbered(providerCode: number | null): string {
  return providerCode === null ? '' : `, ${providerCode}`
}
