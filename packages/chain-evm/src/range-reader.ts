/** What a range of blocks is read with. @module */
import type { Failures } from './internal/failures.js'
import type { Rpc } from './internal/json-rpc.js'
import type { FilterAnswer } from './log-filter.js'
import type { PriceLists } from './price-lists.js'
import type { RouterDecoder } from './router-decoder.js'
import type { TokenMetadata } from './token-metadata.js'

/** A log of a listed router that is neither a payment nor a conversion: the chain goes on without it, and somebody should look at it. */
export interface QuarantinedLog {
  readonly chainId: number
  readonly txHash: string
  readonly blockNumber: number
  readonly logIndex: number
  readonly router: { readonly address: string; readonly version: string }
  /** What was expected and what came. */
  readonly reason: string
}

/** Everything a range is read with. */
export interface RangeReader {
  readonly chainId: number
  readonly rpc: Rpc
  readonly fail: Failures
  readonly decoder: RouterDecoder
  readonly tokens: TokenMetadata
  readonly lists: PriceLists
  /** Version by lowercased address; only versions that the decoder reads. */
  readonly routers: ReadonlyMap<string, string>
  /** Whether the log filter of a header says that its block holds payment logs. */
  readonly filter: (logsBloom: string) => FilterAnswer
  readonly onQuarantine: (log: QuarantinedLog) => void
}
