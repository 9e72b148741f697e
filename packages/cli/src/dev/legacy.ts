/** The demo's part in the legacy API: a key, the merchant's account, and how a payment is looked up. @module */
import type { Service } from '@payment-integration/core'
import type { DemoChain } from './chain.js'
import type { LegacyReadyEvent } from './demo-events.js'
import type { PaymentPlan } from './plan.js'

/** The merchant's handle. */
export const accountHandle = 'demo-shop'

/** Issues a key and creates the merchant's account, which accepts the token of every payment. Resolves the key. */
export async function setUpLegacy(
  { accounts, legacyKeys }: Pick<Service, 'accounts' | 'legacyKeys'>,
  { chainId, merchant, token }: Pick<DemoChain, 'chainId' | 'merchant' | 'token'>,
): Promise<string> {
  const coins = [{ chainId, tokens: [{ symbol: token.symbol, address: token.address }] }]
  const [{ apiKey }] = await Promise.all([
    legacyKeys.create({ name: 'Demo' }),
    accounts.create({ handle: accountHandle, address: merchant, config: { coins } }),
  ])
  return apiKey
}

/** Says how a payment is looked up, and verified against what it cost: the token's worth is the invoice. */
export function legacyExample(options: {
  readonly serviceUrl: string
  readonly legacyApiKey: string
  readonly chainId: number
  readonly currency: string
}): (txHash: string, plan: Pick<PaymentPlan, 'settlementAmount'>) => LegacyReadyEvent {
  const { serviceUrl, legacyApiKey, chainId, currency } = options
  return (txHash, { settlementAmount }) => ({
    event: 'legacy.ready',
    chainId: String(chainId),
    txHash,
    legacyApiKey,
    lookupUrl: `${serviceUrl}/api/v1/tx/${chainId}/${txHash}`,
    verifyUrl: `${serviceUrl}/api/v1/verify`,
    verifyRequest: {
      chainId,
      txHash,
      invoiceAmount: settlementAmount,
      invoiceCurrency: currency,
      address: accountHandle,
    },
    referenceUrl: `${serviceUrl}/reference`,
  })
}
