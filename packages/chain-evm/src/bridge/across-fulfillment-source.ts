/** Finds the fill of an Across deposit. Source: docs/interface.md 2.1, 8; docs/decisions/cross-chain.md. @module */
import { systemClock } from '@payment-integration/core'
import { assertWhole, createFinality } from '@payment-integration/core/internal'
import type { BlockRef, BridgeDeposit, Clock, Fulfillment, FulfillmentSource } from '@payment-integration/core/ports'
import { getNativeToken, type RouterLog } from '../decode/router-decoder.js'
import { createPriceLists, type KnownToken, knownTokens } from '../prices/pricing.js'
import { createTokenMetadata } from '../prices/token-metadata.js'
import { loadKeccak } from '../proof/keccak.js'
import { computeHeaderHash } from '../proof/prover.js'
import { assertAuthentic, createHeaderHashing } from '../read/range-reader.js'
import { type Fields, isSameLog, parseHeader, parseLogs, parseReceipt } from '../rpc/answers.js'
import { callWithChainId, type ExpectedChain } from '../rpc/chain-guard.js'
import { createFailures, isRateLimit, isUnavailable } from '../rpc/failures.js'
import { formatQuantity, lowercaseAddress } from '../rpc/hex.js'
import { buildHeaderCall, buildReceiptCall } from '../rpc/json-rpc.js'
import { createNodes, type NodeAddress } from '../rpc/nodes.js'
import { acrossBridge, decodeFill, type Fill, fillTopics, isFillOf, knownSpokePools } from './spoke-pools.js'

const maxKnownTimes = 1_000

/**
 * Makes a bisection search that remembers block times. It returns the lowest height whose block time is at least `at`,
 * in unix milliseconds. `last`: the newest final height; if no block up to it is that late, the result is `last + 1`.
 */
function createBlockFinder() {
  const knownTimes = new Map<number, number>()
  return async (at: number, last: number, read: (height: number) => Promise<BlockRef>): Promise<number> => {
    let low = 0
    let high = last + 1
    for (const [height, timestamp] of knownTimes) {
      if (height > last) continue
      if (timestamp < at) low = Math.max(low, height + 1)
      else high = Math.min(high, height)
    }
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const { timestamp } = await read(middle)
      if (knownTimes.size >= maxKnownTimes) knownTimes.clear()
      knownTimes.set(middle, timestamp)
      if (timestamp < at) low = middle + 1
      else high = middle
    }
    return low
  }
}

interface FoundFill {
  readonly fill: Fill
  readonly log: RouterLog
}

/** The most requests for logs in one scan: a longer scan would delay other look-ups. */
const maxSlices = 64

function toWord(value: bigint): string {
  return `0x${value.toString(16).padStart(64, '0')}`
}

/** How much the clocks of two chains may differ, in milliseconds. */
const clockSlackMs = 600_000
/** Each look-up reads this many newest blocks again: a node may know a block before it has indexed the block's logs. */
const rereadBlocks = 256
/** The most searches in memory. A search that was dropped starts again. */
const maxSearches = 10_000

interface Search {
  readonly from: number
  /** The next height to read. */
  next: number
  /** The next height of the final pass, which reads all blocks once more when the window has ended. */
  nextAtEnd: number
  /** Whether the final pass is complete. */
  isComplete: boolean
  /** Whether a fill was found. If it is gone later, a reorg may have moved it to an earlier block. */
  wasFound: boolean
}

/**
 * Creates the search for fulfillments on one chain. It starts at the deposit's block time, resumes where it stopped,
 * and makes a final pass when the window has ended. A fill is verified by its receipt and its block's header.
 */
