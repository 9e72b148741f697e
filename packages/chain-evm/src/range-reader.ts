/** The context that a range of blocks is read with. @module */
import type { Endpoint } from './internal/endpoints.js'
import type { Failures } from './internal/failures.js'
import type { Rpc } from './internal/json-rpc.js'
import type { PriceLists } from './price-lists.js'
import type { FilterTest } from './proof/log-filter.js'
import type { Prover } from './proof/prover.js'
import type { HeaderKind } from './reading/header-kind.js'
import type { RouterDecoder } from './router-decoder.js'
import type { TokenMetadata } from './token-metadata.js'

/**
 * A log of a listed router that is neither payment nor conversion. Reading goes on, and an operator should look at it.
 */
export interface QuarantinedLog {
  readonly chainId: number
  readonly txHash: string
  readonly blockNumber: number
  readonly logIndex: number
  readonly router: { readonly address: string; readonly version: string }
  /** The expected and the actual form. */
  readonly reason: string
}

/** Everything that the ranges of one chain are read with, whichever endpoint they come from. */
export interface ChainReader {
  readonly chainId: number
  readonly fail: Failures
  readonly decoder: RouterDecoder
  readonly tokens: TokenMetadata
  readonly lists: PriceLists
  /** Version by lowercased address; only versions that the decoder reads. */
  readonly routers: ReadonlyMap<string, string>
  /** The bridge contracts whose deposits are trusted, lowercased. */
  readonly spokePools: ReadonlySet<string>
  readonly onQuarantine: (log: QuarantinedLog) => void
  /** Whether nodes are tried for raw receipts. */
  readonly rawReceipts: boolean
  /** The kind of the chain's headers, as far as it is known. */
  readonly headers: HeaderKind
}

/** Everything that one range is read with: all of it comes from one endpoint. */
export interface RangeReader extends ChainReader {
  readonly endpoint: Endpoint
  /** That of the endpoint. */
  readonly rpc: Rpc
  readonly prover: Prover
  /** The routers whose payments are asked for; null for all. */
  readonly wanted: ReadonlySet<string> | null
  /** Whether the log filter of a header says that its block holds payment logs of the routers asked for. */
  readonly filter: FilterTest
}
