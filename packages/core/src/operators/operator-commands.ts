/** Manages operators and their tokens. Source: docs/decisions/operators.md. @module */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { Audited } from '../history/audit-log.js'
import type { Clock, RandomSource } from '../ports/runtime.js'
import type { MasterKey, VersionedKey } from '../secrets/keys.js'
import type {
  OperatorChange,
  OperatorChangeOptions,
  OperatorCommands,
  OperatorRecord,
  OperatorRole,
  OperatorSessions,
  OperatorStore,
  OperatorTransaction,
  OperatorView,
} from './operator-store.js'
import { OperatorError, OperatorInvalidError } from './operator-store.js'

/** Stored in place of a hash of a passphrase. No hash equals it, so no passphrase matches. */
const oidcCredential = 'oidc'

export function signsInBy({ passphrase }: Pick<OperatorRecord, 'passphrase'>): 'passphrase' | 'oidc' {
  return passphrase === oidcCredential ? 'oidc' : 'passphrase'
}

/** The hash of the operator's passphrase; null: none is set. */
export function getPassphraseHash({ passphrase }: Pick<OperatorRecord, 'passphrase'>): string | null {
  return passphrase === oidcCredential ? null : passphrase
}

/** The roles, lowest first; each may do all that the ones before it may. */
export const operatorRoles = ['viewer', 'operator', 'admin'] as const satisfies readonly OperatorRole[]

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
export function createCsrfTokens(keys: MasterKey): Pick<OperatorSessions, 'csrfToken' | 'isCsrfToken'> {
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

interface OperatorDeps {
  readonly operators: Pick<OperatorStore, 'list'>
  readonly audited: Audited
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<RandomSource, 'bytes'>
}

/** A plain link token is returned once and never stored. */
export function createOperatorCommands({ operators, audited, clock, random }: OperatorDeps): OperatorCommands {
  const oidcDetails = (record: OperatorRecord) => signsInBy(record) === 'oidc' && { signsInBy: 'oidc' }
  function issueLink() {
    const { token: linkToken, hash } = issueToken('link', random)
    return { linkToken, link: { hash, expiresAt: clock.now() + linkMs } }
  }

  async function insert(
    input: Parameters<OperatorCommands['create']>[0],
    proof: Pick<OperatorRecord, 'passphrase' | 'link'>,
  ): Promise<OperatorView> {
    const name = checkOperatorName(input.name)
    const role = checkRole(input.role ?? 'viewer')
    const record: OperatorRecord = { name, role, enabled: true, ...proof, createdAt: clock.now() }
    await audited(async (tx, note) => {
      if (!(await tx.operators.insert(record))) throw new OperatorError('ERR_OPERATOR_EXISTS', name)
      note({ action: 'operator.created', subject: name, details: { role, ...oidcDetails(record) } })
    })
    return toOperatorView(record)
  }

  /** Replaces the proof with which an operator signs in, and ends the operator's sessions. */
  async function reset(given: string, change: OperatorChange, options?: OperatorChangeOptions): Promise<OperatorView> {
    const name = checkKnownName(given)
    return audited(async (tx, note) => {
      const before = await tx.operators.find(name)
      if (before?.enabled === false) throw new OperatorError('ERR_OPERATOR_DISABLED', name)
      const record = await tx.operators.update(name, change)
      if (record === null) throw new OperatorError('ERR_OPERATOR_NOT_FOUND', name)
      await checkAdmin(tx.operators, name, options)
      const endedSessions = await tx.operatorSessions.deleteByOwner(name)
      note({ action: 'operator.reset', subject: name, details: { endedSessions, ...oidcDetails(record) } })
      return toOperatorView(record)
    })
  }

  return {
    async create(input) {
      const { linkToken, link } = issueLink()
      return { operator: await insert(input, { passphrase: null, link }), linkToken }
    },
    createForOidc: (input) => insert(input, { passphrase: oidcCredential, link: null }),
    async list() {
      return (await operators.list()).map(toOperatorView)
    },
    async setEnabled(given, enabled, options) {
      const name = checkKnownName(given)
      return audited(async (tx, note) => {
        const record = await tx.operators.update(name, enabled ? { enabled } : { enabled, link: null })
        if (record === null) throw new OperatorError('ERR_OPERATOR_NOT_FOUND', name)
        await checkAdmin(tx.operators, name, options)
        if (enabled) note({ action: 'operator.enabled', subject: name })
        else {
          const endedSessions = await tx.operatorSessions.deleteByOwner(name)
          note({ action: 'operator.disabled', subject: name, details: { endedSessions } })
        }
        return toOperatorView(record)
      })
    },
    async setRole(given, text, options) {
      const name = checkKnownName(given)
      const role = checkRole(text)
      return audited(async (tx, note) => {
        const before = await tx.operators.find(name)
        const record = await tx.operators.update(name, { role })
        if (before === null || record === null) throw new OperatorError('ERR_OPERATOR_NOT_FOUND', name)
        await checkAdmin(tx.operators, name, options)
        note({ action: 'operator.role_set', subject: name, details: { from: before.role, to: role } })
        return toOperatorView(record)
      })
    },
    async reset(given, options) {
      const { linkToken, link } = issueLink()
      return { operator: await reset(given, { passphrase: null, link }, options), linkToken }
    },
    resetForOidc: (given) => reset(given, { passphrase: oidcCredential, link: null }),
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

/** @throws OperatorError `ERR_OPERATOR_NOT_FOUND` when no operator can have the name. */
function checkKnownName(given: string): string {
  const name = parseOperatorName(given)
  if (name === null) throw new OperatorError('ERR_OPERATOR_NOT_FOUND', given.slice(0, 64))
  return name
}

function toOperatorView(record: OperatorRecord): OperatorView {
  const { name, role, enabled, link, createdAt } = record
  const proof = { signsInBy: signsInBy(record), hasPassphrase: getPassphraseHash(record) !== null }
  return { name, role, enabled, createdAt, ...proof, linkExpiresAt: link?.expiresAt ?? null }
}
