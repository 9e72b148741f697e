/** The errors of the core: one class for each way in which a caller reacts. @module */
import type { LegacyErrorBody, ShareResponse } from '@payment-integration/contract'
import {
  identityMisconfiguredBody,
  identityUnavailableBody,
  verificationUnavailableBody,
} from '@payment-integration/contract/internal'

/** The codes of operators and their sign-in. */
export type OperatorErrorCode =
  | 'ERR_LINK_REJECTED'
  | 'ERR_OIDC_REJECTED'
  | 'ERR_OPERATOR_DISABLED'
  | 'ERR_OPERATOR_EXISTS'
  | 'ERR_OPERATOR_INVALID'
  | 'ERR_OPERATOR_LAST_ADMIN'
  | 'ERR_OPERATOR_NOT_FOUND'
  | 'ERR_PASSPHRASE_LENGTH'
  | 'ERR_SIGN_IN_LIMITED'
  | 'ERR_SIGN_IN_REJECTED'

/** The codes of a move of an integration to another cell. */
export type MoveErrorCode =
  | 'ERR_MOVE_FILE_STALE'
  | 'ERR_MOVE_KEY_MISSING'
  | 'ERR_MOVE_PAYMENT_DIFFERS'
  | 'ERR_MOVE_PAYMENT_MISSING'
  | 'ERR_MOVE_ROW_INVALID'
  | 'ERR_MOVE_UNRECORDED'
  | 'ERR_MOVE_UNSUPPORTED'
  | 'ERR_MOVE_UPDATE_MISSING'

/** Every code of the core; `docs/errors.md` has their meanings. */
export type CoreErrorCode =
  | OperatorErrorCode
  | AccountError['code']
  | ChainError['code']
  | DeliveryError['code']
  | IntegrationError['code']
  | InvalidParameterError['code']
  | MoveErrorCode
  | RequestBodyError['code']
  | StoreError['code']
  | 'ERR_ARCHIVE'
  | 'ERR_CHAIN_ADAPTER'
  | 'ERR_CHAIN_HISTORY_BROKEN'
  | 'ERR_CHAIN_REORG_TOO_DEEP'
  | 'ERR_CHECKPOINT_CHANGED'
  | 'ERR_EMAIL_PROOF'
  | 'ERR_IDENTITY_MISCONFIGURED'
  | 'ERR_IDENTITY_UNAVAILABLE'
  | 'ERR_LEGACY_KEY_NOT_FOUND'
  | 'ERR_LEGACY_REQUEST_INVALID'
  | 'ERR_MASTER_KEY_MISSING'
  | 'ERR_PACKAGE_MISSING'
  | 'ERR_PAYMENT_AMBIGUOUS'
  | 'ERR_PAYMENT_NOT_FOUND'
  | 'ERR_REINDEX_REJECTED'
  | 'ERR_SECRET_UNREADABLE'
  | 'ERR_SHARE_REQUEST_INVALID'
  | 'ERR_SHARE_TOKEN_REJECTED'
  | 'ERR_TRANSACTION_NOT_FOUND'
  | 'ERR_UPDATE_CONFLICT'
  | 'ERR_VERIFICATION_UNAVAILABLE'

/** Base of the errors of the core and of adapters, which may add codes. `retryable`: the call may succeed later. */
export abstract class CoreError<Code extends `ERR_${string}` = CoreErrorCode> extends Error {
  abstract readonly code: Code
  abstract readonly retryable: boolean
}

