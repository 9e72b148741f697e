/** Operators, links and sessions; times are unix milliseconds. Source: docs/decisions/operators.md. @module */
import { CodedError, CoreError } from '../errors.js'

/** Lowest first: a viewer reads, an operator also acts, an admin also manages secrets and operators. */
export const operatorRoles = ['viewer', 'operator', 'admin'] as const
export type OperatorRole = (typeof operatorRoles)[number]

export interface OperatorRecord {
  /** Unique, lowercased. */
  readonly name: string
  readonly role: OperatorRole
  readonly enabled: boolean
  /** Hash with its parameters; `oidc`: signs in at the OpenID provider; null: none is set, so sign-in fails. */
  readonly passphrase: string | null
  /** The one-time link to set a passphrase. Null: there is none; a redeemed or withdrawn link is deleted. */
  readonly link: Pick<SessionRecord, 'hash' | 'expiresAt'> | null
  readonly createdAt: number
}

/** A change of an operator. Absent fields stay. */
export type OperatorChange = Partial<Pick<OperatorRecord, 'role' | 'enabled' | 'passphrase' | 'link'>>

export interface SessionRecord {
  /** SHA-256 of its token, 64 lowercase hex digits. */
  readonly hash: string
  readonly operator: string
  readonly createdAt: number
  /** From this time on, it is expired. */
  readonly expiresAt: number
}

export interface OperatorStore {
  find(name: string): Promise<OperatorRecord | null>
  /** The operator whose one-time link has this hash, expired or not. */
  findByLink(hash: string): Promise<OperatorRecord | null>
  /** All operators, by name. */
  list(): Promise<OperatorRecord[]>
  /** A session with its operator, expired or not. */
  findSession(hash: string): Promise<{ readonly session: SessionRecord; readonly operator: OperatorRecord } | null>
}

export interface OperatorTransaction extends Pick<OperatorStore, 'find' | 'findByLink' | 'list'> {
  /** Resolves false, writing nothing, when the name or the hash of the link is taken. */
  insert(record: OperatorRecord): Promise<boolean>
  /** Resolves the new record, or null when the name is unknown. */
  update(name: string, change: OperatorChange): Promise<OperatorRecord | null>
}

/** Sessions of operators, or of integrations. The owner is a name or an address. */
export interface SessionTransaction<Session> {
  /** Stores a session. The transaction rejects if the hash is taken or the owner is unknown. */
  insert(session: Session): Promise<void>
  /** Deletes a session. Resolves it, or null when there is none. */
  delete(hash: string): Promise<Session | null>
  /** Deletes all sessions of an owner. Resolves their number. */
  deleteByOwner(owner: string): Promise<number>
  /** Deletes all but the newest `count` sessions of an owner. */
  keepNewest(owner: string, count: number): Promise<void>
  /** Deletes the sessions that are expired at `now`. */
  deleteExpired(now: number): Promise<void>
}

/** An operator without the hashes of passphrase and link. */
export interface OperatorView extends Pick<OperatorRecord, 'name' | 'role' | 'enabled' | 'createdAt'> {
  /** By passphrase, or at the OpenID provider. */
  readonly signsInBy: 'passphrase' | 'oidc'
  readonly hasPassphrase: boolean
  /** End of the one-time link that is not redeemed yet, in unix milliseconds; null: there is none. */
  readonly linkExpiresAt: number | null
}

/** An operator with a new one-time link. `linkToken` is shown this once. */
export interface IssuedLink {
  readonly operator: OperatorView
  readonly linkToken: string
}

export interface OperatorChangeOptions {
  /**
   * Rejects a change that leaves no enabled admin who can sign in, with a passphrase or at the OpenID provider. Pages
   * need it: without an admin nobody could sign in to undo the change. The command line does not.
   * @default false
   */
  readonly keepsAdmin?: boolean | undefined
  /** Whether an OpenID provider is configured. If not, an admin who signs in there does not count. @default false */
  readonly hasOidc?: boolean | undefined
}

export type SignedInOperator = Pick<OperatorRecord, 'name' | 'role'>

/** A new session. `sessionToken` is shown this once. */
export interface NewSession {
  readonly operator: SignedInOperator
  readonly sessionToken: string
  readonly expiresAt: number
}

/** Sign-out and CSRF tokens. */
export interface SessionTokens {
  /** Ends a session. An unknown one is no error. */
  signOut(sessionToken: string): Promise<void>
  /** The token for the forms of a session. */
  csrfToken(sessionToken: string): string
  /** Whether the token of a form belongs to the session. */
  isCsrfToken(sessionToken: string, csrfToken: string): boolean
}

const operatorMessages = {
  ERR_OPERATOR_EXISTS: (name) => `Operator ${name} exists already; reset it for a new one-time link.`,
  ERR_OPERATOR_NOT_FOUND: (name) => `There is no operator ${JSON.stringify(name)}; create it first.`,
  ERR_OPERATOR_LAST_ADMIN: (name) =>
    `Operator ${name} is the last admin who can sign in; make somebody else an admin first.`,
  ERR_OPERATOR_DISABLED: (name) => `Operator ${name} is disabled; enable it before you reset it.`,
} satisfies Readonly<Record<string, (name: string) => string>>

/** A command on an operator failed; `code` names the reason. */
export class OperatorError extends CodedError<keyof typeof operatorMessages> {
  override readonly name = 'OperatorError'
  readonly operator: string
  constructor(code: OperatorError['code'], operator: string) {
    super(code, operatorMessages[code](operator))
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
export class LinkRejectedError extends CodedError<'ERR_LINK_REJECTED'> {
  override readonly name = 'LinkRejectedError'
  constructor() {
    super('ERR_LINK_REJECTED', 'This one-time link is used or expired; ask an administrator for a new one.')
  }
}

/** The new passphrase is too short or too long. The message does not repeat it. */
export class PassphraseError extends CoreError {
  override readonly name = 'PassphraseError'
  readonly retryable = false
  readonly code = 'ERR_PASSPHRASE_LENGTH'
}

/** A sign-in was rejected: the credentials belong to no enabled operator or integration. The cause is not revealed. */
export class SignInRejectedError extends CodedError<'ERR_SIGN_IN_REJECTED'> {
  override readonly name = 'SignInRejectedError'
  constructor(message = 'Name or passphrase is wrong.') {
    super('ERR_SIGN_IN_REJECTED', message)
  }
}

/** An OpenID provider named a person, and no enabled operator of that name signs in there. */
export class OidcRejectedError extends CoreError {
  override readonly name = 'OidcRejectedError'
  readonly retryable = false
  readonly code = 'ERR_OIDC_REJECTED'
  /** @param name - As the provider gave it. */
  constructor(name: string) {
    const shown = JSON.stringify(name.slice(0, 64))
    super(`The provider calls you ${shown}, and no operator of that name may sign in by it. Ask an administrator.`)
  }
}

/** Too many sign-ins failed, or too many wait. Answer 429 with Retry-After. */
export class SignInLimitedError extends CodedError<'ERR_SIGN_IN_LIMITED'> {
  override readonly name = 'SignInLimitedError'
  override readonly retryable = true
  /** Whole seconds until the next sign-in is accepted, 1 or more. */
  readonly retryAfterSeconds: number
  constructor(waitMs: number) {
    const seconds = Math.max(1, Math.ceil(waitMs / 1000))
    super('ERR_SIGN_IN_LIMITED', `Too many sign-ins; wait ${seconds} s.`)
    this.retryAfterSeconds = seconds
  }
}
