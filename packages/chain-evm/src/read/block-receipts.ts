/** Reads all receipts of blocks: raw, by block or one by one, as each node can. @module */

import { minItemBytes } from '../proof/prover.js'
import { parseRawReceipt, type RawReceipt } from '../proof/receipts.js'
import { MalformedRlpError } from '../proof/rlp.js'
import { parseBlockTransactions } from '../rpc/answers.js'
import { askWithChainId } from '../rpc/chain-guard.js'
import { describeRpcError, isRateLimit, isUnavailable } from '../rpc/failures.js'
import { formatQuantity, isHex } from '../rpc/hex.js'
import type { Rpc, RpcCall, RpcOutcome } from '../rpc/json-rpc.js'
import {
  assertAuthentic,
  buildBlockCall,
  buildHeaderCall,
  type Header,
  type RangeReader,
  toHeader,
} from './range-reader.js'

/** Raw receipts that lead to the root in the header. */
export interface ProvenRawReceipts {
  readonly raw: readonly RawReceipt[]
}

/** The receipts of a block: JSON as the node answered it, or proven bytes. */
export type BlockReceipts = readonly unknown[] | ProvenRawReceipts

/** A block with the answers for it. */
export interface AnsweredBlock {
  readonly header: Header
  readonly receipts: BlockReceipts
  /** Its transactions by hash; null when it was not read whole. */
  readonly transactions: ReadonlyMap<string, unknown> | null
}

// Raw receipts: the bytes that a header commits to. They take half of what JSON takes. Each node is tried once.
// Source: docs/decisions/completeness.md.

/** Nodes that were tried, and whether they have raw receipts. */
const rawSupport = new WeakMap<Rpc, boolean>()

/** The call for the raw receipts of a height. */
function buildRawReceiptsCall(number: number): RpcCall {
  return { method: 'debug_getRawReceipts', params: [formatQuantity(number)] }
}

/** Whether the node is asked for raw receipts. */
function hasRawReceipts(rpc: Rpc): boolean {
  return rawSupport.get(rpc) === true
}

/** Asks the node for JSON from now on. */
function stopReadingRaw(rpc: Rpc): void {
  rawSupport.set(rpc, false)
}

/** Tries a node with the first of these blocks that has transactions, unless the node was tried. */
async function probeRawReceipts(reader: RangeReader, headers: readonly Header[], signal?: AbortSignal): Promise<void> {
  const { rpc, rawReceipts } = reader
  if (!rawReceipts || rawSupport.has(rpc)) return
  const header = headers.find(({ transactions }) => transactions !== null && transactions.length > 0)
  if (header === undefined) return
  // Ranges that are read beside this one do not try the node as well.
  rawSupport.set(rpc, false)
  try {
    const [outcome] = await rpc.askAll([buildRawReceiptsCall(header.ref.number)], signal)
    rawSupport.set(rpc, outcome?.ok === true && parseProvenRaw(reader, header, outcome.result) !== null)
  } catch (error) {
    // Nothing was learnt of a node that was busy, or was not asked.
    if (isRateLimit(error) || signal?.aborted) rawSupport.delete(rpc)
    if (!isUnavailable(error)) throw error
  }
}

/** The raw receipts of a block; null when they are not those that its header commits to. */
function parseProvenRaw(
  { prover }: RangeReader,
  { transactions, receiptsRoot }: Header,
  answer: unknown,
): readonly RawReceipt[] | null {
  if (!Array.isArray(answer) || answer.length !== transactions?.length) return null
  const all: Buffer[] = []
  for (const text of answer) {
    if (!isHex(text)) return null
    const bytes = Buffer.from(text.slice(2), 'hex')
    if (bytes.length < minItemBytes) return null
    all.push(bytes)
  }
  if (prover.computeListRoot(all) !== receiptsRoot) return null
  try {
    return all.map(parseRawReceipt)
  } catch (error) {
    if (error instanceof MalformedRlpError) return null
    throw error
  }
}

// Whether a node is asked for receipts by block. Some nodes lack the method; some fail for a large block, or reject
// every batch that holds it. After failures, receipts are read by transaction for some blocks, and for more each time.

interface ByBlockHistory {
  isMissing: boolean
  /** Single blocks in a row that were asked for in vain. */
  failures: number
  /** Blocks that are read in the other way before this one is tried again, now and after the next time. */
  pause: number
  nextPause: number
  /** Blocks that were had in this way since it failed, or since the pause was made shorter. */
  since: number
}

