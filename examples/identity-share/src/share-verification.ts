/** Shares a user's verification, with a fresh token if that can help. @module */
import type { Client, ShareResult } from '@payment-integration/client'
import { askVerdict, isTokenRejected, type RejectedBefore, toRejectedBefore } from './ask-verdict.js'

/** Options of sharing. */
export interface Sharing {
  readonly client: Pick<Client, 'identity'>
  readonly email: string
  /** Mints a new share token for this user with each call. */
  readonly mint: () => Promise<string>
  /** The token of this user that the service redeemed last; null or absent before the first. */
  readonly usedToken?: string | null | undefined
  /**
   * Whether the user corrected the flaw, so that a fresh token helps after a rejection without `FINAL`. @default false
   */
  readonly isCorrected?: boolean | undefined
  /** Most tokens to mint. @default 2 */
  readonly maxTokens?: number | undefined
}

/** The status of the verification. */
export interface SharingResult {
  readonly result: ShareResult | RejectedBefore
  /** Store it with the user, to poll the verdict; null before a redemption. */
  readonly usedToken: string | null
}

/**
 * Shares a freshly minted token and resolves the status. With a used token it first polls, so call it again for the
 * verdict. Then it mints only if the service has no verification, or if the user corrected the flaw of a rejection.
 * After `FINAL` it never mints.
 *
 * A rejected fresh token (422) may have expired or been used meanwhile, so another one is minted. Every other error is
 * thrown.
 */
export async function shareVerification(sharing: Sharing): Promise<SharingResult> {
  const { client, email, mint, usedToken = null, isCorrected = false, maxTokens = 2 } = sharing
  if (usedToken !== null) {
    const result = await askVerdict({ client, email, usedToken })
    const isRetry = isCorrected && result?.kind === 'rejected_before' && result.rejectType !== 'FINAL'
    if (result !== null && !isRetry) return { result, usedToken }
  }
  for (let minted = 1; ; minted += 1) {
    // Minted right before sending: it is single use and expires after minutes.
    const kycShareToken = await mint()
    try {
      const result = await client.identity.share({ email, kycShareToken })
      return { result, usedToken: result.redeemed ? kycShareToken : usedToken }
    } catch (error) {
      if (!isTokenRejected(error)) throw error
      const rejected = toRejectedBefore(error)
      if (rejected?.rejectType === 'FINAL') return { result: rejected, usedToken }
      if (minted >= maxTokens) throw error
    }
  }
}
