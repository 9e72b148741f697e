/** Calls the legacy API over HTTP, and builds prices. */
import type { PriceFeedFacts, PricingFacts } from '@payment-integration/core/ports'
import type { Clauses } from './clause-service.js'

/** Opens the legacy API with a key that was just issued. */
export async function legacyCalls({ url, service }: Pick<Clauses, 'url' | 'service'>) {
  const { apiKey } = await service.legacyKeys.create({ name: 'clauses' })

  /** The body is loosely typed JSON: tests check its content. */
  async function getAnswer(response: Response) {
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
  }
  return {
    apiKey,
    lookup: async (txHash: string, chainId: number | string = 1, authorization: string = apiKey) =>
      getAnswer(await fetch(`${url}/api/v1/tx/${chainId}/${txHash}`, { headers: { authorization } })),
    verify: async (body: object) => {
      const headers = { authorization: apiKey, 'content-type': 'application/json' }
      return getAnswer(await fetch(`${url}/api/v1/verify`, { method: 'POST', headers, body: JSON.stringify(body) }))
    },
  }
}

/** Prices without a conversion, in a listed token worth a dollar by default. */
export function pricing(overrides: Partial<PricingFacts> = {}): PricingFacts {
  const listedToken = { symbol: 'USDC', currency: 'USD' }
  return { listedToken, feeds: [], calledAmount: null, serviceFee: null, ...overrides }
}

/** One step of a conversion, with a listed feed of 8 decimals. */
export function feed(use: PriceFeedFacts['use'], [base, quote]: readonly [string, string], rate: bigint) {
  return { use, contract: `0x${'fe'.repeat(20)}`, pair: { base, quote }, rate, decimals: 8 }
}
