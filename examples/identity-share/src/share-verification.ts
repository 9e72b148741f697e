/** Shares a user's verification with the payment service, with a fresh token where that can help. @module */
import type { Client, ShareResult } from '@payment-integration/client'
import { askVerdict, isTokenRejected, type RejectedBefore, rejectedBefore } from './ask-verdict.js'

/** What is shared, and with which tokens. */
export interface Sharing {
  readonly client: Pick<Client, 'identity'>
  readonly email: string
  /** Mints a share token for this user: another one with each call. */
  readonly mint: () => Promise<string>
  /** The token of this user that the service redeemed last; null or absent before the first. */
  readonly usedToken?: string | null | undefined
  /**
   * The user corrected what was wrong: a fresh token is shared after a rejection that is not `FINAL`. @default false
   */
  readonly isCorrected?: boolean | undefined
  /** Tokens that are minted at most. @default 2 */
  readonly mostTokens?: number | undefined
}

/** Where the verification stands. */
export interface SharingResult {
  readonly result: ShareResult | RejectedBefore
  /** Keep it beside the user, to ask with; null before a token was redeemed. */
  readonly usedToken: string | null
}

/**
 * Shares a freshly minted token, and resolves where the verification stands. With a used token it asks first, and mints
 * one only where the service has nothing to show, or after a rejection once the user has corrected what was wrong: so
 * call it again to ask. After `FINAL` it never mints.
 *
 * A fresh token that the provider rejects (422) may have expired or been used on the way, so another one is minted;
 * every other error ends it.
 */
export async function shareVerification(sharing: Sharing): Promise<SharingResult> {
  const { client, email, mint, usedToken = null, isCorrected = false, mostTokens = 2 } = sharing
  if (usedToken !== null) {
    const result = await askVerdict({ client, email, usedToken })
    const isRetry = isCorrected && result?.kind === 'rejected_before' && result.rejectType !== 'FINAL'
    if (result !== null && !isRetry) return { result, usedToken }
  }
  for (let minted = 1; ; minted += 1) {
    // Right before it is sent: it is single use, and expires after minutes.
    const kycShareToken = await mint()
    try {
      const result = await client.identity.share({ email, kycShareToken })
      return { result, usedToken: result.redeemed ? kycShareToken : usedToken }
    } catch (error) {
      if (!isTokenRejected(error)) throw error
      const rejected = rejectedBefore(error)
      if (rejected?.rejectType === 'FINAL') return { result: rejected, usedToken }
      if (minted >= mostTokens) throw error
    }
  }
}
