/** A block with the answers for its contents. @module */
import type { RawReceipt } from '../proof/raw-receipt.js'
import type { Header } from './headers.js'

/** Raw receipts that lead to the root in the header. */
export interface ProvenRaw {
  readonly raw: readonly RawReceipt[]
}

/** The receipts of a block: JSON as the node answered it, or proven bytes. */
export type BlockReceipts = readonly unknown[] | ProvenRaw

/** A block with the answers for it. */
export interface AnsweredBlock {
  readonly header: Header
  readonly receipts: BlockReceipts
  /** Its transactions by hash; null when it was not read whole. */
  readonly transactions: ReadonlyMap<string, unknown> | null
}