function createFillReader(chainId: number, destination: AcrossDestination, windowMs: number, clock: Clock) {
  const confirmations = checkConfirmations(chainId, destination.confirmations)
  const spokePool = lowercaseAddress(destination.spokePool ?? knownSpokePools(chainId)[0])
  if (spokePool === null)
    throw new TypeError(`No SpokePool of chain ${chainId} is known; pass its address, 0x and 40 hex digits.`)
  const nodes = createNodes({ chainId, nodes: destination.nodes, clock })
  const fail = createFailures(chainId)
  const native = getNativeToken(chainId)
  const tokens = createTokenMetadata(native)
  const priceLists = createPriceLists(destination.tokens ?? knownTokens(chainId), [], native.symbol)
  const headerHashing = createHeaderHashing(chainId)
  const findFirstAt = createBlockFinder()
  const searches = new Map<string, Search>()

  async function find(chain: ExpectedChain, deposit: BridgeDeposit): Promise<Fulfillment | null> {
    const key = `${deposit.payment.chainId}:${deposit.depositId}:${deposit.payment.blockHash}`
    const existing = searches.get(key)
    if (existing?.isComplete === true) return null
    const head = await readBlock(chain, 'latest')
    chain.node.note({ kind: 'head', number: head.number })
    const finalHeight = head.number - confirmations
    if (finalHeight < 0) return null
    const read = (height: number) => readBlock(chain, height)
    const depositedAt = deposit.payment.blockTimestamp
    const search = existing ?? startSearch(key, await findFirstAt(depositedAt - clockSlackMs, finalHeight, read))
    const hasWindowEnded = head.timestamp > depositedAt + windowMs
    const windowEnd = hasWindowEnded ? await findFirstAt(depositedAt + windowMs, finalHeight, read) : finalHeight + 1
    const isFinalPass = windowEnd <= finalHeight
    const cursor = isFinalPass ? 'nextAtEnd' : 'next'
    const from = search[cursor]
    const to = isFinalPass ? windowEnd : finalHeight
    const maxNext = Math.max(search.from, finalHeight + 1 - rereadBlocks)
    // Called after each slice, so that a look-up that fails later keeps its progress.
    const onRead = (height: number) => {
      search[cursor] = isFinalPass ? height + 1 : Math.min(height + 1, maxNext)
    }
    const fill = await scanFills(chain, deposit, { from, to, onRead })
    if (fill !== null) {
      search.wasFound = true
      return toFulfillment(chain, fill, finalHeight)
    }
    // A reorg removed the fill, and may have moved it to an earlier block.
    if (search.wasFound) Object.assign(search, { next: search.from, nextAtEnd: search.from, wasFound: false })
    else search.isComplete = isFinalPass && search.nextAtEnd > windowEnd
    return null
  }

  /** Finds the first fill of a deposit; null if there is none in the scanned blocks, which may end before `to`. */
  async function scanFills(
    chain: ExpectedChain,
    deposit: BridgeDeposit,
    { from, to, onRead }: { readonly from: number; readonly to: number; readonly onRead: (height: number) => void },
  ): Promise<FoundFill | null> {
    for (let start = from, slices = 0; start <= to && slices < maxSlices; slices += 1) {
      const end = Math.min(to, start + chain.node.maxRange() - 1)
      const logs = await readSlice(chain, deposit, start, end)
      for (const log of logs.sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)) {
        const fill = log.address === spokePool ? decodeFill(log) : null
        if (fill !== null && log.blockNumber >= start && log.blockNumber <= end && isFillOf(fill, deposit))
          return { fill, log }
      }
      onRead(end)
      start = end + 1
    }
    return null
  }

  async function readSlice(chain: ExpectedChain, deposit: BridgeDeposit, from: number, to: number) {
    const topics = [fillTopics, toWord(BigInt(deposit.payment.chainId)), toWord(BigInt(deposit.depositId))]
    const filter = { fromBlock: formatQuantity(from), toBlock: formatQuantity(to), address: spokePool, topics }
    const blocks = to - from + 1
    try {
      const logs = parseLogs(await callWithChainId(chain, { method: 'eth_getLogs', params: [filter] }), fail)
      chain.node.note({ kind: 'range-read', blocks })
      return logs
    } catch (error) {
      if (isUnavailable(error) && !isRateLimit(error)) chain.node.note({ kind: 'range-failed', blocks })
      throw error
    }
  }

  function startSearch(key: string, from: number): Search {
    const search: Search = { from, next: from, nextAtEnd: from, isComplete: false, wasFound: false }
    const [oldest] = searches.keys()
    if (searches.size >= maxSearches && oldest !== undefined) searches.delete(oldest)
    searches.set(key, search)
    return search
  }

  async function readBlock(chain: ExpectedChain, block: number | 'latest'): Promise<BlockRef> {
    const header = await checkHeader(chain, await callWithChainId(chain, buildHeaderCall(block)))
    if (header === null) throw fail.noBlock(`the node has no block ${block}.`)
    return header
  }

  /** Parses a header, and checks it against its block hash where the chain allows it, so that its time is authentic. */
  async function checkHeader({ node }: ExpectedChain, answer: unknown): Promise<BlockRef | null> {
    const ref = parseHeader(answer, fail)
    if (ref === null) return null
    await loadKeccak()
    const isAuthentic = computeHeaderHash(answer as Fields) === ref.hash
    assertAuthentic({ node, fail, headerHashing }, [{ ref, isAuthentic }])
    return ref
  }

  async function toFulfillment(chain: ExpectedChain, { fill, log }: FoundFill, height: number): Promise<Fulfillment> {
    const { txHash, blockNumber, blockHash, logIndex } = log
    const calls = [buildHeaderCall(blockNumber), buildReceiptCall(txHash)]
    const [block, answer] = await chain.node.rpc.callAll(calls, chain.signal)
    const header = await checkHeader(chain, block)
    const receipt = parseReceipt(answer, fail)
    const position = receipt?.logs.findIndex((candidate) => isSameLog(candidate, log)) ?? -1
    const isInBlock =
      header?.hash === blockHash &&
      receipt?.hash === txHash &&
      receipt.blockHash === blockHash &&
      receipt.succeeded &&
      position !== -1
    if (!isInBlock) throw fail.noBlock(`the fill in transaction ${txHash} is not in block ${blockNumber}.`)
    const token = priceLists.token(fill.outputToken)
    return {
      chainId,
      txHash,
      logIndex,
      position,
      blockNumber,
      blockHash,
      blockTimestamp: header.timestamp,
      receiver: fill.paidTo,
      tokenOut: { ...(await tokens.read(chain, fill.outputToken, height)), amount: fill.paidAmount },
      listedToken: token && { symbol: token.symbol, currency: token.currency },
    }
  }

  return {
    /** Null while no fill is final. */
    lookup: (deposit: BridgeDeposit, signal?: AbortSignal): Promise<Fulfillment | null> =>
      nodes.runPinned((node) => find({ fail, node, signal }, deposit), signal),
    close: () => nodes.close(),
  }
}

