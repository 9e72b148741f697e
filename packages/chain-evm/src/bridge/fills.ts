/** Finds the fills of deposits on one destination chain. Source: docs/decisions/cross-chain.md. @module */
import type { BlockRef, BridgeDeposit, Fulfilment } from '@payment-integration/core/ports'
import type { RouterLog } from '../decode/router-decoder.js'
import type { PriceLists } from '../prices/price-lists.js'
import type { TokenMetadata } from '../prices/token-metadata.js'
import { openProver } from '../proof/prover.js'
import { assertAuthentic, headerKind } from '../read/range-reader.js'
import { type Fields, readHeader, readLogs, readReceipt } from '../rpc/answers.js'
import { callOwnChain } from '../rpc/chain-guard.js'
import type { Failures } from '../rpc/failures.js'
import { quantity } from '../rpc/hex.js'
import { isRateLimit, type Node, type Nodes } from '../rpc/nodes.js'
import { decodeFill, type Fill, fillTopics, fulfils } from './spoke-pool-events.js'

/** Bounds the memory; the points are found again when needed. */
const MOST_POINTS = 1_000

/** Finds blocks that are final. */
interface BlockFinder {
  /**
   * The lowest height whose block was made at or after a time; `above + 1` when none up to `above` was.
   * @param at - Unix milliseconds.
   * @param above - A height that is final.
   * @param read - Reads the block at a height.
   */
  firstAt(at: number, above: number, read: (height: number) => Promise<BlockRef>): Promise<number>
}

