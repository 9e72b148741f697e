/** Decides which account gets a proven e-mail address. Source: docs/interface.md 4.2. @module */
import type { EmailProof, ProofRefusal } from '../ports/identity-accounts.js'
import type { Subject } from '../ports/store-identity.js'

/** The facts for the decision. */
export interface ProofFacts {
  /** The open subject of the address under its former owner; null: there is none. */
  readonly open: Subject | null
  /** All locked subjects of the account that proved the address. */
  readonly subjects: readonly Subject[]
  /** `host`: the host reported it. */
  readonly proof: EmailProof | { readonly kind: 'host' }
  /** The account that is signed in; null: the id is unknown; undefined: no account is signed in. */
  readonly signedIn: string | null | undefined
  /** The id for a new account. */
  readonly freshId: string
}

/** The decision. */
export type ProofDecision =
  | { readonly kind: 'refuse'; readonly reason: Extract<ProofRefusal, `not_${string}` | 'unknown_account'> }
  | {
      readonly kind: 'give'
      readonly accountId: string
      /** Subjects of other addresses that the account had proved: they stay with it, closed. */
      readonly closed: readonly Subject[]
      /** Subjects of other addresses that the account only carried: each goes to the next account that carries it. */
      readonly carried: readonly Subject[]
    }

/**
 * Decides. An attestation gives away a placeholder alone, never an account. It must come from the donor. An account
 * proves one address at a time.
 */
export function decideProof({ open, subjects, proof, signedIn, freshId }: ProofFacts): ProofDecision {
  if (proof.kind === 'attestation') {
    if (open !== null && open.accountId !== null) return { kind: 'refuse', reason: 'not_placeholder' }
    if (open === null || open.donor !== proof.integrationAddress.toLowerCase())
      return { kind: 'refuse', reason: 'not_donor' }
  }
  if (signedIn === null) return { kind: 'refuse', reason: 'unknown_account' }
  const accountId = signedIn ?? open?.accountId ?? freshId
  const others = subjects.filter(
    (each) => each.accountId === accountId && each.emailKey !== null && !each.closed && each.id !== open?.id,
  )
  return {
    ...{ kind: 'give', accountId },
    closed: others.filter(({ proved }) => proved),
    carried: others.filter(({ proved }) => !proved),
  }
}
