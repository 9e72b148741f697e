/** Shares a user's verification with the payment service, with a fresh token where the first was refused. @module */
import { type Client, isClientError, type ShareResult } from '@payment-integration/client'

/** What is shared, and with which tokens. */
export interface Sharing {
  readonly client: Pick<Client, 'identity'>
  readonly email: string
  /** Mints a share token for this user: another one with each call. */
  readonly mint: () => Promise<string>
  /** Tokens that are minted at most. @default 2 */
  readonly mostTokens?: number | undefined
}

/**
 * Mints a token, shares it, and resolves where the verification stands. A token that the provider refuses (422) may have expired or been used on
 * the way, so a fresh one is tried; every other error ends it, as a fresh token would not help. Call it again to ask, and after a rejection.
 */
export async function shareVerification({ client, email, mint, mostTokens = 2 }: Sharing): Promise<ShareResult> {
  for (let minted = 1; ; minted += 1) {
    // Right before it is sent: it is single use, expires after minutes, and belongs in no database.
    const kycShareToken = await mint()
    try {
      return await client.identity.share({ email, kycShareToken })
    } catch (error) {
      const isRefused = isClientError(error) && error.code === 'ERR_SHARE_TOKEN_REJECTED'
      if (!isRefused || minted >= mostTokens) throw error
    }
  }
}