/** An error of the core: not retryable unless its class says so. */
export abstract class CodedError<Code extends `ERR_${string}`> extends CoreError<Code> {
  readonly code: Code
  readonly retryable: boolean = false
  constructor(code: Code, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The chain could not be read, or its answers are malformed. */
export class ChainError extends CodedError<
  'ERR_CHAIN_UNAVAILABLE' | 'ERR_CHAIN_RANGE_GONE' | 'ERR_CHAIN_PROOF_FAILED'
> {
  override readonly name = 'ChainError'
  override readonly retryable = true
  readonly chainId: number
  constructor(code: ChainError['code'], chainId: number, message: string, options?: ErrorOptions) {
    super(code, message, options)
    this.chainId = chainId
  }
}

/**
 * The database rejected the work or could not be reached. The transaction wrote nothing, with one exception: if the
 * connection or the disk failed during the commit, `ERR_STORE_UNAVAILABLE` is an unknown outcome. Then retry only
 * idempotent work, such as indexing or an update with an id. Repeat any other write only if it was not stored.
 */
export class StoreError extends CodedError<
  'ERR_STORE_BUSY' | 'ERR_STORE_ENGINE' | 'ERR_STORE_FULL' | 'ERR_STORE_SCHEMA' | 'ERR_STORE_UNAVAILABLE'
> {
  override readonly name = 'StoreError'
  override readonly retryable: boolean = this.code === 'ERR_STORE_BUSY' || this.code === 'ERR_STORE_UNAVAILABLE'
}

/** A setting needs an optional package that is not installed. */
export class MissingPackageError extends CodedError<'ERR_PACKAGE_MISSING'> {
  override readonly name = 'MissingPackageError'
  readonly packageName: string
  /** The setting or call that needs it. */
  readonly setting: string
  constructor(packageName: string, setting: string) {
    const message = `${setting} needs the package ${packageName}, which is not installed. Run: npm install ${packageName}`
    super('ERR_PACKAGE_MISSING', message)
    this.packageName = packageName
    this.setting = setting
  }
}

/** A parameter of a request is malformed. Answer 400. */
export class InvalidParameterError extends CodedError<
  | 'ERR_LIMIT_INVALID'
  | 'ERR_CURSOR_INVALID'
  | 'ERR_TX_HASH_INVALID'
  | 'ERR_ADDRESS_INVALID'
  | 'ERR_URL_INVALID'
  | 'ERR_NAME_INVALID'
> {
  override readonly name = 'InvalidParameterError'
}

/** The body of a request is larger than its limit, or the client stopped sending it. Answer 413 or 400. */
export class RequestBodyError extends CodedError<'ERR_BODY_INCOMPLETE' | 'ERR_BODY_TOO_LARGE'> {
  override readonly name = 'RequestBodyError'
}

/** A legacy request is malformed. Answer 400 with `{error, details}`. */
export class InvalidLegacyRequestError extends CodedError<'ERR_LEGACY_REQUEST_INVALID'> {
  override readonly name = 'InvalidLegacyRequestError'
  /** All flaws, at least one, without values of the request. */
  readonly details: LegacyErrorBody['details']
  constructor(details: LegacyErrorBody['details']) {
    super('ERR_LEGACY_REQUEST_INVALID', 'Invalid request')
    this.details = details
  }
}

/** No payment of that transaction is in the system. Answer 404. */
export class TransactionNotFoundError extends CodedError<'ERR_TRANSACTION_NOT_FOUND'> {
  override readonly name = 'TransactionNotFoundError'
  constructor() {
    super('ERR_TRANSACTION_NOT_FOUND', 'Transaction not found')
  }
}

/** A command on an account failed. */
export class AccountError extends CodedError<'ERR_ACCOUNT_EXISTS' | 'ERR_ACCOUNT_NOT_FOUND' | 'ERR_ACCOUNT_INVALID'> {
  override readonly name = 'AccountError'
}

/** There is no such legacy API key. */
export class LegacyKeyNotFoundError extends CodedError<'ERR_LEGACY_KEY_NOT_FOUND'> {
  override readonly name = 'LegacyKeyNotFoundError'
  constructor(id: string) {
    super('ERR_LEGACY_KEY_NOT_FOUND', `There is no legacy API key ${JSON.stringify(id)}.`)
  }
}

/** No such payment for this integration. Answer 404. */
export class PaymentNotFoundError extends CodedError<'ERR_PAYMENT_NOT_FOUND'> {
  override readonly name = 'PaymentNotFoundError'
  constructor() {
    super('ERR_PAYMENT_NOT_FOUND', 'Payment not found')
  }
}

/** The hash is indexed on several destination chains. Answer 409; the wallet-scoped call may find one payment. */
export class AmbiguousPaymentError extends CodedError<'ERR_PAYMENT_AMBIGUOUS'> {
  override readonly name = 'AmbiguousPaymentError'
  constructor() {
    const message =
      'Transaction hash is indexed on more than one destination chain; narrow it with the wallet-scoped endpoint'
    super('ERR_PAYMENT_AMBIGUOUS', message)
  }
}

/** An update id was used before with other content. Answer 409; send changed content under a new id. */
export class UpdateConflictError extends CodedError<'ERR_UPDATE_CONFLICT'> {
  override readonly name = 'UpdateConflictError'
  readonly updateId: string
  constructor(updateId: string) {
    const message = `Update ${updateId} was already received with different content; send a change under a new id.`
    super('ERR_UPDATE_CONFLICT', message)
    this.updateId = updateId
  }
}

const integrationMessages = {
  ERR_INTEGRATION_EXISTS: (address) =>
    `Integration ${address} exists already: do not create it again; before an import, disable it.`,
  ERR_INTEGRATION_NOT_FOUND: (address) => `There is no integration ${address}; create it first.`,
  ERR_INTEGRATION_CHANGED: (address) =>
    `Integration ${address} was changed by somebody else at this moment; look at it, then repeat the command if you still need to.`,
  ERR_PREVIOUS_API_SECRET: (address) =>
    `The previous API secret of integration ${address} is still valid; end it before you rotate again.`,
  ERR_NO_PREVIOUS_SECRET: (address) =>
    `Integration ${address} has no valid previous secret of this kind, so there is none to end.`,
  ERR_SIGNING_SECRET_PREPARED: (address) =>
    `Integration ${address} has a prepared signing secret already; activate or abort it first.`,
  ERR_NO_NOTIFICATION_URL: (address) => `Integration ${address} has no notification URL; set one first.`,
  ERR_TEST_IN_FLIGHT: (address) =>
    `A test delivery of integration ${address} was sent within 5 seconds, or is in flight; wait a moment.`,
  ERR_SIGNING_SECRET_NOT_PREPARED: (address) =>
    `Integration ${address} has no prepared signing secret; prepare one first, and give it to the receiver.`,
} satisfies Readonly<Record<string, (address: string) => string>>

/** A command on an integration failed; `code` names the reason. */
export class IntegrationError extends CodedError<keyof typeof integrationMessages> {
  override readonly name = 'IntegrationError'
  readonly address: string
  constructor(code: IntegrationError['code'], address: string) {
    super(code, integrationMessages[code](address))
    this.address = address
  }
}

const deliveryMessages = {
  ERR_DELIVERY_NOT_FOUND: (id) => `There is no delivery ${JSON.stringify(id)}; list them to see their ids.`,
  ERR_DELIVERY_IN_FLIGHT: (id) =>
    `Delivery ${id} is being attempted at this moment; look at it again in a few seconds.`,
  ERR_DELIVERY_ENDED: (id) => `The retention of delivery ${id} has ended; it is not sent again.`,
} satisfies Readonly<Record<string, (deliveryId: string) => string>>

/** The delivery that a command names does not exist, is in flight, or has reached the end of its retention. */
export class DeliveryError extends CodedError<keyof typeof deliveryMessages> {
  override readonly name = 'DeliveryError'
  override readonly retryable: boolean = this.code === 'ERR_DELIVERY_IN_FLIGHT'
  readonly deliveryId: string
  constructor(code: DeliveryError['code'], deliveryId: string) {
    super(code, deliveryMessages[code](deliveryId))
    this.deliveryId = deliveryId
  }
}

/** Another indexer moved this chain's checkpoint first. Nothing was written; read the checkpoint again. */
export class CheckpointChangedError extends CodedError<'ERR_CHECKPOINT_CHANGED'> {
  override readonly name = 'CheckpointChangedError'
  override readonly retryable = true
  readonly chainId: number
  constructor(chainId: number) {
    const message = `The checkpoint of chain ${chainId} is not the one this range was read for; another indexer may be running.`
    super('ERR_CHECKPOINT_CHANGED', message)
    this.chainId = chainId
  }
}

/** How long a caller should wait when the provider names no time, in milliseconds. */
export const defaultRetryAfterMs = 5_000

/** The body of the request is malformed. Answer 400. */
export class InvalidShareRequestError extends CoreError {
  override readonly name = 'InvalidShareRequestError'
  readonly code = 'ERR_SHARE_REQUEST_INVALID'
  readonly retryable = false
}

/** The user's verification exists and the caller did not share it. Answer 409, the same body for every status. */
export class VerificationUnavailableError extends CodedError<'ERR_VERIFICATION_UNAVAILABLE'> {
  override readonly name = 'VerificationUnavailableError'
  constructor() {
    super('ERR_VERIFICATION_UNAVAILABLE', verificationUnavailableBody.error)
  }
}

/** The provider rejected the token. Answer 422; `message` is its description, then the former verdict. */
export class ShareTokenRejectedError extends CodedError<'ERR_SHARE_TOKEN_REJECTED'> {
  override readonly name = 'ShareTokenRejectedError'
  /** Only for the integrator, never for a log: it may contain the id of the token. */
  readonly providerMessage: string
  /** The rejected review of this integration's earlier share for the same address; null when there is none. */
  readonly formerVerdict: Omit<ShareResponse, 'reused'> | null
  constructor(providerMessage: string, formerVerdict: Omit<ShareResponse, 'reused'> | null = null) {
    super('ERR_SHARE_TOKEN_REJECTED', 'The identity provider rejected the share token; read message')
    this.providerMessage = providerMessage
    this.formerVerdict = formerVerdict
  }
}

/** The provider is down, slow or throttles. Answer 503: the client may retry. */
export class IdentityUnavailableError extends CodedError<'ERR_IDENTITY_UNAVAILABLE'> {
  override readonly name = 'IdentityUnavailableError'
  override readonly retryable = true
  /** How long to wait, in milliseconds. */
  readonly retryAfterMs: number
  constructor(retryAfterMs: number = defaultRetryAfterMs) {
    super('ERR_IDENTITY_UNAVAILABLE', identityUnavailableBody.error)
    this.retryAfterMs = retryAfterMs
  }
}

/** The provider rejects this service's own credentials or set-up. Answer 502: an operator must act. */
export class IdentityMisconfiguredError extends CodedError<'ERR_IDENTITY_MISCONFIGURED'> {
  override readonly name = 'IdentityMisconfiguredError'
  constructor() {
    super('ERR_IDENTITY_MISCONFIGURED', identityMisconfiguredBody.error)
  }
}

/** The e-mail address was not proven. Answer 403. */
export class EmailProofError extends CodedError<'ERR_EMAIL_PROOF'> {
  override readonly name = 'EmailProofError'
  constructor() {
    super('ERR_EMAIL_PROOF', 'The e-mail address was not proven')
  }
}
