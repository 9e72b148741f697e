/** Polls the verdict of a shared verification, without a redemption. @module */
import { type Client, isClientError, type ShareResult, type ShareTokenRejectedError } from '@payment-integration/client'

/** The verification shared before was rejected. */
export interface RejectedBefore {
  readonly kind: 'rejected_before'
  /** `FINAL`: stop. `RETRY`: the user corrects it, then share a fresh token. Null: the provider gave no type. */
  readonly rejectType: 'RETRY' | 'FINAL' | null
  /** The message of the service, with the labels at its end: for you, and not for the user. */
  readonly message: string
}

/** The state after an earlier share. */
export interface Shared {
  readonly client: Pick<Client, 'identity'>
  readonly email: string
  /** A redeemed token of this user. It cannot be redeemed again, so it may be stored. */
  readonly usedToken: string
}

/**
 * Shares the redeemed token again. During the check and after an approval the service answers the status. After a
 * rejection it answers 422 with the former verdict. Null: the service has no verification of this user. Every other
 * error is rethrown.
 */
export async function askVerdict({ client, email, usedToken }: Shared): Promise<ShareResult | RejectedBefore | null> {
  try {
    return await client.identity.share({ email, kycShareToken: usedToken })
  } catch (error) {
    if (!isTokenRejected(error)) throw error
    return toRejectedBefore(error)
  }
}

/** Whether the provider rejected the token (422). */
export function isTokenRejected(error: unknown): error is ShareTokenRejectedError {
  return isClientError(error) && error.code === 'ERR_SHARE_TOKEN_REJECTED'
}

/** The former verdict of a 422; null when it has none. */
export function toRejectedBefore({ formerVerdict, providerMessage }: ShareTokenRejectedError): RejectedBefore | null {
  if (formerVerdict === null) return null
  return { kind: 'rejected_before', rejectType: formerVerdict.rejectType, message: providerMessage }
}
