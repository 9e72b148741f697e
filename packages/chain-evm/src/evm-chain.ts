/** The chain port over JSON-RPC. Source: DESIGN sections 2 and 3. @module */
import type { Chain } from '@payment-integration/core/ports'
import type { Transport } from 'viem'
import { readHeader, readReceipt } from './internal/answers.js'
import { chainFailures } from './internal/failures.js'
import { quantity, toHash, toQuantity } from './internal/hex.js'
import { createRpc } from './internal/json-rpc.js'
import { checkRouters, checkUrl, checkWhole } from './internal/options.js'
import { type KnownPriceFeed, knownPriceFeeds } from './known-price-feeds.js'
import type { KnownRouter } from './known-routers.js'
import { type KnownToken, knownTokens } from './known-tokens.js'
import { createFilterTest } from './log-filter.js'
import { nativeToken } from './native-token.js'
import { createPriceLists } from './price-lists.js'
import type { QuarantinedLog } from './range-reader.js'
import { readRange } from './read-range.js'
import type { RouterDecoder } from './router-decoder.js'
import { createTokenMetadata } from './token-metadata.js'
import { yodlDecoder } from './yodl-decoder.js'

/** Options of {@link createEvmChain}. */
export interface EvmChainOptions {
  readonly chainId: number
  /** `http:` or `https:` URL of a node. Required unless `transport` is given. It appears in no message. */
  readonly rpcUrl?: string | undefined
  /** A viem transport to use instead of HTTP to `rpcUrl`, for example `fallback([...])` or `webSocket(url)`. */
  readonly transport?: Transport | undefined
  /** The routers whose logs count; see `knownRouters`. Those of versions that the decoder does not read are left out. */
  readonly routers: readonly KnownRouter[]
  /** How long one request may take, its body included, in milliseconds. @default 10_000 */
  readonly requestTimeoutMs?: number | undefined
  /** Most calls in one HTTP request. 1 turns JSON-RPC batches off. @default 100 */
  readonly batchSize?: number | undefined
  /** Largest accepted answer, in bytes. @default 67_108_864 */
  readonly maxResponseBytes?: number | undefined
  /** Symbol of the native token. @default by chain id; null for a chain that is not known */
  readonly nativeSymbol?: string | undefined
  /**
   * The tokens that are believed to be what they say, by address; others have no price. Given, it stands in place of the
   * known ones. @default knownTokens of the chain, and the native token
   */
  readonly tokens?: readonly KnownToken[] | undefined
  /** The price feeds whose rates are believed. Given, it stands in place of the known ones. @default knownPriceFeeds of the chain */
  readonly priceFeeds?: readonly KnownPriceFeed[] | undefined
  /** Reads events and calldata. @default yodlDecoder */
  readonly decoder?: RouterDecoder | undefined
  /**
   * Told of logs of listed routers that are neither a payment nor a conversion. A range that is read again reports its logs again. An exception
   * is swallowed, so that a watcher cannot stop the chain.
   */
  readonly onQuarantine?: ((log: QuarantinedLog) => void) | undefined
}

/** Defaults of {@link createEvmChain}. */
export const evmChainDefaults = { requestTimeoutMs: 10_000, batchSize: 100, maxResponseBytes: 67_108_864 } as const

/**
 * Opens a chain over JSON-RPC. Nothing is sent before the first call; nothing is retried (whoever calls does that).
 *
 * Guarantees: those of the `Chain` port. The node must answer for `chainId`: it is asked before the first call, and again
 * after a request that brought no answer, so that an endpoint which was swapped is noticed.
 * Every method rejects with a ChainError (`ERR_CHAIN_UNAVAILABLE`, `ERR_CHAIN_RANGE_GONE`), or with the signal's own reason
 * when the caller aborted. No message holds any part of the URL.
 * @throws {TypeError | RangeError} When an option is wrong; at once, before any request.
 */
export function createEvmChain(options: EvmChainOptions): Chain {
  const {
    chainId,
    rpcUrl,
    transport,
    requestTimeoutMs = evmChainDefaults.requestTimeoutMs,
    batchSize = evmChainDefaults.batchSize,
    maxResponseBytes = evmChainDefaults.maxResponseBytes,
    decoder = yodlDecoder,
    onQuarantine,
  } = options
  checkWhole('chainId', chainId, 1)
  checkWhole('requestTimeoutMs', requestTimeoutMs, 1)
  checkWhole('batchSize', batchSize, 1)
  checkWhole('maxResponseBytes', maxResponseBytes, 1)
  if (transport === undefined) checkUrl(rpcUrl)
  const routers = checkRouters(options.routers, decoder)
  const native = nativeToken(chainId, options.nativeSymbol)
  const lists = createPriceLists(
    options.tokens ?? knownTokens(chainId),
    options.priceFeeds ?? knownPriceFeeds(chainId),
    native.symbol,
  )
  const fail = chainFailures(chainId)
  let verified = false
  const onLost = () => {
    verified = false
  }
  const rpc = createRpc(fail, { rpcUrl, transport, requestTimeoutMs, batchSize, maxResponseBytes, onLost })
  const tokens = createTokenMetadata(rpc, fail, native)
  const filter = createFilterTest(routers.keys(), decoder.paymentTopics)
  const reader = { chainId, rpc, fail, decoder, tokens, lists, routers, filter, onQuarantine: quietly(onQuarantine) }

  async function verify(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    if (verified) return
    const answer = toQuantity(await rpc.call({ method: 'eth_chainId', params: [] }, signal))
    if (answer === null) throw fail.unavailable('eth_chainId answered something else than a number.')
    if (answer !== chainId)
      throw fail.unavailable(`the node is on chain ${answer}. Use the RPC URL of a node of chain ${chainId}.`)
    verified = true
  }

  async function header(tag: string, signal?: AbortSignal) {
    await verify(signal)
    return readHeader(await rpc.call({ method: 'eth_getBlockByNumber', params: [tag, false] }, signal), fail)
  }

  return {
    chainId,
    async head(signal) {
      const head = await header('latest', signal)
      if (head === null) throw fail.unavailable('the node has no latest block.')
      return head
    },
    async block(number, signal) {
      checkWhole('number', number, 0)
      const block = await header(quantity(number), signal)
      if (block !== null && block.number !== number)
        throw fail.unavailable(`block ${block.number} was answered for block ${number}.`)
      return block
    },
    async range(from, to, signal) {
      checkWhole('from', from, 0)
      checkWhole('to', to, from)
      await verify(signal)
      return readRange(reader, from, to, signal)
    },
    async transactionFate(txHash, signal) {
      const hash = toHash(txHash)
      if (hash === null) throw new TypeError('The transaction hash must be 0x and 64 hex digits.')
      await verify(signal)
      const receipt = readReceipt(await rpc.call({ method: 'eth_getTransactionReceipt', params: [hash] }, signal), fail)
      if (receipt === null) return { fate: 'unknown', blockNumber: null }
      if (receipt.hash !== hash) throw fail.unavailable(`receipt ${receipt.hash} was answered for ${hash}.`)
      return { fate: receipt.succeeded ? 'succeeded' : 'reverted', blockNumber: receipt.blockNumber }
    },
  }
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
