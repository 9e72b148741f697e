/** Asks what became of a shared verification, and redeems nothing. @module */
import { type Client, isClientError, type ShareResult, type ShareTokenRejectedError } from '@payment-integration/client'

/** The verification shared before was rejected. */
export interface RejectedBefore {
  readonly kind: 'rejected_before'
  /** `FINAL`: stop. `RETRY`: the user corrects it, then a fresh token is shared. Null: the provider did not say. */
  readonly rejectType: 'RETRY' | 'FINAL' | null
  /** The words of the service, with the labels at their end: for you, and not for the user. */
  readonly message: string
}

/** What an earlier share left. */
export interface Shared {
  readonly client: Pick<Client, 'identity'>
  readonly email: string
  /** A token of this user that the service redeemed. It opens nothing any more, so it may be kept. */
  readonly usedToken: string
}

/**
 * Shares the redeemed token again: while the check runs and after an approval the service answers where it stands, and
 * after a rejection it answers 422 with the former verdict. Null: the service has nothing of this user to show. Every
 * other error is thrown on.
 */
export async function askVerdict({ client, email, usedToken }: Shared): Promise<ShareResult | RejectedBefore | null> {
  try {
    return await client.identity.share({ email, kycShareToken: usedToken })
  } catch (error) {
    if (!isTokenRejected(error)) throw error
    return rejectedBefore(error)
  }
}

/** Whether the provider rejected the token (422). */
export function isTokenRejected(error: unknown): error is ShareTokenRejectedError {
  return isClientError(error) && error.code === 'ERR_SHARE_TOKEN_REJECTED'
}

/** The former verdict of a 422; null when it has none. */
export function rejectedBefore({ formerVerdict, providerMessage }: ShareTokenRejectedError): RejectedBefore | null {
  if (formerVerdict === null) return null
  return { kind: 'rejected_before', rejectType: formerVerdict.rejectType, message: providerMessage }
}
