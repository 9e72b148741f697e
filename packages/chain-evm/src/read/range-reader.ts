/** The context that a range of blocks is read with, and the headers of its blocks. @module */
import type { BlockRef } from '@payment-integration/core/ports'
import type { RouterDecoder, RouterLog } from '../decode/router-decoder.js'
import type { PriceLists } from '../prices/pricing.js'
import type { TokenMetadata } from '../prices/token-metadata.js'
import type { FilterTest } from '../proof/log-filter.js'
import type { Prover } from '../proof/prover.js'
import { type Fields, type HeaderContents, parseHeader, parseHeaderContents } from '../rpc/answers.js'
import { askWithChainId } from '../rpc/chain-guard.js'
import { describeRpcError, type Failures } from '../rpc/failures.js'
import { formatQuantity } from '../rpc/hex.js'
import type { Node, Rpc, RpcCall, RpcOutcome } from '../rpc/json-rpc.js'

/** The kind of a chain's headers, as far as it is known. */
interface HeaderHashing {
  /** Whether any of them hashed to its block's hash: then all should. */
  isKnown: boolean
}

/** Chains whose headers hash to their blocks' hashes; of others it is learnt. */
const authenticChains: readonly number[] = [1, 10, 100, 137, 8_453, 42_161]

/** The kind of a chain's headers before any is read. */
export function createHeaderHashing(chainId: number): HeaderHashing {
  return { isKnown: authenticChains.includes(chainId) }
}

/** A header that was held against its block's hash. */
interface HashedHeader {
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
  { node, fail, headers: kind }: Readonly<{ node: Node; fail: Failures; headers: HeaderHashing }>,
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
  readonly headers: HeaderHashing
}

/** Everything that one range is read with: all of it comes from one node. */
export interface RangeReader extends ChainReader {
  readonly node: Node
  /** That of the node. */
  readonly rpc: Rpc
  readonly prover: Prover
  /** The routers whose payments are asked for; null for all. */
  readonly requestedRouters: ReadonlySet<string> | null
  /** Whether the log filter of a header says that its block holds payment logs of the routers asked for. */
  readonly filter: FilterTest
}

/** A header. */
export interface Header extends HeaderContents, HashedHeader {}

/** Headers of one step: about a megabyte as the node answers them. The steps of a range are read together. */
export const headersPerStep = 250

/** The call for the header of a height. */
export function buildHeaderCall(number: number): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [formatQuantity(number), false] }
}

/** The call for a block with its transactions. */
export function buildBlockCall(number: number): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [formatQuantity(number), true] }
}

/**
 * Reads the headers of blocks `from` to `to`, both included.
 * @throws ChainError `ERR_CHAIN_RANGE_GONE` when a block is missing or does not follow the one before it;
 * `ERR_CHAIN_PROOF_FAILED` when one was changed; `ERR_CHAIN_UNAVAILABLE`.
 */
export async function readHeaders(
  reader: RangeReader,
  from: number,
  to: number,
  signal?: AbortSignal,
): Promise<Header[]> {
  const starts: number[] = []
  for (let start = from; start <= to; start += headersPerStep) starts.push(start)
  const steps = await Promise.all(
    starts.map((start) => readHeaderStep(reader, start, Math.min(to, start + headersPerStep - 1), signal)),
  )
  const headers = steps.flat()
  assertAuthentic(reader, headers)
  assertChain(headers, reader.fail)
  return headers
}

async function readHeaderStep(reader: RangeReader, from: number, to: number, signal?: AbortSignal): Promise<Header[]> {
  const calls = Array.from({ length: to - from + 1 }, (_, index) => buildHeaderCall(from + index))
  const outcomes = await askWithChainId(reader, calls, signal)
  return calls.map((_, index) => toHeader(reader, from + index, outcomes[index]))
}

/** The header of height `number` in an answer. */
export function toHeader(reader: RangeReader, number: number, outcome: RpcOutcome | undefined): Header {
  const { fail, prover } = reader
  if (!outcome?.ok) throw fail.unavailable(`eth_getBlockByNumber: ${describeRpcError(outcome)}.`)
  const ref = parseHeader(outcome.result, fail)
  // A node that is behind says null here, and some then answer the logs of the missing blocks with an empty list.
  if (ref === null) throw fail.gone(`the node has no block ${number}.`)
  if (ref.number !== number) throw fail.unavailable(`block ${ref.number} was answered for block ${number}.`)
  const isAuthentic = prover.computeHeaderHash(outcome.result as Fields) === ref.hash
  const { logsBloom, receiptsRoot, transactions } = parseHeaderContents(outcome.result)
  return { ref, isAuthentic, logsBloom, receiptsRoot, transactions }
}

/** @throws ChainError `ERR_CHAIN_RANGE_GONE` when a header does not follow the one before it. */
export function assertChain(headers: readonly Header[], fail: Failures): void {
  let before: BlockRef | undefined
  for (const { ref } of headers) {
    if (before !== undefined && ref.parentHash !== before.hash)
      throw fail.gone(`block ${ref.number} does not follow block ${before.number}.`)
    before = ref
  }
}

/**
 * Finds the time of each log's block. Takes it from a known header; else from the log, if it lies between the known
 * headers' times; else reads one header per block.
 * @param ends - The first and last header of the range.
 * @returns The time of a log's block, Unix milliseconds.
 * @throws ChainError `ERR_CHAIN_RANGE_GONE` when a block is missing or another; `ERR_CHAIN_UNAVAILABLE`.
 */
export async function readBlockTimes(
  rpc: Rpc,
  fail: Failures,
  logs: readonly RouterLog[],
  ends: readonly [BlockRef, BlockRef],
  signal?: AbortSignal,
): Promise<(log: RouterLog) => number> {
  const [first, last] = ends
  const times = new Map<number, number>(ends.map(({ number, timestamp }) => [number, timestamp]))
  const missing = new Map<number, string>()
  for (const { blockNumber, blockHash, blockTimestamp } of logs) {
    if (times.has(blockNumber)) continue
    if (blockTimestamp !== null && blockTimestamp >= first.timestamp && blockTimestamp <= last.timestamp)
      times.set(blockNumber, blockTimestamp)
    else missing.set(blockNumber, blockHash)
  }
  const missingBlocks = [...missing]
  const calls = missingBlocks.map(([height]) => ({
    method: 'eth_getBlockByNumber',
    params: [formatQuantity(height), false],
  }))
  const answers = await rpc.all(calls, signal)
  for (const [index, [height, hash]] of missingBlocks.entries()) {
    const header = parseHeader(answers[index], fail)
    if (header === null || header.hash !== hash) throw fail.gone(`block ${height} is not the one its logs came from.`)
    times.set(height, header.timestamp)
  }
  return (log) => {
    const time = times.get(log.blockNumber)
    if (time === undefined) throw fail.unavailable(`the time of block ${log.blockNumber} is not known.`)
    return time
  }
}
