/**
 * What the core tells whoever watches: the terminal, metrics, a test. Events carry no secrets and no bodies.
 * @module
 */
import type { PaymentState, UpdateOutcome } from '@payment-integration/contract'
import type { DeliveryStatus } from './ports/store-deliveries.js'
import type { AuditHead } from './service-types.js'

/** Which payment an event is about. */
export interface PaymentName {
  readonly chainId: number
  readonly txHash: string
  /** Null when the payment names no integration. */
  readonly integrationAddress: string | null
}

/** Emitted after the fact: what an event reports is already durable. */
export type ServiceEvent =
  | ({ readonly type: 'payment.indexed'; readonly blockNumber: number } & PaymentName)
  /** A further payment of a transaction: kept and shown by the legacy lookup, not by area (a). */
  | ({ readonly type: 'payment.additional'; readonly ordinal: number; readonly blockNumber: number } & PaymentName)
  | ({
      readonly type: 'payment.changed'
      readonly version: number
      readonly from: PaymentState | null
      readonly to: PaymentState | null
    } & PaymentName)
  | ({
      readonly type: 'update.settled'
      readonly updateId: string
      readonly outcome: UpdateOutcome
      readonly reason: string | null
    } & Pick<PaymentName, 'chainId' | 'txHash'>)
  | ({
      readonly type: 'delivery.attempted'
      readonly deliveryId: string
      readonly version: number
      readonly attempt: number
      /** HTTP status, or null when no answer arrived. */
      readonly status: number | null
      readonly reason: string | null
      readonly latencyMs: number
      /** Whether an operator asked for it. */
      readonly replay: boolean
      /**
       * When `outcome` is `delivered` and it was no replay: milliseconds from the commit of the snapshot to the answer,
       * else null.
       */
      readonly publishedMs: number | null
      /** Where the delivery stands after the attempt. */
      readonly outcome: DeliveryStatus
      /** When `outcome` is `pending`: milliseconds until the next attempt, else null. */
      readonly retryInMs: number | null
    } & PaymentName)
  /** A delivery is given up: it stays listed, and an operator can replay it. */
  | ({
      readonly type: 'delivery.exhausted'
      readonly deliveryId: string
      readonly version: number
      readonly reason: string | null
    } & PaymentName)
  /** An endpoint failed several times in a row: it is probed now and then, and gets nothing else. */
  | { readonly type: 'endpoint.failing'; readonly integrationAddress: string; readonly failingMs: number }
  /** An endpoint that was failing answers again: what waits for it is sent. */
  | { readonly type: 'endpoint.recovered'; readonly integrationAddress: string; readonly failingMs: number }
  | { readonly type: 'chain.indexed'; readonly chainId: number; readonly blockNumber: number; readonly head: number }
  | {
      readonly type: 'chain.reorganised'
      readonly chainId: number
      readonly from: number
      readonly commonAncestor: number
    }
  | { readonly type: 'chain.failed'; readonly chainId: number; readonly message: string }
  /** A router of the list that is read for the blocks before it was added. */
  | {
      readonly type: 'chain.backfilled'
      readonly chainId: number
      readonly router: string
      readonly blockNumber: number
      readonly to: number
    }
  /**
   * The newest record of the audit log, once a day: kept elsewhere it shows that nothing before it was cut off or
   * written anew.
   */
  | ({ readonly type: 'audit.head' } & AuditHead)
  /** A log of a listed router that is neither a payment nor a conversion: left out, and somebody should look at it. */
  | {
      readonly type: 'log.quarantined'
      readonly chainId: number
      readonly txHash: string
      readonly blockNumber: number
      readonly logIndex: number
      readonly reason: string
    }

/** Receives events. It must not throw; an exception is swallowed so that a watcher cannot stop the service. */
export type EventSink = (event: ServiceEvent) => void
