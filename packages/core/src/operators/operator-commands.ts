/** Manages operators and their tokens. Source: docs/decisions/operators.md. @module */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { CommandDeps } from '../history/audit-log.js'
import type { AuditEntry } from '../history/audit-store.js'
import type { Clock, RandomSource } from '../ports/runtime.js'
import type { MasterKey, VersionedKey } from '../secrets/keys.js'
import type {
  IssuedLink,
  OperatorChange,
  OperatorChangeOptions,
  OperatorRecord,
  OperatorRole,
  OperatorStore,
  OperatorTransaction,
  OperatorView,
  SessionTokens,
} from './operator-store.js'
import { OperatorError, OperatorInvalidError, operatorRoles } from './operator-store.js'

/** Stored in place of a hash of a passphrase. No hash equals it, so no passphrase matches. */
const oidcCredential = 'oidc'

export function signsInBy({ passphrase }: Pick<OperatorRecord, 'passphrase'>): 'passphrase' | 'oidc' {
  return passphrase === oidcCredential ? 'oidc' : 'passphrase'
}

/** The hash of the operator's passphrase; null: none is set. */
export function getPassphraseHash({ passphrase }: Pick<OperatorRecord, 'passphrase'>): string | null {
  return passphrase === oidcCredential ? null : passphrase
}

const namePattern = /^[a-z0-9](?:[a-z0-9._@-]{0,62}[a-z0-9])?$/i

/** Lowercases a name; null: no operator can have it. */
export function parseOperatorName(text: string): string | null {
  // Tested before lowercasing: the Kelvin sign lowercases to k, which may be the name of another operator.
  return namePattern.test(text) ? text.toLowerCase() : null
}

/** The name in lower case. @throws OperatorInvalidError `ERR_OPERATOR_INVALID`. */
export function checkOperatorName(text: string): string {
  const name = parseOperatorName(text)
  if (name === null)
    throw new OperatorInvalidError(
      'An operator name has 1 to 64 letters, digits, dots, dashes, underscores or @ signs; it begins and ends with a letter or digit.',
    )
  return name
}

/** @throws OperatorInvalidError `ERR_OPERATOR_INVALID`. */
export function checkRole(text: string): OperatorRole {
  const role = operatorRoles.find((each) => each === text)
  if (role === undefined)
    throw new OperatorInvalidError(`The role of an operator is one of ${operatorRoles.join(', ')}.`)
  return role
}

/** One-time links and sessions of operators, and sessions of integrations at the portal. */
type TokenKind = 'link' | 'session' | 'portal'

/** Issues a token: 32 random bytes after a prefix. */
export function issueToken(kind: TokenKind, random: Pick<RandomSource, 'bytes'>) {
  const token = `pi_${kind}_${Buffer.from(random.bytes(32)).toString('base64url')}`
  return { token, hash: hashToken(token) }
}

/** SHA-256 of a token in hex; a fast hash suffices for 32 random bytes. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex')
}

/** Whether a text can be a token of this kind; any other text needs no look-up. */
export function isToken(kind: TokenKind, text: string): boolean {
  return text.startsWith(`pi_${kind}_`) && /^[A-Za-z0-9_-]{43}$/.test(text.slice(`pi_${kind}_`.length))
}

/** The CSRF token of a session is an HMAC of the session token with a key for this purpose alone. */
export function createCsrfTokens(keys: MasterKey): Omit<SessionTokens, 'signOut'> {
  const derive = (key: VersionedKey, sessionToken: string) =>
    createHmac('sha256', key.derive('csrf')).update(sessionToken, 'utf8').digest('base64url')
  return {
    csrfToken: (sessionToken) => derive(keys.current, sessionToken),
    isCsrfToken(sessionToken, csrfToken) {
      const bytes = Buffer.from(csrfToken, 'utf8')
      return keys.all
        .map((key) => Buffer.from(derive(key, sessionToken), 'utf8'))
        .some((expected) => expected.length === bytes.length && timingSafeEqual(expected, bytes))
    },
  }
}

/** How long a one-time link is valid, in milliseconds. */
export const linkMs = 24 * 60 * 60_000

interface OperatorDeps extends Pick<CommandDeps, 'audited' | 'random'> {
  readonly operators: Pick<OperatorStore, 'list'>
  readonly clock: Pick<Clock, 'now'>
}

/** The credentials of an operator: the passphrase hash, or the link to set one. */
type Credentials = Pick<OperatorRecord, 'passphrase' | 'link'>

interface AuditedChange extends Pick<AuditEntry, 'action'> {
  readonly fields: OperatorChange
  readonly toDetails?: (before: OperatorRecord) => AuditEntry['details']
  readonly endsSessions?: boolean
  readonly needsEnabled?: boolean
}

interface NewOperator {
  readonly name: string
  /** @default 'viewer' */
  readonly role?: OperatorRole | undefined
}

/**
 * Manages operators. Names are accepted in any case. Each change is in the audit log and applies at once, in every
 * process: docs/decisions/operators.md.
 */
export type OperatorCommands = ReturnType<typeof createOperatorCommands>

