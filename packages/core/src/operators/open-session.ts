/** Opens the session of an operator who proved to be one. Source: docs/decisions/operators.md. @module */
import type { Audited } from '../audit/audited.js'
import type { NewSession, SignedInOperator } from '../operator-types.js'
import type { OperatorRecord } from '../ports/store-operators.js'
import type { Clock, Random } from '../ports/world.js'
import { issueToken } from './tokens.js'

/** How long a session lasts, in milliseconds. */
export const sessionMs = 12 * 60 * 60_000

/** The most open sessions of one operator, and of one integration: a further sign-in ends the oldest. */
export const maxSessions = 20

/** The dependencies of {@link openSession}. */
export interface OpenSessionDeps {
  /** Runs changes with their audit record, in the name of an actor. */
  readonly auditedAs: (actor: string) => Audited
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
}

/** The actor of an operator's acts in the audit log. */
export const operatorActor = (name: string): string => `operator:${name}`

/**
 * Opens a session; null: the operator was disabled or reset since it was read.
 * @param input.newHash - Replaces an outdated hash of the passphrase; null: there is none to replace.
 * @param input.details - Of the audit record.
 */
export async function openSession(
  { auditedAs, clock, random }: OpenSessionDeps,
  read: OperatorRecord,
  { newHash, details }: { readonly newHash: string | null; readonly details: Readonly<Record<string, string>> },
): Promise<NewSession | null> {
  const { name } = read
  const { token, hash } = issueToken('session', random)
  const createdAt = clock.now()
  const session = { hash, operator: name, createdAt, expiresAt: createdAt + sessionMs }
  return auditedAs(operatorActor(name))(async (tx, note) => {
    const current = await tx.operators.find(name)
    if (current === null || !current.enabled || current.passphrase !== read.passphrase) return null
    if (newHash !== null) await tx.operators.update(name, { passphrase: newHash })
    await tx.operators.deleteExpiredSessions(createdAt)
    await tx.operators.keepNewestSessions(name, maxSessions - 1)
    await tx.operators.insertSession(session)
    note({ action: 'operator.signed_in', subject: name, details })
    return { operator: signedIn(current), sessionToken: token, expiresAt: session.expiresAt }
  })
}

/** The parts of an operator that a host sees. */
export function signedIn({ name, role }: OperatorRecord): SignedInOperator {
  return { name, role }
}
