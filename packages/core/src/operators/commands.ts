/** Manages operators. Source: docs/decisions/operators.md. @module */
import type { Audited } from '../audit/audited.js'
import type { IssuedLink, OperatorChangeOptions, OperatorCommands, OperatorView } from '../operator-types.js'
import type { OneTimeLink, OperatorRecord, OperatorStore, OperatorTransaction } from '../ports/store-operators.js'
import type { Clock, Random } from '../ports/world.js'
import { OperatorError } from './errors.js'
import { checkOperatorName, checkRole, parseOperatorName } from './parse-operator.js'
import { type IssuedToken, issueToken } from './tokens.js'

/** How long a one-time link is valid, in milliseconds. */
export const linkMs = 24 * 60 * 60_000

/** What the commands need. */
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
  return {
    async create(input) {
      const name = checkOperatorName(input.name)
      const role = checkRole(input.role ?? 'viewer')
      const issued = issueToken('link', random)
      const link = linkOf(issued)
      const record: OperatorRecord = { name, role, enabled: true, passphrase: null, link, createdAt: clock.now() }
      await audited(async (tx, note) => {
        if (!(await tx.operators.insert(record))) throw new OperatorError('ERR_OPERATOR_EXISTS', name)
        note({ action: 'operator.created', subject: name, details: { role } })
      })
      return issuedLink(record, issued)
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
      const name = knownName(given)
      const issued = issueToken('link', random)
      const link = linkOf(issued)
      return audited(async (tx, note) => {
        const before = await tx.operators.find(name)
        if (before?.enabled === false) throw new OperatorError('ERR_OPERATOR_DISABLED', name)
        const record = await tx.operators.update(name, { passphrase: null, link })
        if (record === null) throw new OperatorError('ERR_OPERATOR_NOT_FOUND', name)
        await checkAdmin(tx.operators, name, options)
        const endedSessions = await tx.operators.deleteSessionsOf(name)
        note({ action: 'operator.reset', subject: name, details: { endedSessions } })
        return issuedLink(record, issued)
      })
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
  { keepsAdmin = false }: OperatorChangeOptions = {},
): Promise<void> {
  if (!keepsAdmin) return
  const isLeft = (await operators.list()).some((each) => each.enabled && each.role === 'admin' && each.passphrase)
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

function operatorView({ name, role, enabled, passphrase, link, createdAt }: OperatorRecord): OperatorView {
  const linkExpiresAt = link?.expiresAt ?? null
  return { name, role, enabled, createdAt, hasPassphrase: passphrase !== null, linkExpiresAt }
}
