/** A block with the answers for its contents. @module */
import type { Header } from './headers.js'

/** The receipts of a block as the node answered them. */
export type BlockReceipts = readonly unknown[]

/** A block with the answers for it. */
export interface AnsweredBlock {
  readonly header: Header
  readonly receipts: BlockReceipts
  /** Its transactions by hash; null when it was not read whole. */
  readonly transactions: ReadonlyMap<string, unknown> | null
}
