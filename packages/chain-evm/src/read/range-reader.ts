/** Defines the context of reading a range, and reads its headers. @module */
import type { BlockRef } from '@payment-integration/core/ports'
import type { RouterDecoder, RouterLog } from '../decode/router-decoder.js'
import type { PriceLists } from '../prices/pricing.js'
import type { TokenMetadata } from '../prices/token-metadata.js'
import type { FilterTest } from '../proof/log-filter.js'
import { computeHeaderHash } from '../proof/prover.js'
import { type Fields, type HeaderContents, parseHeader, parseHeaderContents, type ReceiptLog } from '../rpc/answers.js'
import { askWithChainId, type ExpectedChain } from '../rpc/chain-guard.js'
import type { Failures } from '../rpc/failures.js'
import { buildHeaderCall, getResult, type RpcOutcome } from '../rpc/json-rpc.js'

/** Chains whose headers are known to hash to their block hashes, as Ethereum's do. */
const authenticChains: readonly number[] = [1, 10, 100, 137, 8_453, 42_161]

/** `isExpected`: true on {@link authenticChains}, or once a header hashes to its block hash; then all headers must. */
export function createHeaderHashing(chainId: number) {
  return { isExpected: authenticChains.includes(chainId) }
}

/**
 * Learns whether the chain's headers hash to their block hashes; if so, a header that does not is not authentic.
 * @throws ChainError `ERR_CHAIN_PROOF_FAILED` on a header that is not authentic.
 */
export function assertAuthentic(
  { node, fail, headerHashing }: Pick<RangeReader, 'node' | 'fail' | 'headerHashing'>,
  headers: readonly Pick<Header, 'ref' | 'isAuthentic'>[],
): void {
  if (headers.some(({ isAuthentic }) => isAuthentic)) headerHashing.isExpected = true
  const forged = headerHashing.isExpected ? headers.find(({ isAuthentic }) => !isAuthentic) : undefined
  if (forged === undefined) return
  const what = `the header of block ${forged.ref.number} does not hash to the block's hash`
  node.note({ kind: 'proof-failed', what })
  throw fail.unproven(`${what}. Use another node; on a chain with non-standard headers, set its proof to none.`)
}

/** A log of a listed router that cannot be indexed. Reading continues; an operator should look at it. */
export interface QuarantinedLog {
  readonly chainId: number
  readonly txHash: string
  readonly blockNumber: number
  readonly logIndex: number
  readonly router: { readonly address: string; readonly version: string }
  /** Why it cannot be indexed. */
  readonly reason: string
}

/**
 * The context of reading one range, all of it from one node. Each function that asks the node, or parses its answer,
 * may reject with `ERR_CHAIN_UNAVAILABLE`; the docstrings name the other codes.
 */
export interface RangeReader extends ExpectedChain {
  /** The heights of the first and the last block of the range. */
  readonly from: number
  readonly to: number
  readonly decoder: RouterDecoder
  readonly tokens: TokenMetadata
  readonly priceLists: PriceLists
  /** Version by lowercased address; only versions that the decoder supports. */
  readonly routers: ReadonlyMap<string, string>
  /** Trusted bridge contracts, lowercased. */
  readonly spokePools: ReadonlySet<string>
  readonly onQuarantine: (log: QuarantinedLog) => void
  /** Whether nodes are probed for raw receipts. */
  readonly rawReceipts: boolean
  readonly headerHashing: ReturnType<typeof createHeaderHashing>
  /** Those of {@link routers} whose payments are read, lowercased. */
  readonly requestedRouters: ReadonlySet<string>
  /** Tests a header's log filter for payment logs of the requested routers. */
  readonly filter: FilterTest
}

/** Whether a log is a payment event of a listed router. */
export function isPaymentLog({ routers, decoder }: RangeReader, { address, topics }: ReceiptLog): boolean {
  return routers.has(address) && decoder.paymentTopics.includes(topics[0] ?? '')
}

/** Whether a log is a payment or conversion event of a listed router. */
export function isRelevantLog({ routers, decoder }: RangeReader, { address, topics }: ReceiptLog): boolean {
  const [topic = ''] = topics
  return routers.has(address) && (decoder.paymentTopics.includes(topic) || decoder.conversionTopics.includes(topic))
}

