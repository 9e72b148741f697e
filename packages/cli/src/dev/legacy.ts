/** Sets up the legacy API for the demo: a key, the merchant's account, example requests. @module */
import type { Service } from '@payment-integration/core'
import type { DemoChain } from './chain.js'
import type { LegacyReadyEvent } from './demo-events.js'
import type { PaymentPlan } from './plan.js'

/** The merchant's handle. */
export const accountHandle = 'demo-shop'

/** Creates a key, and the merchant's account with the token of all payments. Resolves the key. */
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

/** Builds the requests that look up and verify a payment: its invoice is the value of the paid token. */
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
