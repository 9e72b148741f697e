/** The demo's reader: reads payments back over the API and holds them against the receiver's copy. @module */
import { isDeepStrictEqual } from 'node:util'
import { createClient } from '@payment-integration/client'
import type { Snapshot } from '@payment-integration/webhook'

/** Outcome of a comparison. */
export interface Comparison {
  /** Null when both agree, else which field does not. */
  readonly difference: string | null
  readonly state: string | null
}

/** Reads and compares. */
export interface DemoReader {
  /** Reads the payment over the API. Rejects with the client's errors when it cannot be read. */
  compare(txHash: string, signal?: AbortSignal): Promise<Comparison>
}

/** A reader with the integration's credentials; `stored` looks into the receiver's own database. */
export function createDemoReader(options: {
  readonly serviceUrl: string
  readonly integrationAddress: string
  readonly apiSecret: string
  readonly stored: (payment: Pick<Snapshot, 'chainId' | 'txHash'>) => Snapshot | null
}): DemoReader {
  const client = createClient({
    baseUrl: options.serviceUrl,
    integrationAddress: options.integrationAddress,
    apiSecret: options.apiSecret,
  })
  return {
    async compare(txHash, signal) {
      const payment = await client.payments.get(txHash, signal ? { signal } : {})
      const stored = options.stored(payment)
      if (stored === null) return { state: payment.state, difference: 'The receiver stored nothing.' }
      // A payment has every field of its notification. Source: INTERFACE 2.1, last lines of the table.
      const read: Readonly<Record<string, unknown>> = payment
      const [field] = Object.entries(stored).find(([name, value]) => !isDeepStrictEqual(read[name], value)) ?? []
      return {
        state: payment.state,
        difference: field === undefined ? null : `The API and the receiver disagree about "${field}".`,
      }
    },
  }
}
