/**
 * An integrator's endpoint over HTTP. It verifies and records deliveries, sometimes fails, and sometimes its answer is
 * lost.
 * @module
 */
import { signatureHeader, verifySignature } from '@payment-integration/webhook'
import type { Reply } from '../node/calls.js'
import type { Draws } from '../random.js'
import { type Received, readSnapshot } from '../world/receiver.js'
import type { FrontRequest } from './http-front.js'

/** The endpoint. */
export interface RealReceiver {
  readonly received: readonly Received[]
  /** Deliveries with a wrong signature. */
  readonly refused: number
  answer(request: FrontRequest): Promise<Reply>
  heal(): void
}

const status = (code: number): Reply => ({ kind: 'answer', status: code, headers: {}, body: '' })

/**
 * Opens the endpoint.
 * @param secrets - The signing secrets of its integrations.
 * @param now - The clock of the service.
 */
export function createRealReceiver(draws: Draws, secrets: readonly string[], now: () => number): RealReceiver {
  const received: Received[] = []
  let refused = 0
  let healed = false
  return {
    received,
    get refused() {
      return refused
    },
    heal() {
      healed = true
    },
    async answer({ headers, body }) {
      const trouble = healed ? 1 : draws.fraction()
      if (trouble < 0.05) return { kind: 'reset' }
      if (trouble < 0.1) return status(500)
      try {
        await verifySignature({ body, header: headers[signatureHeader.toLowerCase()], secrets, now })
      } catch {
        refused += 1
        return status(401)
      }
      received.push(readSnapshot(body.toString('utf8')))
      // It was accepted, but the answer is lost.
      return trouble < 0.15 ? { kind: 'reset' } : status(204)
    },
  }
}
