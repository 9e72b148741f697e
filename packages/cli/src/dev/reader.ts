/** The demo's reader: compares payments of the API with the receiver's copies. @module */
import { isDeepStrictEqual } from 'node:util'
import { createClient } from '@payment-integration/client'
import type { Snapshot } from '@payment-integration/webhook'

/** Result of a comparison. */
export interface Comparison {
  /** Null when both agree, else a sentence with the field that differs. */
  readonly difference: string | null
  readonly state: string | null
}

/** Reads and compares. */
export interface DemoReader {
  /** Reads the payment over the API and compares it. Rejects with errors of the client. */
  compare(txHash: string, signal?: AbortSignal): Promise<Comparison>
}

/** Creates a reader with the integration's credentials. `stored` reads the receiver's database. */
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
      // A payment has every field of its notification: docs/interface.md 2.1, last lines of the table.
      const read: Readonly<Record<string, unknown>> = payment
      const [field] = Object.entries(stored).find(([name, value]) => !isDeepStrictEqual(read[name], value)) ?? []
      return {
        state: payment.state,
        difference: field === undefined ? null : `The API and the receiver disagree about "${field}".`,
      }
    },
  }
}
