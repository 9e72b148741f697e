/** The demo's payment processor: sends signed updates to the service over HTTP. @module */
import { startTimeLimit } from '@payment-integration/contract/answers'
import { signatureHeader } from '@payment-integration/webhook'
import { signDelivery } from '@payment-integration/webhook/signing'
import { DemoError } from '../errors.js'
import type { PlannedUpdate } from './plan.js'

/** The body of an update. */
export interface DemoUpdate extends PlannedUpdate {
  readonly id: string
  readonly chainId: string
  readonly txHash: string
}

/** Sends updates to one service. */
export interface DemoProcessor {
  /**
   * Posts one update.
   * @returns The payment's new version, or null while the update waits for the payment to be indexed.
   * @throws DemoError `ERR_DEMO` when the service rejects it; errors of `fetch` without an answer.
   */
  send(update: DemoUpdate, signal?: AbortSignal): Promise<number | null>
}

const timeoutMs = 10_000

/** Creates a processor that signs with `secret`, as `POST /api/v1/processor/updates` requires. */
export function createDemoProcessor(options: {
  readonly serviceUrl: string
  readonly secret: string
  readonly now: () => number
}): DemoProcessor {
  const url = new URL('/api/v1/processor/updates', options.serviceUrl)
  return {
    async send(update, signal) {
      const body = new TextEncoder().encode(JSON.stringify(update))
      const timestamp = Math.floor(options.now() / 1000)
      const signature = await signDelivery({ secret: options.secret, timestamp, body })
      const limit = startTimeLimit(timeoutMs, signal)
      try {
        const response = await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', [signatureHeader]: signature },
          body,
          signal: limit.signal,
        })
        const answer = (await response.json()) as { version?: number | null; reason?: string | null; error?: string }
        if (!response.ok)
          throw new DemoError(
            `The service answered ${response.status} to the processor's update ${update.state}: ${answer.reason ?? answer.error ?? 'no reason given'}.`,
          )
        return answer.version ?? null
      } finally {
        limit.end()
      }
    },
  }
}