/** Failures of single blocks, in a row, that are laid to the way of asking: an outage is as a rule over by then. */
const maxFailures = 3
const pauseBlocks = { first: 16, most: 1_024 } as const

const histories = new WeakMap<Rpc, ByBlockHistory>()

function getHistory(rpc: Rpc): ByBlockHistory {
  const history = histories.get(rpc) ?? {
    isMissing: false,
    failures: 0,
    pause: 0,
    nextPause: pauseBlocks.first,
    since: 0,
  }
  histories.set(rpc, history)
  return history
}

/** Whether so many blocks that are read next are asked for in this way. */
export function takeByBlockTurn(rpc: Rpc, blocks: number): boolean {
  const history = getHistory(rpc)
  if (history.isMissing) return false
  if (history.pause === 0) return true
  history.pause = Math.max(0, history.pause - blocks)
  return false
}

/** The node said that it has no such method. */
export function noteMissingMethod(rpc: Rpc): void {
  getHistory(rpc).isMissing = true
}

/** Runs what asks for blocks in this way, and learns from how it ends. */
export async function runByBlock<T>(rpc: Rpc, blocks: number, ask: () => Promise<T>): Promise<T> {
  try {
    const answer = await ask()
    noteSuccess(getHistory(rpc), blocks)
    return answer
  } catch (error) {
    // Of several blocks fewer are tried first.
    if (blocks === 1 && isUnavailable(error) && !isRateLimit(error)) {
      // Raw receipts may be what fails, so JSON is tried before transactions.
      if (hasRawReceipts(rpc)) stopReadingRaw(rpc)
      else noteFailure(getHistory(rpc))
    }
    throw error
  }
}

/** Small blocks say little about large ones, so the pause shrinks as slowly as it grew. */
function noteSuccess(history: ByBlockHistory, blocks: number): void {
  // Of several blocks none is the one that failed by itself.
  if (blocks === 1) history.failures = 0
  history.since += blocks
  if (history.since < history.nextPause) return
  history.since = 0
  history.nextPause = Math.max(pauseBlocks.first, history.nextPause / 2)
}

function noteFailure(history: ByBlockHistory): void {
  history.failures += 1
  history.since = 0
  // Once it was given up, one failure is enough.
  if (history.failures < maxFailures && history.nextPause === pauseBlocks.first) return
  history.failures = 0
  history.pause = history.nextPause
  history.nextPause = Math.min(history.nextPause * 2, pauseBlocks.most)
}

/** The code of a method that a node does not have. */
const noSuchMethodCode = -32_601

/** The call for all receipts of a height, raw from a node that has them so. */
function buildReceiptsCall(number: number, isRaw: boolean): RpcCall {
  return isRaw ? buildRawReceiptsCall(number) : { method: 'eth_getBlockReceipts', params: [formatQuantity(number)] }
}

/**
 * The receipts in an answer; null when the node cannot be asked this way, and each receipt is to be asked for instead.
 * Only a node's "no such method" is remembered, and raw receipts that failed or are not proven.
 */
function toBlockReceipts(
  reader: RangeReader,
  header: Header,
  outcome: RpcOutcome | undefined,
  isRaw: boolean,
): BlockReceipts | null {
  const { rpc } = reader
  if (outcome === undefined) return null
  if (isRaw) {
    const raw = outcome.ok ? parseProvenRaw(reader, header, outcome.result) : null
    if (raw === null) stopReadingRaw(rpc)
    return raw && { raw }
  }
  if (!outcome.ok) {
    if (outcome.code === noSuchMethodCode) noteMissingMethod(rpc)
    return null
  }
  const { result } = outcome
  return Array.isArray(result) ? result : null
}

/**
 * All receipts of each block, in order.
 * @param withTransactions - Whether the transactions are read along with them.
 * @throws ChainError `ERR_CHAIN_UNAVAILABLE`; `ERR_CHAIN_RANGE_GONE` when a receipt is missing.
 */
