/** Names of the faults of a node. @module */

/** Faults of a whole request. */
export const requestFaults = [
  'rate-limit',
  'rate-limit-retry-after',
  'html-502',
  'cut-json',
  'empty-body',
  'reset',
  'hang',
  'batch-rejected',
] as const
/** Faults of a batch answer. */
export const batchFaults = ['batch-item-missing', 'batch-reordered', 'batch-item-error', 'batch-id-changed'] as const
/** Faults of one answer. */
export const itemFaults = [
  'null-answer',
  'item-error',
  'logs-empty',
  'logs-cut',
  'log-changed',
  'receipt-log-missing',
  'receipt-missing',
  'receipt-log-changed',
  'header-changed',
  'finalized-back',
] as const
/** Faults that last for some requests. */
export const episodes = ['lagging-head', 'lagging-at-times', 'range-limit', 'range-cut', 'other-chain'] as const

/** Every fault. */
export const faultNames = [...requestFaults, ...batchFaults, ...itemFaults, ...episodes] as const
export type FaultName = (typeof faultNames)[number]

/** Probability of each fault: per request, per batch, per answer, or per request that may begin an episode. */
export type FaultRates = Readonly<Partial<Record<FaultName, number>>>