/** Makes a finder that remembers the blocks it saw. */
function createBlockFinder(): BlockFinder {
  const points = new Map<number, number>()
  return {
    async firstAt(at, above, read) {
      let low = 0
      let high = above + 1
      for (const [height, timestamp] of points) {
        if (height > above) continue
        if (timestamp < at) low = Math.max(low, height + 1)
        else high = Math.min(high, height)
      }
      while (low < high) {
        const middle = Math.floor((low + high) / 2)
        const { timestamp } = await read(middle)
        if (points.size >= MOST_POINTS) points.clear()
        points.set(middle, timestamp)
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
const MOST_SLICES = 64

/**
 * Finds the first fill of a deposit in a run of blocks. Otherwise it is null, and `onRead` heard how far there is none,
 * which may be short of the end. A fill of another deposit or origin, by another contract, or of less, does not count.
 * @throws ChainError `ERR_CHAIN_UNAVAILABLE`.
 */
async function scanFills(scan: FillScan, signal?: AbortSignal): Promise<FoundFill | null> {
  const { deposit, spokePool, to, onRead } = scan
  for (let from = scan.from, slices = 0; from <= to && slices < MOST_SLICES; slices += 1) {
    const upTo = Math.min(to, from + scan.node.maxRange() - 1)
    const logs = await readSlice(scan, from, upTo, signal)
    for (const log of logs.sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)) {
      const fill = log.address === spokePool ? decodeFill(log) : null
      if (fill !== null && log.blockNumber >= from && log.blockNumber <= upTo && fulfils(fill, deposit))
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
  const topics = [fillTopics, word(BigInt(deposit.payment.chainId)), word(BigInt(deposit.depositId))]
  const filter = { fromBlock: quantity(from), toBlock: quantity(to), address: spokePool, topics }
  const blocks = to - from + 1
  try {
    const call = { method: 'eth_getLogs', params: [filter] }
    const logs = readLogs(await callOwnChain({ chainId, fail, node }, call, signal), fail)
    node.note({ kind: 'range-read', blocks })
    return logs
  } catch (error) {
    if (signal?.aborted !== true) node.note({ kind: 'range-failed', blocks, rateLimited: isRateLimit(error) })
    throw error
  }
}

function word(value: bigint): string {
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
const CLOCK_SLACK_MS = 600_000
/** These newest blocks are read again each time: a node may know a block before it finds the logs in it. */
const REREAD_BLOCKS = 256
/** Bounds the memory; a deposit that is forgotten is searched from its start again. */
const MOST_DEPOSITS = 10_000

/** Where the search for a deposit's fill stands. */
interface Search {
  readonly from: number
  /** Next height to read. */
  next: number
  /** The same for when all of it is read once more, at the end of its time. */
  nextAtEnd: number
  /** Whether its time is over and all of it was read once more. */
  isOver: boolean
  /** Whether a fill was found, which may be elsewhere when it is asked for again. */
  wasFound: boolean
}

/**
 * Makes the look-up of fulfilments on one chain. The search begins at the deposit's block time, resumes where it
 * stopped, and ends when the deposit can no longer be filled. Then it reads all of it once more, resuming in the same
 * way. A fill is verified by the receipt of its transaction and the header of its block, headers by their hashes. One
 * node answers a whole look-up.
 */
export function createFillReader(deps: FillReaderDeps) {
  const { chainId, nodes, fail, spokePool, confirmations, windowMs } = deps
  const headers = headerKind(chainId)
  const finder = createBlockFinder()
  const searches = new Map<string, Search>()

  async function find(node: Node, deposit: BridgeDeposit, signal?: AbortSignal): Promise<Fulfilment | null> {
    const key = `${deposit.payment.chainId}:${deposit.depositId}:${deposit.payment.blockHash}`
    const known = searches.get(key)
    if (known?.isOver === true) return null
    const head = await readBlock(node, 'latest', signal)
    node.note({ kind: 'head', number: head.number })
    const final = head.number - confirmations
    if (final < 0) return null
    const read = (height: number) => readBlock(node, quantity(height), signal)
    const since = deposit.payment.blockTimestamp
    const search = known ?? begin(key, await finder.firstAt(since - CLOCK_SLACK_MS, final, read))
    const isLate = head.timestamp > since + windowMs
    const end = isLate ? await finder.firstAt(since + windowMs, final, read) : final + 1
    const isLast = end <= final
    const place = isLast ? 'nextAtEnd' : 'next'
    const from = search[place]
    const to = isLast ? end : final
    let readTo = from - 1
    // Blocks read below the newest ones stay read, even if the look-up fails soon after.
    const settled = Math.max(search.from, final + 1 - REREAD_BLOCKS)
    const onRead = (height: number) => {
      readTo = height
      search[place] = isLast ? height + 1 : Math.min(height + 1, settled)
    }
    const found = await scanFills({ chainId, node, fail, spokePool, deposit, from, to, onRead }, signal)
    if (found !== null) {
      search.wasFound = true
      return toFulfilment(node, found, final, signal)
    }
    // It left the chain, and may be further down than where the search stands.
    if (search.wasFound) Object.assign(search, { next: search.from, nextAtEnd: search.from, wasFound: false })
    else search.isOver = isLast && readTo >= end
    return null
  }

  function begin(key: string, from: number): Search {
    const search: Search = { from, next: from, nextAtEnd: from, isOver: false, wasFound: false }
    const [oldest] = searches.keys()
    if (searches.size >= MOST_DEPOSITS && oldest !== undefined) searches.delete(oldest)
    searches.set(key, search)
    return search
  }

  async function readBlock(node: Node, tag: string, signal?: AbortSignal): Promise<BlockRef> {
    const call = { method: 'eth_getBlockByNumber', params: [tag, false] }
    const header = await checkedHeader(node, await callOwnChain({ chainId, fail, node }, call, signal))
    if (header === null) throw fail.gone(`the node has no block ${tag}.`)
    return header
  }

  /** A header, checked against the hash of its block where the chain allows that. So its time is that of the block. */
  async function checkedHeader(node: Node, answer: unknown): Promise<BlockRef | null> {
    const ref = readHeader(answer, fail)
    if (ref === null) return null
    const isAuthentic = (await openProver()).headerHash(answer as Fields) === ref.hash
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
      { method: 'eth_getBlockByNumber', params: [quantity(blockNumber), false] },
      { method: 'eth_getTransactionReceipt', params: [txHash] },
    ]
    const [block, answer] = await node.rpc.all(calls, signal)
    const header = await checkedHeader(node, block)
    const receipt = readReceipt(answer, fail)
    const position =
      receipt?.logs.findIndex(
        ({ address, topics, data }) =>
          address === log.address && data === log.data && topics.join() === log.topics.join(),
      ) ?? -1
    const isThere =
      header?.hash === blockHash &&
      receipt?.hash === txHash &&
      receipt.blockHash === blockHash &&
      receipt.succeeded &&
      position !== -1
    if (!isThere) throw fail.gone(`the fill in transaction ${txHash} is not in block ${blockNumber}.`)
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
      tokenOut: { ...(await deps.tokens.of(node, fill.outputToken, final, signal)), amount: fill.paidAmount },
      listedToken: token && { symbol: token.symbol, currency: token.currency },
    }
  }

  return {
    /** The fulfilment of a deposit to this chain; null while there is none that is final. */
    lookup: (deposit: BridgeDeposit, signal?: AbortSignal): Promise<Fulfilment | null> =>
      nodes.pinned((node) => find(node, deposit, signal), signal),
  }
}
