/**
 * Finds the fill of an Across deposit on the destination chain, by its event.
 * Source: docs/interface.md 2.1 (source), 8 (finality); docs/decisions/cross-chain.md.
 * @module
 */

import { finality } from '@payment-integration/contract'
import { systemClock } from '@payment-integration/core'
import { assertWhole } from '@payment-integration/core/internal'
import type { BlockRef, BridgeDeposit, Clock, Fulfilment, FulfilmentSource } from '@payment-integration/core/ports'
import { nativeToken, type RouterLog } from '../decode/router-decoder.js'
import { createPriceLists, type KnownToken, knownTokens, type PriceLists } from '../prices/pricing.js'
import { createTokenMetadata, type TokenMetadata } from '../prices/token-metadata.js'
import { openProver } from '../proof/prover.js'
import { assertAuthentic, createHeaderHashing } from '../read/range-reader.js'
import { type Fields, parseHeader, parseLogs, parseReceipt } from '../rpc/answers.js'
import { callWithChainId } from '../rpc/chain-guard.js'
import { createFailures, type Failures, isRateLimit } from '../rpc/failures.js'
import { formatQuantity, toAddress } from '../rpc/hex.js'
import type { Node } from '../rpc/json-rpc.js'
import { createNodes, type NodeAddress, type Nodes } from '../rpc/nodes.js'
import { acrossBridge, decodeFill, type Fill, fillTopics, isFillOf, knownSpokePools } from './spoke-pools.js'

/** Bounds the memory; the points are found again when needed. */
const maxKnownTimes = 1_000

/** Finds blocks that are final. */
interface BlockFinder {
  /**
   * The lowest height whose block was made at or after a time; `above + 1` when none up to `above` was.
   * @param at - Unix milliseconds.
   * @param above - A height that is final.
   * @param read - Reads the block at a height.
   */
  findFirstAt(at: number, above: number, read: (height: number) => Promise<BlockRef>): Promise<number>
}

/** Makes a finder that remembers the blocks it saw. */
function createBlockFinder(): BlockFinder {
  const knownTimes = new Map<number, number>()
  return {
    async findFirstAt(at, above, read) {
      let low = 0
      let high = above + 1
      for (const [height, timestamp] of knownTimes) {
        if (height > above) continue
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
    },
  }
}

/** A fill and its log. */
interface FoundFill {
  readonly fill: Fill
  readonly log: RouterLog
}

/** The blocks and the deposit of a scan. */
interface FillScan {
  readonly chainId: number
  readonly node: Node
  readonly fail: Failures
  /** Lowercased. */
  readonly spokePool: string
  readonly deposit: BridgeDeposit
  readonly from: number
  /** Included. */
  readonly to: number
  /** Told of the height up to which there is no fill. */
  readonly onRead: (height: number) => void
}

/** Most requests for logs in one scan, so that a long one keeps no others waiting. */
const maxSlices = 64

/**
 * Finds the first fill of a deposit in a run of blocks. Otherwise it is null, and `onRead` heard how far there is none,
 * which may be short of the end. A fill of another deposit or origin, by another contract, or of less, does not count.
 * @throws ChainError `ERR_CHAIN_UNAVAILABLE`.
 */
async function scanFills(scan: FillScan, signal?: AbortSignal): Promise<FoundFill | null> {
  const { deposit, spokePool, to, onRead } = scan
  for (let from = scan.from, slices = 0; from <= to && slices < maxSlices; slices += 1) {
    const upTo = Math.min(to, from + scan.node.maxRange() - 1)
    const logs = await readSlice(scan, from, upTo, signal)
    for (const log of logs.sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)) {
      const fill = log.address === spokePool ? decodeFill(log) : null
      if (fill !== null && log.blockNumber >= from && log.blockNumber <= upTo && isFillOf(fill, deposit))
        return { fill, log }
    }
    onRead(upTo)
    from = upTo + 1
  }
  return null
}

async function readSlice(
  { chainId, node, fail, spokePool, deposit }: FillScan,
  from: number,
  to: number,
  signal?: AbortSignal,
): Promise<RouterLog[]> {
  const topics = [fillTopics, toWord(BigInt(deposit.payment.chainId)), toWord(BigInt(deposit.depositId))]
  const filter = { fromBlock: formatQuantity(from), toBlock: formatQuantity(to), address: spokePool, topics }
  const blocks = to - from + 1
  try {
    const call = { method: 'eth_getLogs', params: [filter] }
    const logs = parseLogs(await callWithChainId({ chainId, fail, node }, call, signal), fail)
    node.note({ kind: 'range-read', blocks })
    return logs
  } catch (error) {
    if (signal?.aborted !== true) node.note({ kind: 'range-failed', blocks, rateLimited: isRateLimit(error) })
    throw error
  }
}

function toWord(value: bigint): string {
  return `0x${value.toString(16).padStart(64, '0')}`
}

