/** How long claims are held, and by when a token has landed. Source: DESIGN section 5.4; docs/decisions/identity.md. @module */

/**
 * Within this time after it was signed, in milliseconds, a redemption is carried out at the provider, or never: it refuses a signature that is a minute
 * from its own clock. The rest is for clocks that differ, and for a request that is already under way there.
 */
export const landingMs = 90_000

/** How long a claim is held, in milliseconds: what is sent in its first half minute has landed when it ends, and a look-up tells whether it did. */
export const claimLeaseMs = landingMs + 30_000

/** How far the provider's clock may be from this service's, in milliseconds: further, and it believes no signature. */
export const clockSkewMs = 60_000

/** For how long a name that nobody had is looked up again before the next redemption, in milliseconds. */
export const absentForMs = 24 * 60 * 60_000

/** Most names of one account that are looked up at a time. */
export const mostLookedUp = 10

/** How long a caller is asked to wait when the provider names no time, in milliseconds. */
export const patienceMs = 5_000

/** When the provider is first asked about a redemption whose answer was lost, in milliseconds. */
export const lostAnswerMs = 5_000
