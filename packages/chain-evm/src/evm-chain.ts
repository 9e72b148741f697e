/** The chain port over JSON-RPC. Source: docs/architecture.md, docs/decisions/following-a-chain.md. @module */
import { systemClock } from '@payment-integration/core'
import type { BlockRange, Chain, RangesRequest } from '@payment-integration/core/ports'
import { checkSpokePools } from './bridge/check-spoke-pools.js'
import { knownSpokePools } from './bridge/known-spoke-pools.js'
import { createEndpoints } from './endpoints/create-endpoints.js'
import { checkEndpoints, checkProof, type EvmChainOptions, evmChainDefaults } from './evm-chain-options.js'
import { readReceipt } from './internal/answers.js'
import type { Endpoint } from './internal/endpoints.js'
import { chainFailures } from './internal/failures.js'
import { quantity, toAddress, toHash } from './internal/hex.js'
import { checkRouters, checkWhole } from './internal/options.js'
import { knownPriceFeeds } from './known-price-feeds.js'
import { knownTokens } from './known-tokens.js'
import { nativeToken } from './native-token.js'
import { createPriceLists } from './price-lists.js'
import { createFilterTest, type FilterTest } from './proof/log-filter.js'
import { openProver, type Prover } from './proof/prover.js'
import type { ChainReader, QuarantinedLog, RangeReader } from './range-reader.js'
import { headerKind } from './reading/header-kind.js'
import { callOwnChain, readOwnHeader } from './reading/own-chain.js'
import { createRangeBlocks } from './reading/range-blocks.js'
import { readRanges } from './reading/ranges.js'
import { createTokenMetadata } from './token-metadata.js'
import { yodlDecoder } from './yodl-decoder.js'

/** A chain that holds connections. */
export interface EvmChain extends Chain {
  /** Ends all connections. Later calls are refused. */
  close(): void
}

/**
 * Opens a chain over JSON-RPC. Nothing is sent before the first call. Guarantees those of the `Chain` port.
 *
 * A node must answer for `chainId`. It is asked before the first call, after a broken connection, and after a request
 * without an answer. It is also asked along with every answer that no hash verifies, so a swapped endpoint is noticed.
 * Every method rejects with a ChainError (`ERR_CHAIN_UNAVAILABLE`, `ERR_CHAIN_RANGE_GONE`, `ERR_CHAIN_PROOF_FAILED`),
 * or with the signal's own reason. No message holds any part of a URL but its host.
 * @throws {TypeError | RangeError} When an option is wrong; at once, before any request.
 */
export function createEvmChain(options: EvmChainOptions): EvmChain {
  const { chainId, nearHead = evmChainDefaults.nearHead, decoder = yodlDecoder, clock = systemClock } = options
  checkWhole('nearHead', nearHead, 0)
  const proof = checkProof(chainId, options.proof)
  const endpoints = createEndpoints({ ...options, endpoints: checkEndpoints(options), clock })
  const routers = checkRouters(options.routers, decoder)
  const native = nativeToken(chainId, options.nativeSymbol)
  const lists = createPriceLists(
    options.tokens ?? knownTokens(chainId),
    options.priceFeeds ?? knownPriceFeeds(chainId),
    native.symbol,
  )
  const fail = chainFailures(chainId)
  const base: ChainReader = {
    chainId,
    fail,
    decoder,
    tokens: createTokenMetadata(chainId, fail, native),
    lists,
    routers,
    spokePools: checkSpokePools(options.spokePools ?? knownSpokePools(chainId)),
    onQuarantine: quietly(options.onQuarantine),
    rawReceipts: options.rawReceipts ?? true,
    headers: headerKind(chainId),
  }
  let filterOfAll: FilterTest | undefined
  const blocks = createRangeBlocks()

  /** The context that ranges are read with, for the given routers. */
  function openReader(prover: Prover, wanted: ReadonlySet<string> | null): (endpoint: Endpoint) => RangeReader {
    filterOfAll ??= createFilterTest(routers.keys(), decoder.paymentTopics)
    const filter = wanted === null ? filterOfAll : createFilterTest(wanted, decoder.paymentTopics)
    // Field by field: what a spread makes has a shape that the code behind it is compiled for again and again.
    return (endpoint) => ({
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
      endpoint,
      rpc: endpoint.rpc,
      prover,
      wanted,
      filter,
    })
  }

  async function* ranges(request: RangesRequest, signal?: AbortSignal): AsyncGenerator<BlockRange> {
    checkWhole('from', request.from, 0)
    checkWhole('to', request.to, request.from)
    checkWhole('head', request.head, 0)
    const wanted = checkWanted(request.routers, routers)
    const open = openReader(await openProver(), wanted)
    yield* readRanges({ endpoints, fail, open, proof, nearHead, blocks }, request, signal)
  }

  return {
    chainId,
    adapter: 'chain-evm',
    routers: [...routers.keys()],
    ranges,
    head: (signal) =>
      endpoints.pinned(async (endpoint) => {
        const head = await readOwnHeader({ chainId, fail, endpoint }, 'latest', signal)
        if (head === null) throw fail.unavailable('the node has no latest block.')
        endpoint.note({ kind: 'head', number: head.number })
        return head
      }, signal),
    async block(number, signal) {
      checkWhole('number', number, 0)
      return endpoints.pinned(async (endpoint) => {
        const block = await readOwnHeader({ chainId, fail, endpoint }, quantity(number), signal)
        if (block !== null && block.number !== number)
          throw fail.unavailable(`block ${block.number} was answered for block ${number}.`)
        return block
      }, signal)
    },
    async transactionFate(txHash, signal) {
      const hash = toHash(txHash)
      if (hash === null) throw new TypeError('The transaction hash must be 0x and 64 hex digits.')
      const call = { method: 'eth_getTransactionReceipt', params: [hash] }
      return endpoints.pinned(async (endpoint) => {
        const receipt = readReceipt(await callOwnChain({ chainId, fail, endpoint }, call, signal), fail)
        if (receipt === null) return { fate: 'unknown', blockNumber: null }
        if (receipt.hash !== hash) throw fail.unavailable(`receipt ${receipt.hash} was answered for ${hash}.`)
        return { fate: receipt.succeeded ? 'succeeded' : 'reverted', blockNumber: receipt.blockNumber }
      }, signal)
    },
    watch: (wake, signal) => endpoints.watch(wake, signal),
    announcesBlocks: () => endpoints.announcesBlocks(),
    endpoints: () => endpoints.status(),
    close: () => endpoints.close(),
  }
}

/** @throws {TypeError} On no router, and on one that is not among the chain's. */
function checkWanted(
  wanted: readonly string[] | undefined,
  routers: ReadonlyMap<string, string>,
): ReadonlySet<string> | null {
  if (wanted === undefined) return null
  const known = wanted.map((router) => {
    const address = toAddress(router)
    if (address !== null && routers.has(address)) return address
    throw new TypeError(`${JSON.stringify(router)} is none of the chain's routers.`)
  })
  if (known.length === 0) throw new TypeError('No router is asked for; leave routers out to ask for all.')
  return known.length === routers.size ? null : new Set(known)
}

function quietly(watch: ((log: QuarantinedLog) => void) | undefined): (log: QuarantinedLog) => void {
  return (log) => {
    try {
      watch?.(log)
    } catch {
      // The option's contract: what a watcher throws does not stop the chain.
    }
  }
}
