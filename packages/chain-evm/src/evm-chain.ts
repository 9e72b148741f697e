/** The chain port over JSON-RPC. Source: docs/architecture.md, docs/decisions/following-a-chain.md. @module */
import { systemClock } from '@payment-integration/core'
import { assertWhole } from '@payment-integration/core/internal'
import type { BlockRange, Chain, Clock, ProofLevel, RangesRequest } from '@payment-integration/core/ports'
import { knownSpokePools } from './bridge/spoke-pools.js'
import { checkRouters, type KnownRouter } from './decode/known-routers.js'
import { getNativeToken, type RouterDecoder } from './decode/router-decoder.js'
import { yodlDecoder } from './decode/router-events.js'
import type { KnownPriceFeed, KnownToken } from './prices/pricing.js'
import { createPriceLists, knownPriceFeeds, knownTokens } from './prices/pricing.js'
import { createTokenMetadata } from './prices/token-metadata.js'
import { loadKeccak } from './proof/keccak.js'
import { createFilterTest } from './proof/log-filter.js'
import { createHeaderHashing, type QuarantinedLog } from './read/range-reader.js'
import { createRangeSizing } from './read/range-sizing.js'
import { readRanges } from './read/ranges.js'
import { parseReceipt } from './rpc/answers.js'
import { callWithChainId, readHeaderWithChainId } from './rpc/chain-guard.js'
import { callSafely, createFailures } from './rpc/failures.js'
import { lowercaseAddress, lowercaseHash, parseAddress } from './rpc/hex.js'
import { buildReceiptCall } from './rpc/json-rpc.js'
import { createNodes, type NodeAddress, type NodesOptions } from './rpc/nodes.js'
import type { Transport } from './rpc/wire.js'

/** Options of {@link createEvmChain}. */
export interface EvmChainOptions
  extends Pick<NodesOptions, 'maxRange' | 'requestTimeoutMs' | 'batchSize' | 'maxResponseBytes'> {
  /** The EIP-155 id that every node must report. */
  readonly chainId: number
  /** The nodes, best first. @default none: `rpcUrl` or `transport` is given */
  readonly nodes?: readonly NodeAddress[] | undefined
  /** Short for `nodes` with one `http(s):` or `ws(s):` URL; credentials become a Basic header. @default none */
  readonly rpcUrl?: string | undefined
  /** Short for `nodes` with one viem transport; its own retries and time-outs apply too. @default none */
  readonly transport?: Transport | undefined
  /** The routers to index; see {@link knownRouters}. Versions that the decoder does not support are left out. */
  readonly routers: readonly KnownRouter[]
  /**
   * How the completeness of a block is proven. `root`: by all receipts. `bloom`: near the head as `root`, farther back
   * by log filters, and by the receipts of blocks whose filter admits a payment. `none`: not at all, for chains with
   * non-standard filters or roots.
   * @default bloom; none on chains 25, 324 and 999
   */
  readonly proof?: ProofLevel | undefined
  /** The number of newest blocks that `bloom` reads as `root`. @default 64 */
  readonly nearHead?: number | undefined
  /**
   * Whether to read receipts by `debug_getRawReceipts` where nodes have it, which halves the bytes. Turn it off if that
   * method costs more.
   * @default true
   */
  readonly rawReceipts?: boolean | undefined
  /**
   * The trusted tokens, instead of the known ones; other tokens have no price.
   * @default knownTokens of the chain, and the native token
   */
  readonly tokens?: readonly KnownToken[] | undefined
  /** The trusted price feeds, instead of the known ones. @default knownPriceFeeds of the chain */
  readonly priceFeeds?: readonly KnownPriceFeed[] | undefined
  /**
   * The trusted SpokePools of the Across bridge, instead of the known ones. Payments into other bridges are
   * quarantined.
   * @default knownSpokePools of the chain
   */
  readonly spokePools?: readonly string[] | undefined
  /** Decodes events and calldata. @default yodlDecoder */
  readonly decoder?: RouterDecoder | undefined
  /** Gets each log that cannot be indexed, at every read of its range. Exceptions are ignored. @default nothing */
  readonly onQuarantine?: ((log: QuarantinedLog) => void) | undefined
  /** For deadlines and pauses. @default the system's clock */
  readonly clock?: Clock | undefined
}

/** Chains with non-standard log filters or receipts roots: Cronos, zkSync Era, HyperEVM. */
const unprovableChains: readonly number[] = [25, 324, 999]

/** @throws {TypeError} When `proof` is not a proof level. */
function checkProof(chainId: number, proof: ProofLevel | undefined): ProofLevel {
  if (proof === undefined) return unprovableChains.includes(chainId) ? 'none' : 'bloom'
  if (!['root', 'bloom', 'none'].includes(proof))
    throw new TypeError(`proof is ${JSON.stringify(proof)}; pass one of "root", "bloom" and "none".`)
  return proof
}

/** @throws {TypeError} Unless exactly one of `nodes`, `rpcUrl` and `transport` is given. */
function checkNodes({ nodes, rpcUrl, transport }: EvmChainOptions): readonly NodeAddress[] {
  const givenOptions = [nodes, rpcUrl, transport].filter((option) => option !== undefined)
  if (givenOptions.length !== 1)
    throw new TypeError(`${givenOptions.length} of nodes, rpcUrl and transport are given; pass one of them.`)
  return nodes ?? [rpcUrl === undefined ? { transport } : { url: rpcUrl }]
}

