/** An integrator's endpoint in memory; it records deliveries and sometimes fails. @module */
import type { PostRequest, PostResult, Sender } from '@payment-integration/core/ports'
import type { Draws } from '../random.js'

/** A snapshot as it arrived. */
export interface Received {
  readonly key: string
  readonly version: number
  readonly state: string | null
  readonly body: string
}

export interface Receiver extends Sender {
  /** Everything received, in order, with repeats. */
  readonly received: readonly Received[]
  /** Stops all failures. */
  heal(): void
}

export function createReceiver(draws: Draws): Receiver {
  const received: Received[] = []
  let isHealed = false
  return {
    received,
    heal() {
      isHealed = true
    },
    async post({ body }: PostRequest): Promise<PostResult> {
      const draw = isHealed ? 1 : draws.fraction()
      if (draw < 0.1) return { kind: 'failure', reason: 'connection', latencyMs: 1 }
      if (draw < 0.2) return { kind: 'answer', status: 500, retryAfter: null, excerpt: null, latencyMs: 1 }
      received.push(parseSnapshot(Buffer.from(body).toString('utf8')))
      // The endpoint has accepted the delivery, but its answer is lost.
      if (draw < 0.3) return { kind: 'failure', reason: 'timeout', latencyMs: 10_000 }
      return { kind: 'answer', status: 204, retryAfter: null, excerpt: null, latencyMs: 1 }
    },
  }
}

export function parseSnapshot(body: string): Received {
  const { chainId, txHash, version, state } = JSON.parse(body) as Record<string, string | number | null>
  return { key: `${chainId}:${txHash}`, version: Number(version), state: state === null ? null : String(state), body }
}
