/** Who gets an address that somebody proved, and what becomes of its verification. Source: INTERFACE 4.2; docs/decisions/identity.md (accounts). @module */
import type { EmailProof, IdentityAccount, ProofRefusal } from '../ports/identity-accounts.js'
import type { Verification } from '../ports/store-verifications.js'

/** Whom a verification names that its user did directly: no integration shared it. */
export const selfDonor = 'self'

/** What an account without a verification has. */
export const nothingShared = {
  ...{ donor: null, applicantId: null, attempt: null, review: null, reviewedAt: null },
  ...{ doubt: null, presence: null, missing: null },
} as const

/** What is known when an address is proven. */
export interface ClaimFacts {
  /** The account that the address resolves to. */
  readonly held: IdentityAccount
  /** Who shared the verification of that account; it matters to an attestation alone. */
  readonly donor: string | null
  readonly proof: EmailProof
  /** The account that it is proven for, where somebody is signed in: null is none of that id, undefined nobody. */
  readonly prover?: IdentityAccount | null | undefined
}

/** What to do. */
export type ClaimDecision =
  | { readonly kind: 'give'; readonly accountId: string }
  | { readonly kind: 'refuse'; readonly reason: Extract<ProofRefusal, `not_${string}` | 'unknown_account'> }

/**
 * Decides. An attestation takes a placeholder alone, and only the one whose verification that integration shared: an account that is somebody's is taken
 * by nobody's word.
 */
export function decideClaim({ held, donor, proof, prover }: ClaimFacts): ClaimDecision {
  if (proof.kind === 'attestation') {
    if (held.kind !== 'placeholder') return { kind: 'refuse', reason: 'not_placeholder' }
    if (donor === null || donor !== proof.integrationAddress.toLowerCase())
      return { kind: 'refuse', reason: 'not_donor' }
  }
  if (prover === null) return { kind: 'refuse', reason: 'unknown_account' }
  return { kind: 'give', accountId: prover?.accountId ?? held.accountId }
}

/**
 * Whether a verification goes along when its address goes from one account to another: what was shared was shared for the address, so it goes to whoever
 * proved it. What a user did directly stays with the account that did it, and one whose redemption is under way stays, since its end is written where it was begun.
 */
export function leaves({ donor, claim }: Verification): boolean {
  return donor !== null && donor !== selfDonor && claim === null
}

/** Whether an account takes what comes along with an address. A verification of its own is never displaced, nor is a redemption that is under way. */
export function takes({ donor, claim }: Verification): boolean {
  return donor === null && claim === null
}

/** What becomes of a verification that its user did directly. */
export type DirectDecision = 'recorded' | 'kept' | 'busy'

/**
 * Decides. One that an integration shared and that is approved stays, and so does a newer word on the same; while a redemption runs its end is waited for. Anything
 * else is replaced.
 */
export function decideDirect(found: Verification, at: number): DirectDecision {
  if (found.claim !== null && !found.claim.lapsed) return 'busy'
  if (found.donor === selfDonor) return found.reviewedAt !== null && found.reviewedAt > at ? 'kept' : 'recorded'
  const isApproved = found.review?.reviewStatus === 'completed' && found.review.reviewAnswer === 'GREEN'
  return found.donor !== null && isApproved ? 'kept' : 'recorded'
}
