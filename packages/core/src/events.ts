/** The events of the core. They carry no secrets and no bodies. @module */
import type { PaymentState, UpdateOutcome } from '@payment-integration/contract'
import type { AuditHead } from './history/audit-store.js'
import type { SettledStatus } from './notifications/delivery-store.js'
import type { PaymentFacts } from './payments/payment.js'

export type PaymentKey = Pick<PaymentFacts, 'chainId' | 'txHash' | 'integrationAddress'>
type LogPosition = Pick<PaymentFacts, 'chainId' | 'txHash' | 'blockNumber' | 'logIndex'>

/** The event of a stored change follows the commit. It is lost if the process or its connection breaks in between. */
export type ServiceEvent =
  /** A payment is stored for the first time. */
  | ({ readonly type: 'payment.indexed' } & PaymentKey & Pick<PaymentFacts, 'blockNumber' | 'blockTimestamp'>)
  /** A payment that is not primary in its transaction: the legacy look-up shows it, the read API does not. */
  | ({ readonly type: 'payment.additional'; readonly ordinal: number; readonly blockNumber: number } & PaymentKey)
  /** A payment has a new version. */
  | ({
      readonly type: 'payment.changed'
      readonly version: number
      readonly from: PaymentState | null
      readonly to: PaymentState | null
    } & PaymentKey)
  /** A processor's update or a receipt was decided, or waits for its payment. */
  | ({
      readonly type: 'update.settled'
      readonly updateId: string
      readonly outcome: UpdateOutcome
      readonly reason: string | null
    } & PaymentKey)
  /** An attempt of a delivery ended. */
  | ({
      readonly type: 'delivery.attempted'
      readonly deliveryId: string
      readonly version: number
      readonly attempt: number
      /** HTTP status, or null when no answer arrived. */
      readonly status: number | null
      readonly reason: string | null
      readonly latencyMs: number
      /** Whether an operator requested this attempt. */
      readonly replay: boolean
      /** Milliseconds from the snapshot's commit to the answer; null for a replay or a failed attempt. */
      readonly publishedMs: number | null
      /** State of the delivery after the attempt. */
      readonly outcome: SettledStatus
      /** If `outcome` is `pending`: milliseconds until the next attempt. Else null. */
      readonly retryInMs: number | null
    } & PaymentKey)
  /** A delivery is exhausted: it stays listed, and an operator can replay it. */
  | ({
      readonly type: 'delivery.exhausted'
      readonly deliveryId: string
      readonly version: number
      readonly reason: string | null
    } & PaymentKey)
  /** An endpoint failed several times in a row: until it answers, it gets only probes and replays. */
  | {
      readonly type: 'endpoint.failing'
      readonly integrationAddress: string
      /** Failed attempts in a row. */
      readonly failures: number
      /** Until then only replays are sent, then a probe: unix time in milliseconds, by the store's clock. */
      readonly blockedUntil: number
      readonly failingMs: number
    }
  /** A failing endpoint answers again: its backlog is sent. */
  | { readonly type: 'endpoint.recovered'; readonly integrationAddress: string; readonly failingMs: number }
  /** The blocks up to `blockNumber` are indexed. */
  | { readonly type: 'chain.indexed'; readonly chainId: number; readonly blockNumber: number; readonly head: number }
  /** The number of payments and deposits of a range that are not recorded: they name no integration of the store. */
  | { readonly type: 'payments.skipped'; readonly chainId: number; readonly count: number }
  /** Blocks left the chain: the blocks above `commonAncestor` are read again. */
  | {
      readonly type: 'chain.reorganized'
      readonly chainId: number
      /** The highest block indexed until then. */
      readonly from: number
      readonly commonAncestor: number
    }
  /** Indexing of a chain fails and is retried. Published once per outage. */
  | { readonly type: 'chain.failed'; readonly chainId: number; readonly message: string }
  /** Backfill of an added router: its blocks are read up to `blockNumber`; the last one to read is `to`. */
  | {
      readonly type: 'chain.backfilled'
      readonly chainId: number
      readonly router: string
      readonly blockNumber: number
      readonly to: number
    }
  /** The newest audit record, daily. A copy elsewhere proves that no earlier record was deleted or rewritten. */
  | ({ readonly type: 'audit.head' } & AuditHead)
  /** A log of a listed router that is neither a payment nor a conversion. It is skipped; an operator should look. */
  | ({ readonly type: 'log.quarantined'; readonly reason: string } & LogPosition)

/** Receives events. It should not throw; an exception is swallowed, so that it cannot stop the service. */
export type EventSink = (event: ServiceEvent) => void