export async function readBlockReceipts(
  reader: RangeReader,
  headers: readonly Header[],
  withTransactions: boolean,
  signal?: AbortSignal,
): Promise<readonly AnsweredBlock[]> {
  const { rpc, fail } = reader
  const readsByBlock = takeByBlockTurn(rpc, headers.length)
  const isRaw = hasRawReceipts(rpc)
  const calls = headers.flatMap(({ ref }) => [
    ...(withTransactions ? [buildBlockCall(ref.number)] : []),
    ...(readsByBlock ? [buildReceiptsCall(ref.number, isRaw)] : []),
  ])
  const ask = () => rpc.askAll(calls, signal)
  const outcomes = await (readsByBlock ? runByBlock(rpc, headers.length, ask) : ask())
  let next = 0
  const all: AnsweredBlock[] = []
  for (const header of headers) {
    const block = withTransactions ? outcomes[next++] : undefined
    const answered = readsByBlock ? toBlockReceipts(reader, header, outcomes[next++], isRaw) : null
    const receipts = answered ?? (await readByTransaction(reader, header, signal))
    all.push({ header, receipts, transactions: block?.ok ? parseBlockTransactions(block.result, fail) : null })
  }
  if (readsByBlock) await probeRawReceipts(reader, headers, signal)
  return all
}

/** The receipts of a block, by a request for nothing else. */
export async function readReceiptsInOneCall(
  reader: RangeReader,
  header: Header,
  signal?: AbortSignal,
): Promise<readonly unknown[]> {
  const answer = await reader.rpc.call(buildReceiptsCall(header.ref.number, false), signal)
  return Array.isArray(answer) ? answer : []
}

/** The receipts of a block, each by its transaction. */
export async function readByTransaction(
  { rpc, fail }: RangeReader,
  { ref, transactions }: Header,
  signal?: AbortSignal,
): Promise<readonly unknown[]> {
  if (transactions === null) throw fail.unavailable(`block ${ref.number} was answered without its transactions.`)
  if (transactions.length === 0) return []
  const outcomes = await rpc.askAll(
    transactions.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
    signal,
  )
  return transactions.map((hash, index) => {
    const outcome = outcomes[index]
    if (!outcome?.ok) throw fail.unavailable(`eth_getTransactionReceipt: ${describeRpcError(outcome)}.`)
    if (outcome.result === null) throw fail.gone(`receipt ${hash} is not in block ${ref.number}.`)
    return outcome.result
  })
}

/** Calls of a request in addition to headers and receipts. */
interface ExtraCalls {
  /** The transactions of each block. */
  readonly withTransactions: boolean
  /** The node's chain id. Blocks that continue those of an earlier request need no second answer. */
  readonly chainId: boolean
}

/**
 * Reads blocks `from` to `to`, both included. What the node cannot answer by block is asked for by transaction.
 * @throws ChainError `ERR_CHAIN_RANGE_GONE` when a block is missing; `ERR_CHAIN_PROOF_FAILED` when a header was
 * changed; `ERR_CHAIN_UNAVAILABLE`.
 */
export async function readAnsweredBlocks(
  reader: RangeReader,
  from: number,
  to: number,
  { withTransactions, chainId }: ExtraCalls,
  signal?: AbortSignal,
): Promise<readonly AnsweredBlock[]> {
  const { rpc, fail } = reader
  const heights = Array.from({ length: to - from + 1 }, (_, position) => from + position)
  const readsByBlock = takeByBlockTurn(rpc, heights.length)
  const isRaw = hasRawReceipts(rpc)
  const width = readsByBlock ? 2 : 1
  const calls = heights.flatMap((height) => {
    const block = withTransactions ? buildBlockCall(height) : buildHeaderCall(height)
    return readsByBlock ? [block, buildReceiptsCall(height, isRaw)] : [block]
  })
  const ask = () => (chainId ? askWithChainId(reader, calls, signal) : rpc.askAll(calls, signal))
  const outcomes = await (readsByBlock ? runByBlock(rpc, heights.length, ask) : ask())
  const headers = heights.map((height, position) => toHeader(reader, height, outcomes[position * width]))
  assertAuthentic(reader, headers)
  const blocks: AnsweredBlock[] = []
  for (const [position, header] of headers.entries()) {
    const block = outcomes[position * width]
    const transactions = withTransactions && block?.ok ? parseBlockTransactions(block.result, fail) : null
    const answered = readsByBlock ? toBlockReceipts(reader, header, outcomes[position * width + 1], isRaw) : null
    const receipts = answered ?? (await readByTransaction(reader, header, signal))
    blocks.push({ header, receipts, transactions })
  }
  if (readsByBlock) await probeRawReceipts(reader, headers, signal)
  return blocks
}
