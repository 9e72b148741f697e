/** The steps of a mirror, for a log or a metric. @module */
import type { MirrorCompletion, MirrorReconciliation } from './results.js'

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
