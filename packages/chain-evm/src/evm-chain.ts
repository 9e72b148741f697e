/** The chain port over JSON-RPC. Source: docs/architecture.md, docs/decisions/following-a-chain.md. @module */

import { systemClock } from '@payment-integration/core'
import { assertWhole } from '@payment-integration/core/internal'
import type { BlockRange, Chain, Clock, ProofLevel, RangesRequest } from '@payment-integration/core/ports'
import { checkSpokePools, knownSpokePools } from './bridge/spoke-pools.js'
import type { KnownRouter } from './decode/known-routers.js'
import { checkRouters } from './decode/known-routers.js'
import { nativeToken, type RouterDecoder } from './decode/router-decoder.js'
import { yodlDecoder } from './decode/router-events.js'
import {
  createPriceLists,
  type KnownPriceFeed,
  type KnownToken,
  knownPriceFeeds,
  knownTokens,
} from './prices/pricing.js'
import { createTokenMetadata } from './prices/token-metadata.js'
import { createFilterTest, type FilterTest } from './proof/log-filter.js'
import { openProver, type Prover } from './proof/prover.js'
import { createRangeSizing } from './read/range-blocks.js'
import { type ChainReader, createHeaderHashing, type QuarantinedLog, type RangeReader } from './read/range-reader.js'
import { readRanges } from './read/ranges.js'
import { parseReceipt } from './rpc/answers.js'
import { callWithChainId, readHeaderWithChainId } from './rpc/chain-guard.js'
import { createFailures } from './rpc/failures.js'
import { formatQuantity, toAddress, toHash } from './rpc/hex.js'
import type { Node } from './rpc/json-rpc.js'
import { createNodes, type NodeAddress, nodesDefaults } from './rpc/nodes.js'
import type { Transport } from './rpc/wire.js'

