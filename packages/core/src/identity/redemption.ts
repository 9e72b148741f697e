/**
 * A redemption's times, name, log entry and lock. Source: docs/decisions/identity.md; docs/decisions/identity.md.
 * @module
 */
import type { IdentityProvider } from '../ports/identity-provider.js'
import type { Store } from '../ports/store.js'
import type { ShareOutcome, ShareRecord, Subject } from '../ports/store-identity.js'
import type { StoreTransaction } from '../ports/store-transaction.js'
import type { Clock, Logger } from '../ports/world.js'

/** What the use cases of identity work with. */
export interface IdentityParts {
  readonly store: Pick<Store, 'transaction' | 'identity'>
  readonly provider: Pick<IdentityProvider, 'find' | 'review'>
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Logger
}

/**
 * Within this time after signing, in milliseconds, the provider carries out a redemption, or never: it refuses a
 * signature that is a minute from its clock. The rest is for clocks that differ, and for a request that arrived there.
 */
export const landingMs = 90_000

/** How long a lease runs, in milliseconds: a request of its first half minute has landed when it ends. */
export const redemptionLeaseMs = landingMs + 30_000

/** How far the provider's clock may be from this service's, in milliseconds: further, and it accepts no signature. */
export const clockSkewMs = 60_000

/** When a name is first looked up after a lost answer, in milliseconds. */
export const lostAnswerMs = 5_000

/** When a look-up without an answer is repeated, in milliseconds. */
export const repeatLookUpMs = 60_000

/** How often an absent or unresolved name is looked up again, in milliseconds. */
export const openLookUpMs = 60 * 60_000

/** For how long an absent name is looked up again, in milliseconds. */
export const absentForMs = 24 * 60 * 60_000

/** Most names of one person that one request looks up. */
export const mostLookedUp = 10

/** Default name space. */
export const defaultNamespace = 'pi'

/**
 * Checks a name space, which tells this service and environment from others that share the client at the provider.
 * @throws TypeError When it is not 1 to 32 letters, digits, dots, dashes or underscores.
 */
export function checkNamespace(namespace: string): string {
  if (/^[A-Za-z0-9._-]{1,32}$/.test(namespace)) return namespace
  throw new TypeError('The name space of applicants is not 1 to 32 letters, digits, dots, dashes or underscores.')
}

/** The applicant's name at the provider: the same for one redemption, and of no other. @param number - From 1. */
export function externalUserIdOf(namespace: string, subjectId: string, number: number): string {
  return `${namespace}:${subjectId}:${number}`
}

/** Whose share it is. */
export type Sharer = Pick<ShareRecord, 'integrationAddress' | 'subjectId'> &
  Partial<Pick<ShareRecord, 'externalUserId'>>

/** One entry of the log of shares. @param at - Unix milliseconds. @param providerCode - The number of a refusal. */
export function shareEntry(
  at: number,
  { integrationAddress, subjectId, externalUserId = null }: Sharer,
  outcome: ShareOutcome,
  providerCode: number | null = null,
): ShareRecord {
  return { at, integrationAddress, subjectId, outcome, externalUserId, providerCode }
}

/** Locks the person of a subject, and resolves the subject. */
export async function lockSubject(
  { identity }: Pick<StoreTransaction, 'identity'>,
  subjectId: string,
): Promise<Subject> {
  const subject = (await identity.lockPersons({ subjectId })).find(({ id }) => id === subjectId)
  if (subject === undefined) throw new Error(`There is no subject ${subjectId}.`)
  return subject
}
