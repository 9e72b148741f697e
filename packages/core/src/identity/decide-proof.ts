/** Decides which account gets a proven e-mail address. Source: docs/interface.md 4.2. @module */
import type { EmailProof, ProofRefusal } from '../ports/identity-accounts.js'
import type { Subject } from '../ports/store-identity.js'

/** What is known when an address is proven. */
export interface ProofFacts {
  /** The open subject of the address, by its owner so far; null: there is none. */
  readonly open: Subject | null
  /** All subjects of the prover that are locked. */
  readonly subjects: readonly Subject[]
  /** `host`: the host's word for it. */
  readonly proof: EmailProof | { readonly kind: 'host' }
  /** The account that is signed in; null: there is none of that id; undefined: nobody is. */
  readonly signedIn: string | null | undefined
  /** The id of the account where a new one is made. */
  readonly freshId: string
}

/** Who gets a proven address. */
export type ProofDecision =
  | { readonly kind: 'refuse'; readonly reason: Extract<ProofRefusal, `not_${string}` | 'unknown_account'> }
  | {
      readonly kind: 'give'
      readonly accountId: string
      /** The prover's subjects of other addresses. It had proved those: they stay with it, closed. */
      readonly closed: readonly Subject[]
      /** It only carried those: they go to the next account that does. */
      readonly letGo: readonly Subject[]
    }

/**
 * Decides. An attestation takes a placeholder alone, and only from the integration that shared for it: nobody's word
 * takes an account. An account proves one address at a time.
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
    letGo: others.filter(({ proved }) => !proved),
  }
}