/** Everything that fills are read with. */
interface FillReaderDeps {
  readonly chainId: number
  readonly nodes: Nodes
  readonly fail: Failures
  readonly tokens: TokenMetadata
  readonly lists: PriceLists
  /** Lowercased. */
  readonly spokePool: string
  /** Blocks on top of a fill until it counts. */
  readonly confirmations: number
  /** How long after a deposit it can be filled, in milliseconds. */
  readonly windowMs: number
}

/** The clocks of two chains may differ by this much, in milliseconds. */
const clockSlackMs = 600_000
/** These newest blocks are read again each time: a node may know a block before it finds the logs in it. */
const rereadBlocks = 256
/** Bounds the memory; a deposit that is forgotten is searched from its start again. */
const maxDeposits = 10_000

/** Where the search for a deposit's fill stands. */
interface Search {
  readonly from: number
  /** Next height to read. */
  next: number
  /** Next height of the last search, which reads every block again after the search time. */
  nextAtEnd: number
  /** Whether the search time has passed and the last search is complete. */
  isComplete: boolean
  /** Whether a fill was found, which may be elsewhere when it is asked for again. */
  wasFound: boolean
}

/**
 * Makes the look-up of fulfilments on one chain. The search begins at the deposit's block time, resumes where it
 * stopped, and ends when the deposit can no longer be filled. Then it reads all of it once more, resuming in the same
 * way. A fill is verified by the receipt of its transaction and the header of its block, headers by their hashes. One
 * node answers a whole look-up.
 */
function createFillReader(deps: FillReaderDeps) {
  const { chainId, nodes, fail, spokePool, confirmations, windowMs } = deps
  const headers = createHeaderHashing(chainId)
  const finder = createBlockFinder()
  const searches = new Map<string, Search>()

  async function find(node: Node, deposit: BridgeDeposit, signal?: AbortSignal): Promise<Fulfilment | null> {
    const key = `${deposit.payment.chainId}:${deposit.depositId}:${deposit.payment.blockHash}`
    const existing = searches.get(key)
    if (existing?.isComplete === true) return null
    const head = await readBlock(node, 'latest', signal)
    node.note({ kind: 'head', number: head.number })
    const final = head.number - confirmations
    if (final < 0) return null
    const read = (height: number) => readBlock(node, formatQuantity(height), signal)
    const since = deposit.payment.blockTimestamp
    const search = existing ?? startSearch(key, await finder.findFirstAt(since - clockSlackMs, final, read))
    const isLate = head.timestamp > since + windowMs
    const end = isLate ? await finder.findFirstAt(since + windowMs, final, read) : final + 1
    const isLast = end <= final
    const cursor = isLast ? 'nextAtEnd' : 'next'
    const from = search[cursor]
    const to = isLast ? end : final
    let readTo = from - 1
    // Blocks read below the newest ones stay read, even if the look-up fails soon after.
    const deepestNext = Math.max(search.from, final + 1 - rereadBlocks)
    const onRead = (height: number) => {
      readTo = height
      search[cursor] = isLast ? height + 1 : Math.min(height + 1, deepestNext)
    }
    const found = await scanFills({ chainId, node, fail, spokePool, deposit, from, to, onRead }, signal)
    if (found !== null) {
      search.wasFound = true
      return toFulfilment(node, found, final, signal)
    }
    // It left the chain, and may be further down than where the search stands.
    if (search.wasFound) Object.assign(search, { next: search.from, nextAtEnd: search.from, wasFound: false })
    else search.isComplete = isLast && readTo >= end
    return null
  }

  function startSearch(key: string, from: number): Search {
    const search: Search = { from, next: from, nextAtEnd: from, isComplete: false, wasFound: false }
    const [oldest] = searches.keys()
    if (searches.size >= maxDeposits && oldest !== undefined) searches.delete(oldest)
    searches.set(key, search)
    return search
  }

  async function readBlock(node: Node, tag: string, signal?: AbortSignal): Promise<BlockRef> {
    const call = { method: 'eth_getBlockByNumber', params: [tag, false] }
    const header = await checkedHeader(node, await callWithChainId({ chainId, fail, node }, call, signal))
    if (header === null) throw fail.gone(`the node has no block ${tag}.`)
    return header
  }

  /** A header, checked against the hash of its block where the chain allows that. So its time is that of the block. */
  async function checkedHeader(node: Node, answer: unknown): Promise<BlockRef | null> {
    const ref = parseHeader(answer, fail)
    if (ref === null) return null
    const isAuthentic = (await openProver()).computeHeaderHash(answer as Fields) === ref.hash
    assertAuthentic({ node, fail, headers }, [{ ref, isAuthentic }])
    return ref
  }

  async function toFulfilment(
    node: Node,
    { fill, log }: FoundFill,
    final: number,
    signal?: AbortSignal,
  ): Promise<Fulfilment> {
    const { txHash, blockNumber, blockHash, logIndex } = log
    const calls = [
      { method: 'eth_getBlockByNumber', params: [formatQuantity(blockNumber), false] },
      { method: 'eth_getTransactionReceipt', params: [txHash] },
    ]
    const [block, answer] = await node.rpc.all(calls, signal)
    const header = await checkedHeader(node, block)
    const receipt = parseReceipt(answer, fail)
    const position =
      receipt?.logs.findIndex(
        ({ address, topics, data }) =>
          address === log.address && data === log.data && topics.join() === log.topics.join(),
      ) ?? -1
    const isInBlock =
      header?.hash === blockHash &&
      receipt?.hash === txHash &&
      receipt.blockHash === blockHash &&
      receipt.succeeded &&
      position !== -1
    if (!isInBlock) throw fail.gone(`the fill in transaction ${txHash} is not in block ${blockNumber}.`)
    const token = deps.lists.token(fill.outputToken)
    return {
      chainId,
      txHash,
      logIndex,
      position,
      blockNumber,
      blockHash,
      blockTimestamp: header.timestamp,
      receiver: fill.paidTo,
      tokenOut: { ...(await deps.tokens.read(node, fill.outputToken, final, signal)), amount: fill.paidAmount },
      listedToken: token && { symbol: token.symbol, currency: token.currency },
    }
  }

  return {
    /** The fulfilment of a deposit to this chain; null while there is none that is final. */
    lookup: (deposit: BridgeDeposit, signal?: AbortSignal): Promise<Fulfilment | null> =>
      nodes.runPinned((node) => find(node, deposit, signal), signal),
  }
}

