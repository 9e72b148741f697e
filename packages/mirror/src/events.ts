/** The steps of a mirror, for a log or a metric, and the results of a run. @module */
import type { Findings, Reconciliation, UnknownPayment } from '@payment-integration/client'

/** The result of the look-ups. */
export interface MirrorCompletion {
  /** Rows that now have every column of their newest version. */
  readonly completed: number
  /** Rows that stay incomplete: no such payment, an older version, a hash on several chains, or a malformed answer. */
  readonly left: number
}

/** The findings and repairs of a run. The counts are of this run alone, not of an interrupted one that it resumed. */
export interface MirrorReconciliation {
  readonly full: boolean
  /** Why the run stopped. After `max_pages`, older pages remain. */
  readonly stopped: Reconciliation['stopped']
  readonly pages: number
  readonly compared: number
  /** Payments that were missing. */
  readonly added: number
  /** Payments of which the copy had an older version. */
  readonly updated: number
  /** Payments of which a delivery had stored the newest version, and which now have every column. */
  readonly completed: number
  /** Payments of the same version with other facts, as after a reorg. */
  readonly refreshed: number
  /** Rows that still lack a read of their newest version. */
  readonly left: number
  /** Rows that the service does not have; the mirror deletes none. Null unless one run read the whole list. */
  readonly unknown: Findings<UnknownPayment> | null
}

/** One step. It holds no secret, body or signature. `state` is text from outside. */
export type MirrorEvent =
  /** A signed delivery arrived. `apply`: stored. `duplicate`, `stale`: it had nothing newer. */
  | {
      readonly type: 'delivery'
      readonly decision: 'apply' | 'duplicate' | 'stale'
      readonly chainId: string
      readonly txHash: string
      readonly version: number
      readonly state: string | null
    }
  /** A run compared another page. */
  | { readonly type: 'progress'; readonly pages: number; readonly compared: number }
  /** A run finished. */
  | ({ readonly type: 'reconciled' } & MirrorReconciliation)
  /** Look-ups after deliveries finished. */
  | ({ readonly type: 'completed' } & MirrorCompletion)
  /** A step of `run` failed; `run` repeats it. */
  | { readonly type: 'failed'; readonly step: 'reconcile' | 'complete'; readonly error: unknown }
