/** The identity provider of a trigger, on a local provider. @module */
import type { TriggerVerdict } from '@payment-integration/contract'
import type { ProviderControl } from './control.js'

/** What the scenario `kyc` needs of an identity provider. */
export interface TriggerIdentity {
  /** A new share token of a new verified user. */
  mint(): string
  /** Decides on the verification that a share token was redeemed for. */
  decide(shareToken: string, verdict: TriggerVerdict): void
}

/** Uses a local provider. @param clients - The donor's client id, and the service's. */
export function triggerIdentity(
  provider: Pick<ProviderControl, 'addApplicant' | 'mintShareToken' | 'redemptions' | 'approve' | 'reject'>,
  clients: { readonly donor: string; readonly service: string },
): TriggerIdentity {
  return {
    mint() {
      const { id: applicantId } = provider.addApplicant({ clientId: clients.donor })
      return provider.mintShareToken({ applicantId, forClientId: clients.service })
    },
    decide(shareToken, verdict) {
      const redemption = provider.redemptions.find(({ token }) => token === shareToken)
      if (redemption === undefined) throw new RangeError('This share token was not redeemed.')
      if (verdict === 'green') provider.approve(redemption.applicantId)
      else provider.reject(redemption.applicantId, { rejectType: verdict === 'red-final' ? 'FINAL' : 'RETRY' })
    },
  }
}