/** A chain that payments may arrive on. */
export interface AcrossDestination {
  /** Its nodes; at least one. */
  readonly nodes: readonly NodeAddress[]
  /** The bridge's contract there. @default the known one of the chain */
  readonly spokePool?: string | undefined
  /** Blocks on top of a fill until it counts. @default the finality table of docs/interface.md 8; required elsewhere */
  readonly confirmations?: number | undefined
  /** The tokens whose listed symbol and currency are trusted. @default knownTokens of the chain */
  readonly tokens?: readonly KnownToken[] | undefined
}

/** Options of {@link createAcrossFulfilmentSource}. */
export interface AcrossFulfilmentSourceOptions {
  /** By chain id. A deposit to another chain has no answer. */
  readonly chains: ReadonlyMap<number, AcrossDestination>
  /**
   * How long a fill is searched for after a deposit, in ms of block time.
   * @default 86_400_000; the bridge allows 6 hours
   */
  readonly windowMs?: number | undefined
  /** @default the system's */
  readonly clock?: Clock | undefined
}

/** A fulfilment source with connections of its own. */
export interface AcrossFulfilmentSource extends FulfilmentSource {
  /** Ends the connections. */
  close(): void
}

/** Defaults of {@link createAcrossFulfilmentSource}. */
const acrossFulfilmentSourceDefaults = { windowMs: 86_400_000 } as const

/**
 * Makes the source. A fill counts when the chain's SpokePool emitted it for this origin and deposit, and both events
 * agree. The receiver must have got at least the promised amount, in a transaction whose receipt shows it.
 * The answer is null until the fill is as deep as `confirmations` says, and for deposits of other bridges or to other
 * chains. It stays null when the time to fill is over.
 * @throws {TypeError | RangeError} When an option is wrong; at once, before any request.
 */
export function createAcrossFulfilmentSource(options: AcrossFulfilmentSourceOptions): AcrossFulfilmentSource {
  const { chains, windowMs = acrossFulfilmentSourceDefaults.windowMs, clock = systemClock } = options
  assertWhole('windowMs', windowMs, 1)
  const opened = [...chains].map(([chainId, destination]) => ({
    chainId,
    ...openDestination(chainId, destination, { windowMs, clock }),
  }))
  const readers = new Map(opened.map(({ chainId, reader }) => [chainId, reader]))
  return {
    async lookup(deposit, signal) {
      if (deposit.bridge !== acrossBridge) return null
      return (await readers.get(deposit.destinationChainId)?.lookup(deposit, signal)) ?? null
    },
    close() {
      for (const { nodes } of opened) nodes.close()
    },
  }
}

function openDestination(
  chainId: number,
  destination: AcrossDestination,
  { windowMs, clock }: { readonly windowMs: number; readonly clock: Clock },
) {
  const table: Readonly<Record<number, { readonly confirmations: number }>> = finality
  const confirmations = destination.confirmations ?? table[chainId]?.confirmations
  if (confirmations === undefined)
    throw new RangeError(`Nothing says when a block of chain ${chainId} is final; pass confirmations.`)
  assertWhole(`confirmations of chain ${chainId}`, confirmations, 0)
  const spokePool = toAddress(destination.spokePool ?? knownSpokePools(chainId)[0])
  if (spokePool === null)
    throw new TypeError(`No SpokePool of chain ${chainId} is known; pass its address, 0x and 40 hex digits.`)
  const nodes = createNodes({ chainId, nodes: destination.nodes, clock })
  const fail = createFailures(chainId)
  const native = nativeToken(chainId, undefined)
  const tokens = createTokenMetadata(chainId, fail, native)
  const lists = createPriceLists(destination.tokens ?? knownTokens(chainId), [], native.symbol)
  const deps = { chainId, nodes, fail, tokens, lists, spokePool, confirmations, windowMs }
  return { nodes, reader: createFillReader(deps) }
}
