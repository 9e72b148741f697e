/** Manages operators. Source: docs/decisions/operators.md. @module */
import type { Audited } from '../audit/audited.js'
import type { IssuedLink, OperatorChangeOptions, OperatorCommands, OperatorView } from '../operator-types.js'
import type {
  OneTimeLink,
  OperatorChange,
  OperatorRecord,
  OperatorStore,
  OperatorTransaction,
} from '../ports/store-operators.js'
import type { Clock, Random } from '../ports/world.js'
import { OperatorError } from './errors.js'
import { hashOf, oidcCredential, signsInBy } from './oidc-credential.js'
import { checkOperatorName, checkRole, parseOperatorName } from './parse-operator.js'
import { type IssuedToken, issueToken } from './tokens.js'

/** How long a one-time link is valid, in milliseconds. */
export const linkMs = 24 * 60 * 60_000

/** The dependencies of the commands. */
export interface OperatorDeps {
  readonly operators: Pick<OperatorStore, 'list'>
  /** Runs every change, with its audit record. */
  readonly audited: Audited
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
}

/** Builds the commands. A plain link token is returned once and never stored. */
export function createOperatorCommands({ operators, audited, clock, random }: OperatorDeps): OperatorCommands {
  const linkOf = ({ hash }: IssuedToken): OneTimeLink => ({ hash, expiresAt: clock.now() + linkMs })

  async function insert(
    input: Parameters<OperatorCommands['create']>[0],
    proof: Pick<OperatorRecord, 'passphrase' | 'link'>,
  ): Promise<OperatorRecord> {
    const name = checkOperatorName(input.name)
    const role = checkRole(input.role ?? 'viewer')
    const record: OperatorRecord = { name, role, enabled: true, ...proof, createdAt: clock.now() }
    await audited(async (tx, note) => {
      if (!(await tx.operators.insert(record))) throw new OperatorError('ERR_OPERATOR_EXISTS', name)
      const isOidc = signsInBy(record) === 'oidc'
      note({ action: 'operator.created', subject: name, details: isOidc ? { role, signsInBy: 'oidc' } : { role } })
    })
    return record
  }

  /** Replaces what an operator proves itself by, and ends its sessions. */
  function reset(given: string, change: OperatorChange, options?: OperatorChangeOptions) {
    const name = knownName(given)
    return audited(async (tx, note) => {
      const before = await tx.operators.find(name)
      if (before?.enabled === false) throw new OperatorError('ERR_OPERATOR_DISABLED', name)
      const record = await tx.operators.update(name, change)
      if (record === null) throw new OperatorError('ERR_OPERATOR_NOT_FOUND', name)
      await checkAdmin(tx.operators, name, options)
      const endedSessions = await tx.operators.deleteSessionsOf(name)
      const isOidc = signsInBy(record) === 'oidc'
      note({
        action: 'operator.reset',
        subject: name,
        details: isOidc ? { endedSessions, signsInBy: 'oidc' } : { endedSessions },
      })
      return record
    })
  }

  return {
    async create(input) {
      const issued = issueToken('link', random)
      return issuedLink(await insert(input, { passphrase: null, link: linkOf(issued) }), issued)
    },
    async createForOidc(input) {
      return operatorView(await insert(input, { passphrase: oidcCredential, link: null }))
    },
    async list() {
      return (await operators.list()).map(operatorView)
    },
    async setEnabled(given, enabled, options) {
      const name = knownName(given)
      return audited(async (tx, note) => {
        const record = await tx.operators.update(name, enabled ? { enabled } : { enabled, link: null })
        if (record === null) throw new OperatorError('ERR_OPERATOR_NOT_FOUND', name)
        await checkAdmin(tx.operators, name, options)
        const sessions = enabled ? 0 : await tx.operators.deleteSessionsOf(name)
        note({
          action: enabled ? 'operator.enabled' : 'operator.disabled',
          subject: name,
          details: enabled ? {} : { endedSessions: sessions },
        })
        return operatorView(record)
      })
    },
    async setRole(given, text, options) {
      const name = knownName(given)
      const role = checkRole(text)
      return audited(async (tx, note) => {
        const before = await tx.operators.find(name)
        const record = await tx.operators.update(name, { role })
        if (before === null || record === null) throw new OperatorError('ERR_OPERATOR_NOT_FOUND', name)
        await checkAdmin(tx.operators, name, options)
        note({ action: 'operator.role_set', subject: name, details: { from: before.role, to: role } })
        return operatorView(record)
      })
    },
    async reset(given, options) {
      const issued = issueToken('link', random)
      return issuedLink(await reset(given, { passphrase: null, link: linkOf(issued) }, options), issued)
    },
    async resetForOidc(given) {
      return operatorView(await reset(given, { passphrase: oidcCredential, link: null }))
    },
  }
}

/**
 * Checks the operators after a change. Changes lock the audit log first, so two admins cannot remove each other.
 * @throws OperatorError `ERR_OPERATOR_LAST_ADMIN`.
 */
async function checkAdmin(
  operators: Pick<OperatorTransaction, 'list'>,
  changed: string,
  { keepsAdmin = false, hasOidc = false }: OperatorChangeOptions = {},
): Promise<void> {
  if (!keepsAdmin) return
  const canSignIn = (record: OperatorRecord) =>
    record.enabled && (signsInBy(record) === 'oidc' ? hasOidc : hashOf(record) !== null)
  const isLeft = (await operators.list()).some((each) => each.role === 'admin' && canSignIn(each))
  if (!isLeft) throw new OperatorError('ERR_OPERATOR_LAST_ADMIN', changed)
}

/** @throws OperatorError `ERR_OPERATOR_NOT_FOUND` when no operator can have the name. */
function knownName(given: string): string {
  const name = parseOperatorName(given)
  if (name === null) throw new OperatorError('ERR_OPERATOR_NOT_FOUND', given.slice(0, 64))
  return name
}

function issuedLink(record: OperatorRecord, { token }: IssuedToken): IssuedLink {
  return { operator: operatorView(record), linkToken: token }
}

function operatorView(record: OperatorRecord): OperatorView {
  const { name, role, enabled, link, createdAt } = record
  const hasPassphrase = hashOf(record) !== null
  return {
    name,
    role,
    enabled,
    createdAt,
    signsInBy: signsInBy(record),
    hasPassphrase,
    linkExpiresAt: link?.expiresAt ?? null,
  }
}
