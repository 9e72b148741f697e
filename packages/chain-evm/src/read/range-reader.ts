/**
 * The context that a range of blocks is read with, and whether headers of the chain hash to their blocks' hashes.
 * @module
 */
import type { BlockRef } from '@payment-integration/core/ports'
import type { RouterDecoder } from '../decode/router-decoder.js'
import type { PriceLists } from '../prices/price-lists.js'
import type { TokenMetadata } from '../prices/token-metadata.js'
import type { FilterTest } from '../proof/log-filter.js'
import type { Prover } from '../proof/prover.js'
import type { Failures } from '../rpc/failures.js'
import type { Rpc } from '../rpc/json-rpc.js'
import type { Node } from '../rpc/nodes.js'

/** The kind of a chain's headers, as far as it is known. */
interface HeaderKind {
  /** Whether any of them hashed to its block's hash: then all should. */
  isKnown: boolean
}

/** Chains whose headers hash to their blocks' hashes; of others it is learnt. */
const known: readonly number[] = [1, 10, 100, 137, 8_453, 42_161]

/** The kind of a chain's headers before any is read. */
export function headerKind(chainId: number): HeaderKind {
  return { isKnown: known.includes(chainId) }
}

/** A header that was held against its block's hash. */
export interface HashedHeader {
  readonly ref: BlockRef
  /** Whether its fields hash to the block's own hash: then they are those that the chain agreed on. */
  readonly isAuthentic: boolean
}

/**
 * Notes whether headers of this chain hash to their blocks' hashes. Where any does, one that does not was changed in
 * transit, and is not trusted.
 * @throws ChainError `ERR_CHAIN_PROOF_FAILED` on such a header.
 */
export function assertAuthentic(
  { node, fail, headers: kind }: Readonly<{ node: Node; fail: Failures; headers: HeaderKind }>,
  headers: readonly HashedHeader[],
): void {
  if (headers.some(({ isAuthentic }) => isAuthentic)) kind.isKnown = true
  const changed = kind.isKnown ? headers.find(({ isAuthentic }) => !isAuthentic) : undefined
  if (changed === undefined) return
  const what = `the header of block ${changed.ref.number} does not hash to the block's hash`
  node.note({ kind: 'proof-failed', what })
  throw fail.unproven(
    `${what}. Use another node; on a chain whose headers are of a kind of their own, set its proof to none.`,
  )
}

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

/** Everything that the ranges of one chain are read with, whichever node they come from. */
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

/** Everything that one range is read with: all of it comes from one node. */
export interface RangeReader extends ChainReader {
  readonly node: Node
  /** That of the node. */
  readonly rpc: Rpc
  readonly prover: Prover
  /** The routers whose payments are asked for; null for all. */
  readonly wanted: ReadonlySet<string> | null
  /** Whether the log filter of a header says that its block holds payment logs of the routers asked for. */
  readonly filter: FilterTest
}
