/** Errors about operators, one-time links and sign-ins. Source: docs/decisions/operators.md. @module */
import { CoreError } from '../errors.js'

const operatorMessages: Readonly<Record<OperatorError['code'], (name: string) => string>> = {
  ERR_OPERATOR_EXISTS: (name) => `Operator ${name} exists already; reset it for a new one-time link.`,
  ERR_OPERATOR_NOT_FOUND: (name) => `There is no operator ${JSON.stringify(name)}; create it first.`,
  ERR_OPERATOR_LAST_ADMIN: (name) =>
    `Operator ${name} is the last admin who can sign in; make somebody else an admin first.`,
  ERR_OPERATOR_DISABLED: (name) => `Operator ${name} is disabled; enable it before you reset it.`,
}

/** A command on an operator failed; `code` names the reason. */
export class OperatorError extends CoreError {
  override readonly name = 'OperatorError'
  readonly retryable = false
  readonly code: 'ERR_OPERATOR_EXISTS' | 'ERR_OPERATOR_NOT_FOUND' | 'ERR_OPERATOR_DISABLED' | 'ERR_OPERATOR_LAST_ADMIN'
  readonly operator: string
  constructor(code: OperatorError['code'], operator: string) {
    super(operatorMessages[code](operator))
    this.code = code
    this.operator = operator
  }
}

/** The name or the role of an operator is malformed. */
export class OperatorInvalidError extends CoreError {
  override readonly name = 'OperatorInvalidError'
  readonly retryable = false
  readonly code = 'ERR_OPERATOR_INVALID'
}

/** The one-time link is unknown, used, replaced or expired, or its operator is disabled. */
export class LinkRejectedError extends CoreError {
  override readonly name = 'LinkRejectedError'
  readonly retryable = false
  readonly code = 'ERR_LINK_REJECTED'
  constructor() {
    super('This one-time link is used or expired; ask an administrator for a new one.')
  }
}

/** The new passphrase is too short or too long. The message does not repeat it. */
export class PassphraseError extends CoreError {
  override readonly name = 'PassphraseError'
  readonly retryable = false
  readonly code = 'ERR_PASSPHRASE_LENGTH'
}

/** A sign-in was rejected: the credentials belong to no enabled operator or integration. The cause is not revealed. */
export class SignInRejectedError extends CoreError {
  override readonly name = 'SignInRejectedError'
  readonly retryable = false
  readonly code = 'ERR_SIGN_IN_REJECTED'
  constructor(message = 'Name or passphrase is wrong.') {
    super(message)
  }
}

/** Too many sign-ins failed, or too many wait. Answer 429 with Retry-After. */
export class SignInLimitedError extends CoreError {
  override readonly name = 'SignInLimitedError'
  readonly retryable = true
  readonly code = 'ERR_SIGN_IN_LIMITED'
  /** Whole seconds until the next one is accepted, 1 or more. */
  readonly retryAfterSeconds: number
  constructor(waitMs: number) {
    const seconds = Math.max(1, Math.ceil(waitMs / 1000))
    super(`Too many sign-ins; wait ${seconds} s.`)
    this.retryAfterSeconds = seconds
  }
}