/** Options of `createEvmChain`. */
export interface EvmChainOptions {
  readonly chainId: number
  /** The nodes, best first. Required unless `rpcUrl` or `transport` is given. No URL appears in a message. */
  readonly nodes?: readonly NodeAddress[] | undefined
  /** Short for `nodes` with one URL: `http:`, `https:`, `ws:` or `wss:`. Its credentials become a Basic header. */
  readonly rpcUrl?: string | undefined
  /** Short for `nodes` with one viem transport, as `fallback([...])`; its own retries and time-outs apply too. */
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
  /** Blocks that a request for logs spans at first; each node's own size is learnt. @default 2_000 */
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
export const evmChainDefaults = { ...nodesDefaults, nearHead: 64 } as const

/** Chains whose log filters or receipts roots do not match by nature: Cronos, zkSync Era, HyperEVM. */
const unprovableChains: readonly number[] = [25, 324, 999]

const levels: readonly unknown[] = ['root', 'bloom', 'none'] satisfies ProofLevel[]

/** @throws {TypeError} When `proof` is no level. */
function checkProof(chainId: number, proof: ProofLevel | undefined): ProofLevel {
  if (proof === undefined) return unprovableChains.includes(chainId) ? 'none' : 'bloom'
  if (!levels.includes(proof))
    throw new TypeError(`proof is ${JSON.stringify(proof)}; pass one of "root", "bloom" and "none".`)
  return proof
}

/** @throws {TypeError} Unless exactly one of the three is given. */
function checkNodes({
  nodes,
  rpcUrl,
  transport,
}: Pick<EvmChainOptions, 'nodes' | 'rpcUrl' | 'transport'>): readonly NodeAddress[] {
  const givenOptions = [nodes, rpcUrl, transport].filter((option) => option !== undefined)
  if (givenOptions.length !== 1)
    throw new TypeError(`${givenOptions.length} of nodes, rpcUrl and transport are given; pass one of them.`)
  return nodes ?? [rpcUrl === undefined ? { transport } : { url: rpcUrl }]
}

/** A chain that holds connections. */
export interface EvmChain extends Chain {
  /** Ends all connections. Later calls are rejected. */
  close(): void
}

/**
 * Opens a chain over JSON-RPC. Nothing is sent before the first call. Guarantees those of the `Chain` port.
 *
 * A node must answer for `chainId`. It is asked before the first call, after a broken connection, and after a request
 * without an answer. It is also asked along with every answer that no hash verifies, so a swapped node is noticed.
 * Every method rejects with a ChainError (`ERR_CHAIN_UNAVAILABLE`, `ERR_CHAIN_RANGE_GONE`, `ERR_CHAIN_PROOF_FAILED`),
 * or with the signal's own reason. No message holds any part of a URL but its host.
 * @throws {TypeError | RangeError} When an option is wrong; at once, before any request.
 * @example
 * import { createEvmChain, knownRouters } from '@payment-integration/chain-evm'
 * const routers = knownRouters(8453)
 * const chain = createEvmChain({ chainId: 8453, rpcUrl: 'https://node.example.com', routers })
 */
export function createEvmChain(options: EvmChainOptions): EvmChain {
  const { chainId, nearHead = evmChainDefaults.nearHead, decoder = yodlDecoder, clock = systemClock } = options
  assertWhole('nearHead', nearHead, 0)
  const proof = checkProof(chainId, options.proof)
  const nodes = createNodes({ ...options, nodes: checkNodes(options), clock })
  const routers = checkRouters(options.routers, decoder)
  const native = nativeToken(chainId, options.nativeSymbol)
  const lists = createPriceLists(
    options.tokens ?? knownTokens(chainId),
    options.priceFeeds ?? knownPriceFeeds(chainId),
    native.symbol,
  )
  const fail = createFailures(chainId)
  const base: ChainReader = {
    chainId,
    fail,
    decoder,
    tokens: createTokenMetadata(chainId, fail, native),
    lists,
    routers,
    spokePools: checkSpokePools(options.spokePools ?? knownSpokePools(chainId)),
    onQuarantine: ignoreThrows(options.onQuarantine),
    rawReceipts: options.rawReceipts ?? true,
    headers: createHeaderHashing(chainId),
  }
  let filterOfAll: FilterTest | undefined
  const blocks = createRangeSizing()

  /** The context that ranges are read with, for the given routers. */
  function openReader(prover: Prover, wanted: ReadonlySet<string> | null): (node: Node) => RangeReader {
    filterOfAll ??= createFilterTest(routers.keys(), decoder.paymentTopics)
    const filter = wanted === null ? filterOfAll : createFilterTest(wanted, decoder.paymentTopics)
    // Field by field: what a spread makes has a shape that the code behind it is compiled for again and again.
    return (node) => ({
      chainId: base.chainId,
      fail: base.fail,
      decoder: base.decoder,
      tokens: base.tokens,
      lists: base.lists,
      routers: base.routers,
      spokePools: base.spokePools,
      onQuarantine: base.onQuarantine,
      rawReceipts: base.rawReceipts,
      headers: base.headers,
      node,
      rpc: node.rpc,
      prover,
      requestedRouters: wanted,
      filter,
    })
  }

  async function* ranges(request: RangesRequest, signal?: AbortSignal): AsyncGenerator<BlockRange> {
    assertWhole('from', request.from, 0)
    assertWhole('to', request.to, request.from)
    assertWhole('head', request.head, 0)
    const wanted = checkRequestedRouters(request.routers, routers)
    const open = openReader(await openProver(), wanted)
    yield* readRanges({ nodes, fail, open, proof, nearHead, sizing: blocks }, request, signal)
  }

  return {
    chainId,
    adapter: 'chain-evm',
    routers: [...routers.keys()],
    ranges,
    head: (signal) =>
      nodes.runPinned(async (node) => {
        const head = await readHeaderWithChainId({ chainId, fail, node }, 'latest', signal)
        if (head === null) throw fail.unavailable('the node has no latest block.')
        node.note({ kind: 'head', number: head.number })
        return head
      }, signal),
    async block(number, signal) {
      assertWhole('number', number, 0)
      return nodes.runPinned(async (node) => {
        const block = await readHeaderWithChainId({ chainId, fail, node }, formatQuantity(number), signal)
        if (block !== null && block.number !== number)
          throw fail.unavailable(`block ${block.number} was answered for block ${number}.`)
        return block
      }, signal)
    },
    async transactionFate(txHash, signal) {
      const hash = toHash(txHash)
      if (hash === null) throw new TypeError('The transaction hash must be 0x and 64 hex digits.')
      const call = { method: 'eth_getTransactionReceipt', params: [hash] }
      return nodes.runPinned(async (node) => {
        const receipt = parseReceipt(await callWithChainId({ chainId, fail, node }, call, signal), fail)
        if (receipt === null) return { fate: 'unknown', blockNumber: null }
        if (receipt.hash !== hash) throw fail.unavailable(`receipt ${receipt.hash} was answered for ${hash}.`)
        return { fate: receipt.succeeded ? 'succeeded' : 'reverted', blockNumber: receipt.blockNumber }
      }, signal)
    },
    watch: (wake, signal) => nodes.watch(wake, signal),
    announcesBlocks: () => nodes.announcesBlocks(),
    nodes: () => nodes.status(),
    close: () => nodes.close(),
  }
}

/** @throws {TypeError} On no router, and on one that is not among the chain's. */
function checkRequestedRouters(
  wanted: readonly string[] | undefined,
  routers: ReadonlyMap<string, string>,
): ReadonlySet<string> | null {
  if (wanted === undefined) return null
  const addresses = wanted.map((router) => {
    const address = toAddress(router)
    if (address !== null && routers.has(address)) return address
    throw new TypeError(`${JSON.stringify(router)} is none of the chain's routers.`)
  })
  if (addresses.length === 0) throw new TypeError('No router is asked for; leave routers out to ask for all.')
  return addresses.length === routers.size ? null : new Set(addresses)
}

function ignoreThrows(watch: ((log: QuarantinedLog) => void) | undefined): (log: QuarantinedLog) => void {
  return (log) => {
    try {
      watch?.(log)
    } catch {
      // The option's contract: what a watcher throws does not stop the chain.
    }
  }
}
