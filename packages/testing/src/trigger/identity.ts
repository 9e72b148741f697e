/** The identity provider of a trigger, on a local provider. @module */
import type { ProviderControl } from '../identity-provider/control.js'
import type { TriggerIdentity } from './context.js'

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