/** A plain link token is returned once and never stored. */
export function createOperatorCommands({ operators, audited, clock, random }: OperatorDeps) {
  const forOidc: Credentials = { passphrase: oidcCredential, link: null }
  const buildOidcDetails = (record: Credentials) => signsInBy(record) === 'oidc' && { signsInBy: 'oidc' }

  function issueLink() {
    const { token: linkToken, hash } = issueToken('link', random)
    return { linkToken, link: { hash, expiresAt: clock.now() + linkMs } }
  }

  async function insert(input: NewOperator, credentials: Credentials): Promise<OperatorView> {
    const name = checkOperatorName(input.name)
    const role = checkRole(input.role ?? 'viewer')
    const record: OperatorRecord = { name, role, enabled: true, ...credentials, createdAt: clock.now() }
    await audited(async (tx, note) => {
      if (!(await tx.operators.insert(record))) throw new OperatorError('ERR_OPERATOR_EXISTS', name)
      note({ action: 'operator.created', subject: name, details: { role, ...buildOidcDetails(record) } })
    })
    return toOperatorView(record)
  }

  /** Changes an operator. `endsSessions`: also ends the sessions. `needsEnabled`: rejects a disabled operator. */
  async function change(
    typedName: string,
    { action, fields, toDetails, endsSessions = false, needsEnabled = false }: AuditedChange,
    options?: OperatorChangeOptions,
  ): Promise<OperatorView> {
    const name = parseOperatorName(typedName)
    if (name === null) throw new OperatorError('ERR_OPERATOR_NOT_FOUND', typedName.slice(0, 64))
    return audited(async (tx, note) => {
      const before = await tx.operators.find(name)
      if (needsEnabled && before?.enabled === false) throw new OperatorError('ERR_OPERATOR_DISABLED', name)
      const record = await tx.operators.update(name, fields)
      if (before === null || record === null) throw new OperatorError('ERR_OPERATOR_NOT_FOUND', name)
      await checkAdmin(tx.operators, name, options)
      const ended = endsSessions && { endedSessions: await tx.operatorSessions.deleteByOwner(name) }
      note({ action, subject: name, details: { ...toDetails?.(before), ...ended } })
      return toOperatorView(record)
    })
  }

  function reset(name: string, credentials: Credentials, options?: OperatorChangeOptions): Promise<OperatorView> {
    const toDetails = () => ({ ...buildOidcDetails(credentials) })
    const ending = { endsSessions: true, needsEnabled: true }
    return change(name, { action: 'operator.reset', fields: credentials, toDetails, ...ending }, options)
  }

  return {
    /**
     * Creates an operator with a one-time link, which is valid for 24 hours.
     * @throws OperatorError `ERR_OPERATOR_EXISTS`; OperatorInvalidError `ERR_OPERATOR_INVALID`.
     */
    async create(input: NewOperator): Promise<IssuedLink> {
      const { linkToken, link } = issueLink()
      return { operator: await insert(input, { passphrase: null, link }), linkToken }
    },
    /**
     * Creates an operator who signs in at the OpenID provider under this name, without passphrase and link.
     * @throws OperatorError `ERR_OPERATOR_EXISTS`; OperatorInvalidError `ERR_OPERATOR_INVALID`.
     */
    createForOidc: (input: NewOperator) => insert(input, forOidc),
    /** All operators, by name. */
    list: async () => (await operators.list()).map(toOperatorView),
    /**
     * Enables or disables an operator. Disabling ends the operator's sessions and one-time link.
     * @throws OperatorError `ERR_OPERATOR_NOT_FOUND`, `ERR_OPERATOR_LAST_ADMIN`.
     */
    setEnabled: (name: string, enabled: boolean, options?: OperatorChangeOptions) =>
      enabled
        ? change(name, { action: 'operator.enabled', fields: { enabled } }, options)
        : change(name, { action: 'operator.disabled', fields: { enabled, link: null }, endsSessions: true }, options),
    /**
     * Sets the role, also of open sessions.
     * @throws OperatorError `ERR_OPERATOR_NOT_FOUND`, `ERR_OPERATOR_LAST_ADMIN`; OperatorInvalidError
     * `ERR_OPERATOR_INVALID`.
     */
    async setRole(name: string, text: OperatorRole, options?: OperatorChangeOptions): Promise<OperatorView> {
      const role = checkRole(text)
      const toDetails = (before: OperatorRecord) => ({ from: before.role, to: role })
      return change(name, { action: 'operator.role_set', fields: { role }, toDetails }, options)
    },
    /**
     * Removes the passphrase, ends all sessions and issues a new one-time link, which replaces an earlier one.
     * @throws OperatorError `ERR_OPERATOR_NOT_FOUND`, `ERR_OPERATOR_DISABLED`, `ERR_OPERATOR_LAST_ADMIN`.
     */
    async reset(name: string, options?: OperatorChangeOptions): Promise<IssuedLink> {
      const { linkToken, link } = issueLink()
      return { operator: await reset(name, { passphrase: null, link }, options), linkToken }
    },
    /**
     * Removes the passphrase and the link, and ends all sessions: from then on the operator signs in at the OpenID
     * provider. `reset` reverses it.
     * @throws OperatorError `ERR_OPERATOR_NOT_FOUND`, `ERR_OPERATOR_DISABLED`.
     */
    resetForOidc: (name: string) => reset(name, forOidc),
  }
}

/** Rejects a change that leaves no admin. Changes lock the audit log first, so two admins cannot remove each other. */
async function checkAdmin(
  operators: Pick<OperatorTransaction, 'list'>,
  changed: string,
  { keepsAdmin = false, hasOidc = false }: OperatorChangeOptions = {},
): Promise<void> {
  if (!keepsAdmin) return
  const canSignIn = (record: OperatorRecord) =>
    record.enabled && (signsInBy(record) === 'oidc' ? hasOidc : getPassphraseHash(record) !== null)
  const hasAdmin = (await operators.list()).some((each) => each.role === 'admin' && canSignIn(each))
  if (!hasAdmin) throw new OperatorError('ERR_OPERATOR_LAST_ADMIN', changed)
}

function toOperatorView(record: OperatorRecord): OperatorView {
  const { name, role, enabled, link, createdAt } = record
  const proof = { signsInBy: signsInBy(record), hasPassphrase: getPassphraseHash(record) !== null }
  return { name, role, enabled, createdAt, ...proof, linkExpiresAt: link?.expiresAt ?? null }
}