export interface Header extends HeaderContents {
  readonly ref: BlockRef
  /** Whether the fields hash to the block hash, which shows that nobody changed them. */
  readonly isAuthentic: boolean
}

/** The number of transactions in a block; 1 if the node left them out. */
export function countTransactions({ transactions }: Header): number {
  return transactions?.length ?? 1
}

/** About a megabyte of headers. */
export const headersPerStep = 250

/**
 * Reads the headers of the range.
 * @throws ChainError `ERR_CHAIN_RANGE_GONE` when a block is missing or does not follow the one before it;
 * `ERR_CHAIN_PROOF_FAILED` on a header that is not authentic.
 */
export async function readHeaders(reader: RangeReader): Promise<Header[]> {
  const { from, to } = reader
  const steps: Promise<Header[]>[] = []
  for (let start = from; start <= to; start += headersPerStep)
    steps.push(readHeaderStep(reader, start, Math.min(to, start + headersPerStep - 1)))
  const headers = (await Promise.all(steps)).flat()
  assertAuthentic(reader, headers)
  assertChain(headers, reader.fail)
  return headers
}

async function readHeaderStep(reader: RangeReader, from: number, to: number): Promise<Header[]> {
  const calls = Array.from({ length: to - from + 1 }, (_, index) => buildHeaderCall(from + index))
  const outcomes = await askWithChainId(reader, calls)
  return calls.map((_, index) => toHeader(reader, from + index, outcomes[index]))
}

/** @throws ChainError `ERR_CHAIN_RANGE_GONE` when the node has no such block. */
export function toHeader({ fail }: RangeReader, number: number, outcome: RpcOutcome | undefined): Header {
  const answer = getResult(fail, 'eth_getBlockByNumber', outcome)
  const ref = parseHeader(answer, fail)
  // A node that lags answers null here. Some such nodes answer an empty list for the logs of the missing blocks.
  if (ref === null) throw fail.noBlock(`the node has no block ${number}.`)
  if (ref.number !== number) throw fail.unavailable(`block ${ref.number} was answered instead of block ${number}.`)
  const isAuthentic = computeHeaderHash(answer as Fields) === ref.hash
  return { ref, isAuthentic, ...parseHeaderContents(answer as Fields) }
}

/** @throws ChainError `ERR_CHAIN_RANGE_GONE` when a header does not follow the one before it. */
export function assertChain(headers: readonly Header[], fail: Failures): void {
  let before: BlockRef | undefined
  for (const { ref } of headers) {
    if (before !== undefined && ref.parentHash !== before.hash)
      throw fail.noBlock(`block ${ref.number} does not follow block ${before.number}.`)
    before = ref
  }
}

/**
 * Takes the time of each log's block from `first` or `last`; else from the log, if it lies between theirs; else from
 * the header.
 * @returns Unix milliseconds by height.
 * @throws ChainError `ERR_CHAIN_RANGE_GONE` when a block is missing or was replaced.
 */
export async function readBlockTimes(
  { node, fail, signal }: RangeReader,
  logs: readonly RouterLog[],
  first: BlockRef,
  last: BlockRef,
): Promise<ReadonlyMap<number, number>> {
  const times = new Map([first, last].map(({ number, timestamp }) => [number, timestamp]))
  const missing = new Map<number, string>()
  for (const { blockNumber, blockHash, blockTimestamp } of logs) {
    if (times.has(blockNumber)) continue
    if (blockTimestamp !== null && blockTimestamp >= first.timestamp && blockTimestamp <= last.timestamp)
      times.set(blockNumber, blockTimestamp)
    else missing.set(blockNumber, blockHash)
  }
  const missingBlocks = [...missing]
  const calls = missingBlocks.map(([height]) => buildHeaderCall(height))
  const answers = await node.rpc.callAll(calls, signal)
  for (const [index, [height, hash]] of missingBlocks.entries()) {
    const header = parseHeader(answers[index], fail)
    if (header === null || header.hash !== hash)
      throw fail.noBlock(`block ${height} is not the one its logs came from.`)
    times.set(height, header.timestamp)
  }
  return times
}