/** A chain that owns its connections. */
export interface EvmChain extends Chain {
  /** Closes all connections. Later calls reject. */
  close(): void
}

/**
 * Creates a chain over JSON-RPC, with the guarantees of the `Chain` port. Nothing is sent before the first call. Every
 * node must be on chain `chainId`; an answer that no block hash can verify is requested with the node's chain id.
 * Methods reject with a ChainError (`ERR_CHAIN_UNAVAILABLE`, `ERR_CHAIN_RANGE_GONE`, `ERR_CHAIN_PROOF_FAILED`), or with
 * the signal's own reason. Messages contain no part of a URL but its host.
 * @throws {TypeError | RangeError} When an option is wrong; at once, before any request.
 * @example
 * import { createEvmChain, knownRouters } from '@payment-integration/chain-evm'
 * const routers = knownRouters(8453)
 * const chain = createEvmChain({ chainId: 8453, rpcUrl: 'https://node.example.com', routers })
 */
export function createEvmChain(options: EvmChainOptions): EvmChain {
  const { chainId, nearHead = 64, rawReceipts = true, decoder = yodlDecoder, clock = systemClock } = options
  assertWhole('nearHead', nearHead, 0)
  const proof = checkProof(chainId, options.proof)
  const nodes = createNodes({ ...options, nodes: checkNodes(options), clock })
  const routers = checkRouters(options.routers, decoder)
  const native = getNativeToken(chainId)
  const { tokens: trustedTokens = knownTokens(chainId), priceFeeds = knownPriceFeeds(chainId) } = options
  const priceLists = createPriceLists(trustedTokens, priceFeeds, native.symbol)
  const fail = createFailures(chainId)
  const tokens = createTokenMetadata(native)
  const trustedPools = options.spokePools ?? knownSpokePools(chainId)
  const spokePools = new Set(trustedPools.map((pool) => parseAddress("A SpokePool's address", pool)))
  const { onQuarantine: report } = options
  const onQuarantine = (log: QuarantinedLog) => callSafely(() => report?.(log))
  const headerHashing = createHeaderHashing(chainId)
  const settings = { fail, decoder, tokens, priceLists, routers, spokePools, rawReceipts, headerHashing, onQuarantine }
  const sizing = createRangeSizing()

  async function* ranges(request: RangesRequest, signal?: AbortSignal): AsyncGenerator<BlockRange> {
    assertWhole('from', request.from, 0)
    assertWhole('to', request.to, request.from)
    assertWhole('head', request.head, 0)
    const requestedRouters = checkRequestedRouters(request.routers ?? [...routers.keys()], routers)
    await loadKeccak()
    const filter = createFilterTest(requestedRouters, decoder.paymentTopics)
    const context = { ...settings, requestedRouters, filter }
    yield* readRanges({ context, nodes, proof, nearHead, sizing }, request, signal)
  }

  return {
    chainId,
    adapter: 'chain-evm',
    routers: [...routers.keys()],
    ranges,
    head: (signal) =>
      nodes.runPinned(async (node) => {
        const head = await readHeaderWithChainId({ fail, node, signal }, 'latest')
        if (head === null) throw fail.unavailable('the node has no latest block.')
        node.note({ kind: 'head', number: head.number })
        return head
      }, signal),
    async block(number, signal) {
      assertWhole('number', number, 0)
      return nodes.runPinned(async (node) => {
        const block = await readHeaderWithChainId({ fail, node, signal }, number)
        if (block !== null && block.number !== number)
          throw fail.unavailable(`block ${block.number} was answered instead of block ${number}.`)
        return block
      }, signal)
    },
    async transactionFate(txHash, signal) {
      const hash = lowercaseHash(txHash)
      if (hash === null) throw new TypeError(`txHash is ${JSON.stringify(txHash)}; pass 0x and 64 hex digits.`)
      return nodes.runPinned(async (node) => {
        const receipt = parseReceipt(await callWithChainId({ fail, node, signal }, buildReceiptCall(hash)), fail)
        if (receipt === null) return { fate: 'unknown', blockNumber: null }
        if (receipt.hash !== hash) throw fail.unavailable(`receipt ${receipt.hash} was answered instead of ${hash}.`)
        return { fate: receipt.succeeded ? 'succeeded' : 'reverted', blockNumber: receipt.blockNumber }
      }, signal)
    },
    watch: (wake, signal) => nodes.watch(wake, signal),
    announcesBlocks: () => nodes.announcesBlocks(),
    nodes: () => nodes.status(),
    close: () => nodes.close(),
  }
}

/** @throws {TypeError} On an empty list, and on a router that is not one of the chain's. */
function checkRequestedRouters(requested: readonly string[], routers: ReadonlyMap<string, string>) {
  const addresses = new Set<string>()
  for (const router of requested) {
    const address = lowercaseAddress(router)
    if (address === null || !routers.has(address))
      throw new TypeError(`Not a listed router: ${JSON.stringify(router)}; pass one of ${[...routers.keys()]}.`)
    addresses.add(address)
  }
  if (addresses.size === 0) throw new TypeError('routers is empty; leave it out to read all routers.')
  return addresses
}
