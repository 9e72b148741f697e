/** Options of the chain adapter. @module */
import type { Clock, ProofLevel } from '@payment-integration/core/ports'
import { type EndpointAddress, endpointsDefaults } from './endpoints/create-endpoints.js'
import type { Transport } from './internal/transport-wire.js'
import type { KnownPriceFeed } from './known-price-feeds.js'
import type { KnownRouter } from './known-routers.js'
import type { KnownToken } from './known-tokens.js'
import type { QuarantinedLog } from './range-reader.js'
import type { RouterDecoder } from './router-decoder.js'

/** Options of `createEvmChain`. */
export interface EvmChainOptions {
  readonly chainId: number
  /** The nodes, best first. Required unless `rpcUrl` or `transport` is given. No URL appears in a message. */
  readonly endpoints?: readonly EndpointAddress[] | undefined
  /** Short for `endpoints` with the URL of one node: `http:`, `https:`, `ws:` or `wss:`. */
  readonly rpcUrl?: string | undefined
  /** Short for `endpoints` with one viem transport, for example `fallback([...])`. */
  readonly transport?: Transport | undefined
  /** The routers whose logs count; see `knownRouters`. Versions that the decoder cannot read are left out. */
  readonly routers: readonly KnownRouter[]
  /**
   * The proof level: how completeness of a block is shown. `root`: by the receipts of every block.
   * `bloom`: `root` near the head; further back by each header's log filter, and the receipts of candidate blocks.
   * `none`: by the node's word, for chains with filters or roots of their own kind.
   * @default bloom; none on chains 25, 324 and 999
   */
  readonly proof?: ProofLevel | undefined
  /** How many of the newest blocks are read with `root` where `bloom` is demanded. @default 64 */
  readonly nearHead?: number | undefined
  /**
   * Whether receipts are read by `debug_getRawReceipts` from nodes that have it: about half of the bytes. Turn it off
   * where that method is billed higher.
   * @default true
   */
  readonly rawReceipts?: boolean | undefined
  /** Blocks that a request for logs spans at first; each endpoint's own size is learnt. @default 2_000 */
  readonly maxRange?: number | undefined
  /** How long one request may take, its body included, in milliseconds. @default 10_000 */
  readonly requestTimeoutMs?: number | undefined
  /** Most calls in one request. 1 turns JSON-RPC batches off. @default 100 */
  readonly batchSize?: number | undefined
  /** Largest accepted answer, in bytes; only logs, receipts and full blocks may be so large. @default 67_108_864 */
  readonly maxResponseBytes?: number | undefined
  /** Symbol of the native token. @default by chain id; null for a chain that is not known */
  readonly nativeSymbol?: string | undefined
  /**
   * The trusted tokens by address; other tokens have no price. Replaces the known ones.
   * @default knownTokens of the chain, and the native token
   */
  readonly tokens?: readonly KnownToken[] | undefined
  /** The trusted price feeds. Replaces the known ones. @default knownPriceFeeds of the chain */
  readonly priceFeeds?: readonly KnownPriceFeed[] | undefined
  /**
   * The trusted SpokePools of the Across bridge. A payment into another bridge is quarantined. Replaces the known ones.
   * @default knownSpokePools of the chain
   */
  readonly spokePools?: readonly string[] | undefined
  /** Reads events and calldata. @default yodlDecoder */
  readonly decoder?: RouterDecoder | undefined
  /**
   * Hears of logs of listed routers that are neither payment nor conversion; again when a range is read again.
   * Its exceptions are ignored, so that a listener cannot stop the chain.
   */
  readonly onQuarantine?: ((log: QuarantinedLog) => void) | undefined
  /** Time, for deadlines and pauses. @default the system's */
  readonly clock?: Clock | undefined
}

/** Defaults of `createEvmChain`. */
export const evmChainDefaults = { ...endpointsDefaults, nearHead: 64 } as const

/** Chains whose log filters or receipts roots do not match by nature: Cronos, zkSync Era, HyperEVM. */
const oddChains: readonly number[] = [25, 324, 999]

const levels: readonly unknown[] = ['root', 'bloom', 'none'] satisfies ProofLevel[]

/** @throws {TypeError} When `proof` is no level. */
export function checkProof(chainId: number, proof: ProofLevel | undefined): ProofLevel {
  if (proof === undefined) return oddChains.includes(chainId) ? 'none' : 'bloom'
  if (!levels.includes(proof))
    throw new TypeError(`proof is ${JSON.stringify(proof)}; pass one of "root", "bloom" and "none".`)
  return proof
}

/** @throws {TypeError} Unless exactly one of the three is given. */
export function checkEndpoints({
  endpoints,
  rpcUrl,
  transport,
}: Pick<EvmChainOptions, 'endpoints' | 'rpcUrl' | 'transport'>): readonly EndpointAddress[] {
  const given = [endpoints, rpcUrl, transport].filter((option) => option !== undefined)
  if (given.length !== 1)
    throw new TypeError(`${given.length} of endpoints, rpcUrl and transport are given; pass one of them.`)
  return endpoints ?? [rpcUrl === undefined ? { transport } : { url: rpcUrl }]
}