function checkConfirmations(chainId: number, given: number | undefined): number {
  const confirmations = createFinality(given === undefined ? {} : { [chainId]: given }).confirmations(chainId)
  if (confirmations === null)
    throw new RangeError(`Nothing says when a block of chain ${chainId} is final; pass confirmations.`)
  return confirmations
}

/** A chain to which deposits are bridged. */
export interface AcrossDestination {
  /** At least one. */
  readonly nodes: readonly NodeAddress[]
  /** The bridge's contract on this chain. @default the chain's known one */
  readonly spokePool?: string | undefined
  /** Blocks on top of a fill that make it final. @default the finality table of docs/interface.md 8; else required */
  readonly confirmations?: number | undefined
  /** Trusted tokens. @default knownTokens of the chain */
  readonly tokens?: readonly KnownToken[] | undefined
}

/** Options of {@link createAcrossFulfillmentSource}. */
export interface AcrossFulfillmentSourceOptions {
  /** By chain id. Deposits to other chains get no answer. */
  readonly chains: ReadonlyMap<number, AcrossDestination>
  /**
   * How long after a deposit a fill is searched for, in milliseconds of block time. The bridge allows 6 hours.
   * @default 86_400_000
   */
  readonly windowMs?: number | undefined
  /** @default the system's clock */
  readonly clock?: Clock | undefined
}

/** A fulfillment source with connections of its own. */
export interface AcrossFulfillmentSource extends FulfillmentSource {
  /** Closes the connections. */
  close(): void
}

/**
 * Creates a fulfillment source for the Across bridge. A fill counts if the chain's SpokePool emitted it for this
 * deposit, the receiver got at least the promised amount, and the receipt proves it. The answer is null until the fill
 * is final, when the window has ended without a fill, and for deposits of other bridges or to other chains.
 * @throws {TypeError | RangeError} For a wrong option. `lookup` rejects with ChainErrors, as `ERR_CHAIN_UNAVAILABLE`.
 * @example
 * import { createAcrossFulfillmentSource } from '@payment-integration/chain-evm'
 * const chains = new Map([[10, { nodes: [{ url: 'https://node.example' }] }]])
 * const { lookup, close } = createAcrossFulfillmentSource({ chains })
 */
export function createAcrossFulfillmentSource(options: AcrossFulfillmentSourceOptions): AcrossFulfillmentSource {
  const { chains, windowMs = 86_400_000, clock = systemClock } = options
  assertWhole('windowMs', windowMs, 1)
  const readers = new Map(
    [...chains].map(([chainId, destination]) => [chainId, createFillReader(chainId, destination, windowMs, clock)]),
  )
  return {
    async lookup(deposit, signal) {
      if (deposit.bridge !== acrossBridge) return null
      return (await readers.get(deposit.destinationChainId)?.lookup(deposit, signal)) ?? null
    },
    close() {
      for (const reader of readers.values()) reader.close()
    },
  }
}
